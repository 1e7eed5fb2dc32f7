//! Folders with their names, one row each.

use std::fmt::Write as _;

use hashbrown::{HashMap, HashSet};

use super::folder::Folder;
use super::kinds::{Entry, Kinds, NONE, number};
use super::{Alike, Fold};
use crate::line::fingerprint::fingerprint;
use crate::output::Output;

/// How many names and folders are kept in memory; longer lists are written in several parts.
const HELD: usize = 8_192;
/// How many rows are remembered to detect repeats.
const KNOWN: usize = 4_096;
/// How many names are examined to decide whether a fold can be sufficient.
const SAMPLE: usize = 1_024;
/// Longer rows of names that were shown before are replaced by their count.
const REPEATED_BYTES: usize = 30;
/// How many labels of names are distinguished.
const LABELS: usize = 64;
/// If the target cannot be reached, rows may have this many percent of the length of the shortest ones, so that names
/// are not hidden for a small gain.
const PAYING_PERCENT: usize = 150;

/// Folders with their names in order; the rows are written to an output.
#[derive(Debug)]
pub(crate) struct Folders<'a, 'o> {
    pub(crate) output: &'o mut Output,
    /// The folds that can still be used, beginning with the current one, and the target length of all rows in bytes.
    folds: &'static [Fold],
    target_bytes: usize,
    source_bytes: usize,
    written_from: usize,
    index: HashMap<&'a str, usize>,
    /// The path and number of the folder to which a name was last added.
    last: Option<(&'a str, usize)>,
    all: Vec<Folder<'a>>,
    entries: Vec<Entry<'a>>,
    has_notes: bool,
    kinds: Kinds,
    /// The fold by which the names were last classified.
    read_by: Option<Fold>,
    /// The label of most names, which is not shown.
    usual: Option<&'a str>,
    known: HashSet<u64>,
}

impl<'a, 'o> Folders<'a, 'o> {
    /// Rows that have at most `target_bytes` for a source of `source_bytes`, using the first of `folds` that is
    /// sufficient.
    pub(crate) fn new(
        folds: &'static [Fold],
        target_bytes: usize,
        source_bytes: usize,
        output: &'o mut Output,
    ) -> Self {
        Self {
            written_from: output.len(),
            output,
            folds,
            target_bytes,
            source_bytes,
            index: HashMap::new(),
            last: None,
            all: Vec::new(),
            entries: Vec::new(),
            has_notes: false,
            kinds: Kinds::default(),
            read_by: None,
            usual: None,
            known: HashSet::new(),
        }
    }

    /// Adds `name` to the folder with that path.
    pub(crate) fn add(&mut self, path: &'a str, name: &'a str, note: &'a str) {
        let at = match self.last {
            Some((last, at)) if last == path => at,
            _ => self.folder(path),
        };
        self.add_to(at, name, note);
    }

    /// The number of the folder with that path.
    pub(crate) fn folder(&mut self, path: &'a str) -> usize {
        let next = self.all.len();
        let at = *self.index.entry(path).or_insert(next);
        if at == next {
            self.push(path, 0, false);
        }
        self.last = Some((path, at));
        at
    }

    fn push(&mut self, path: &'a str, depth: usize, own_line: bool) -> usize {
        self.all.push(Folder::new(path, depth, own_line));
        self.all.len() - 1
    }

    /// Adds `name` to the folder with that number.
    pub(crate) fn add_to(&mut self, folder: usize, name: &'a str, note: &'a str) {
        let Some(folder) = self.all.get_mut(folder) else {
            return;
        };
        let at = number(self.entries.len());
        if let Some(last) = self.entries.get_mut(folder.last as usize) {
            last.next = at;
        } else {
            folder.first = at;
        }
        folder.last = at;
        folder.count += 1;
        self.has_notes |= !note.is_empty();
        self.entries.push(Entry::new(name, note));
    }

    /// Adds `name` to the names of the last folder with this label.
    pub(crate) fn add_labelled(&mut self, label: &'a str, name: &'a str, note: &'a str) {
        let mut ends = false;
        let parts = self.all.iter().enumerate().rev().take(LABELS);
        let mut of_folder = parts.take_while(|(_, part)| {
            let is_of_folder = !ends;
            ends = !part.continues;
            is_of_folder
        });
        if let Some((at, _)) = of_folder.find(|(_, part)| part.label == label) {
            return self.add_to(at, name, note);
        }
        let at = self.push("", 0, false);
        if let Some(folder) = self.all.get_mut(at) {
            folder.label = label;
            folder.continues = at > 0;
        }
        self.add_to(at, name, note);
    }

    /// Adds a source line that names a folder `depth` levels below the first. Returns the number of the folder.
    pub(crate) fn open(&mut self, depth: usize, path: &'a str) -> usize {
        self.push(path, depth, true)
    }

    /// A folder that was opened before the last rows were written.
    pub(crate) fn open_again(&mut self, depth: usize, path: &'a str) -> usize {
        self.push(path, depth, false)
    }

    /// Adds a source line that names the folder with that path, to which [`Self::add`] adds.
    pub(crate) fn open_as(&mut self, path: &'a str) {
        let at = self.open(0, path);
        self.index.insert(path, at);
        self.last = Some((path, at));
    }

    /// Whether the rows should be written before more is added.
    pub(crate) fn is_full(&self) -> bool {
        self.entries.len() >= HELD || self.all.len() >= HELD
    }

    /// Removes names that are folders with names of their own, because the path of the folder shows them.
    fn leave_out_folders(&mut self) {
        // Most names are not the end of a path, which two bytes and the length decide.
        let mut ends = [0_u64; 16];
        let place = |name: &str| {
            let byte = |byte: Option<&u8>| usize::from(byte.copied().unwrap_or_default());
            let bytes = name.as_bytes();
            let hash = byte(bytes.first()) * 7 + byte(bytes.last()) * 31 + bytes.len();
            (hash / 64 % 16, 1 << (hash % 64))
        };
        for folder in &self.all {
            let name = folder.path.rsplit('/').next().unwrap_or_default();
            let (word, bit) = place(name);
            if let Some(word) = ends.get_mut(word) {
                *word |= bit;
            }
        }
        let mut path = String::new();
        for folder in &mut self.all {
            let mut at = folder.first;
            let mut before = NONE;
            while let Some(Entry { name, next, .. }) = self.entries.get(at as usize).copied() {
                let (word, bit) = place(name);
                let mut goes = ends.get(word).is_some_and(|word| word & bit != 0);
                if goes {
                    path.clear();
                    if !folder.path.is_empty() {
                        path.push_str(folder.path);
                        path.push('/');
                    }
                    path.push_str(name);
                    goes = self.index.contains_key(path.as_str());
                }
                if goes {
                    folder.count -= 1;
                    match self.entries.get_mut(before as usize) {
                        Some(before) => before.next = next,
                        None => folder.first = next,
                    }
                } else {
                    before = at;
                }
                at = next;
            }
        }
    }

    /// Writes one row per folder and removes the folders; `unread_bytes` of the source are still to come.
    pub(crate) fn write(&mut self, unread_bytes: usize) {
        self.leave_out_folders();
        self.read_by = None;
        let read = self.source_bytes.saturating_sub(unread_bytes) as u128;
        let share = self.target_bytes as u128 * read / self.source_bytes.max(1) as u128;
        let share = usize::try_from(share).unwrap_or(usize::MAX);
        let written = self.output.len().saturating_sub(self.written_from);
        let fold = self.fitting(share.saturating_sub(written));
        self.find_usual();
        self.rows(fold);
        self.index.clear();
        self.last = None;
        self.all.clear();
        self.entries.clear();
    }

    /// The first fold whose rows have about `target_bytes`; otherwise the first whose rows are not much longer than
    /// those of the last. The names are then classified.
    fn fitting(&mut self, target_bytes: usize) -> Fold {
        let folds = self.folds;
        if let Some(fold) = self.reaching(target_bytes) {
            return fold;
        }
        let Some(&last) = folds.last() else {
            return Fold::new(Alike::Never, 0);
        };
        self.folds = folds;
        let paying_bytes = self.sum(last) / 100 * PAYING_PERCENT;
        self.reaching(paying_bytes).unwrap_or(last)
    }

    /// The first fold whose rows have about `target_bytes`; earlier ones are not used any more. If there is none, the
    /// names are classified by the last.
    fn reaching(&mut self, target_bytes: usize) -> Option<Fold> {
        loop {
            let fold = *self.folds.first()?;
            let alike = |other: &&Fold| (other.alike, other.notes) == (fold.alike, fold.notes);
            let alike = self.folds.iter().take_while(alike).count();
            let (alike, others) = self.folds.split_at_checked(alike).unwrap_or_default();
            let is_last = others.is_empty();
            if fold.notes || self.has_notes || is_last {
                let shortest = alike.last().copied().unwrap_or(fold);
                let most_bytes = if is_last { usize::MAX } else { target_bytes };
                if self.read(shortest, most_bytes) {
                    let found = alike
                        .iter()
                        .position(|fold| self.sum(*fold) <= target_bytes);
                    if let Some((fold, at)) = found.and_then(|at| Some((*alike.get(at)?, at))) {
                        self.folds = self.folds.get(at..).unwrap_or_default();
                        return Some(fold);
                    }
                }
            }
            if is_last {
                return None;
            }
            self.folds = others;
        }
    }

    /// Classifies the names. Returns whether all were classified: it can stop when the rows are known to have more than
    /// `most_bytes`.
    fn read(&mut self, fold: Fold, most_bytes: usize) -> bool {
        if self.read_by == Some(fold) {
            return true;
        }
        self.read_by = None;
        self.kinds.clear();
        let mut sum: usize = 0;
        let mut sample = SAMPLE.min(self.entries.len());
        for (at, folder) in self.all.iter_mut().enumerate() {
            folder.kinds = self.kinds.read(&mut self.entries, folder.first, at, fold);
            sum += folder.bytes(&self.kinds, fold);
            // The first names show whether the fold is far from sufficient.
            let names = sample.saturating_sub(folder.count as usize);
            let ends = sample > 0 && names == 0;
            sample = names;
            let far = || sum / 3 * 2 > most_bytes / self.entries.len().max(1) * SAMPLE;
            if sum > most_bytes || ends && self.entries.len() > 4 * SAMPLE && far() {
                return false;
            }
        }
        self.read_by = Some(fold);
        true
    }

    /// The estimated length of the rows after the names were classified.
    fn sum(&self, fold: Fold) -> usize {
        let bytes = |folder: &Folder<'_>| folder.bytes(&self.kinds, fold);
        self.all.iter().map(bytes).sum()
    }

    /// Finds the label of most names, which is not shown.
    fn find_usual(&mut self) {
        if self.usual.is_some() {
            return;
        }
        let mut counts: Vec<(&str, u32)> = Vec::new();
        for folder in self.all.iter().filter(|folder| !folder.label.is_empty()) {
            let is_room = counts.len() < LABELS;
            match counts.iter_mut().find(|(label, _)| *label == folder.label) {
                Some((_, count)) => *count += folder.count,
                None if is_room => counts.push((folder.label, folder.count)),
                None => {}
            }
        }
        let most = counts.iter().rev().max_by_key(|(_, count)| *count);
        self.usual = most.map(|(label, _)| *label);
    }

    fn rows(&mut self, fold: Fold) {
        let mut row = String::new();
        let mut rest = self.all.as_slice();
        while let Some((folder, after)) = rest.split_first() {
            let more = after.iter().take_while(|folder| folder.continues).count();
            let (more, after) = after.split_at_checked(more).unwrap_or((&[], after));
            rest = after;
            row.clear();
            for _ in 0..folder.depth {
                row.push(' ');
            }
            row.push_str(folder.path);
            let names_from = row.len();
            let mut shown = 0;
            let mut count = 0;
            let mut write = |part: &Folder<'a>| {
                if part.count == 0 {
                    return;
                }
                if row.len() > names_from {
                    row.push(' ');
                } else if !folder.path.is_empty() {
                    row.push_str(": ");
                }
                if !part.label.is_empty() && Some(part.label) != self.usual {
                    row.push_str(part.label);
                    row.push(' ');
                }
                shown += self.kinds.write(&self.entries, part.kinds, fold, &mut row);
                count += part.count;
            };
            write(folder);
            let usual = |part: &&Folder<'_>| Some(part.label) == self.usual;
            more.iter().filter(usual).for_each(&mut write);
            let other = |part: &&Folder<'_>| Some(part.label) != self.usual;
            more.iter().filter(other).for_each(&mut write);
            // Many folders of generated files contain the same names.
            let names = row.get(names_from..).unwrap_or_default();
            let long = names.len() > REPEATED_BYTES && fold.alike > Alike::Numbers;
            if folder.is_only_counted(fold) || long && is_known(&mut self.known, names) {
                row.truncate(names_from);
                // Writing to a `String` cannot fail.
                let _ = write!(row, ": … ({count})");
                shown = 0;
            }
            // A folder that contains only folders is not shown: their paths, which follow, include it.
            let below = after.first().is_some_and(|next| is_below(next, folder));
            if count > 0 || folder.own_line && !below {
                self.output
                    .summary(&row, shown + usize::from(folder.own_line));
            }
        }
    }
}

fn is_below(next: &Folder<'_>, folder: &Folder<'_>) -> bool {
    let rest = next.path.strip_prefix(folder.path);
    !folder.path.is_empty() && rest.is_some_and(|rest| rest.starts_with('/'))
}

/// Whether `names` was shown before; records it, unless too many are recorded.
fn is_known(known: &mut HashSet<u64>, names: &str) -> bool {
    let key = fingerprint(names);
    if known.len() < KNOWN {
        !known.insert(key)
    } else {
        known.contains(&key)
    }
}

#[cfg(test)]
mod tests;
