//! Names by their kind, and the fold by which the rows of many folders fit.

use hashbrown::{HashMap, HashSet};

use super::{Alike, Fold};

/// Kinds of names in one folder and rows that are told apart at most.
const KINDS: usize = 4_096;
/// The end of a chain of names.
const NONE: u32 = u32::MAX;

/// A folder that can be told in one row.
pub(in super::super) trait Told {
    /// Its names by their kind.
    type Kinds;

    /// Its names by how much alike they are.
    fn kinds(&self, alike: Alike) -> Self::Kinds;

    /// Appends its row, folded by `kinds`, and gives how many lines of the source the row shows.
    fn write(&self, kinds: &Self::Kinds, fold: Fold, known: &mut Known, row: &mut String) -> usize;
}

/// Rows that stood there before.
#[derive(Debug, Default)]
pub(in super::super) struct Known {
    keys: HashSet<u64>,
}

impl Known {
    /// Whether `names` stood there before; from now on they did, unless too many are known.
    pub(in super::super) fn knows(&mut self, names: &str) -> bool {
        let key = names.bytes().fold(BASIS, step);
        if self.keys.len() < KINDS {
            !self.keys.insert(key)
        } else {
            self.keys.contains(&key)
        }
    }
}

/// The first of `folds` by which the rows of `folders` have at most `target_bytes`, else the last.
pub(in super::super) fn fitting<T: Told>(
    folders: &[T],
    folds: &[Fold],
    target_bytes: usize,
) -> Fold {
    let mut row = String::new();
    for folds in folds.chunk_by(|one, other| one.0 == other.0) {
        let Some((alike, _)) = folds.first() else {
            continue;
        };
        let mut sums: Vec<(Fold, usize, Known)> = folds
            .iter()
            .map(|fold| (*fold, 0, Known::default()))
            .collect();
        for folder in folders {
            let kinds = folder.kinds(*alike);
            for (fold, bytes, known) in &mut sums {
                row.clear();
                folder.write(&kinds, *fold, known, &mut row);
                *bytes += row.len() + 1;
            }
            // What is too long remains so: most folds end after a part of the folders.
            sums.retain(|(_, bytes, _)| *bytes <= target_bytes);
            if sums.is_empty() {
                break;
            }
        }
        if let Some((fold, ..)) = sums.first() {
            return *fold;
        }
    }
    folds.last().copied().unwrap_or((Alike::Never, 0))
}

/// Gives the row of each of `folders` and how many lines of the source it shows to `take`.
pub(in super::super) fn rows<T: Told>(
    folders: &[T],
    fold: Fold,
    mut take: impl FnMut(&T, &str, usize),
) {
    let mut known = Known::default();
    let mut row = String::new();
    for folder in folders {
        row.clear();
        let shown = folder.write(&folder.kinds(fold.0), fold, &mut known, &mut row);
        take(folder, &row, shown);
    }
}

/// Names of one kind: a chain of their numbers.
#[derive(Debug)]
struct Kind {
    first: u32,
    last: u32,
    count: u32,
}

/// Names by their kind, in the order in which the kinds came.
#[derive(Debug, Default)]
pub(in super::super) struct Kinds {
    kinds: Vec<Kind>,
    /// The number of the next name of the same kind.
    next: Vec<u32>,
}

impl Kinds {
    /// `names` by their kind; empty when each stands for itself.
    pub(in super::super) fn of<N: AsRef<str>>(names: &[N], alike: Alike) -> Self {
        let mut kinds = Self::default();
        if alike == Alike::Never {
            return kinds;
        }
        let mut index = HashMap::with_capacity(names.len().min(KINDS));
        kinds.next.reserve_exact(names.len());
        for (name, number) in names.iter().zip(0..NONE) {
            let at = number_of_kind(name.as_ref(), alike, kinds.kinds.len(), &mut index);
            kinds.next.push(NONE);
            match kinds.kinds.get_mut(at) {
                Some(kind) => {
                    if let Some(next) = kinds.next.get_mut(kind.last as usize) {
                        *next = number;
                    }
                    kind.last = number;
                    kind.count += 1;
                }
                None => kinds.kinds.push(Kind {
                    first: number,
                    last: number,
                    count: 1,
                }),
            }
        }
        kinds
    }

    /// Appends `names` with blanks between, of each kind with more than `show` only the first and
    /// the last; gives how many are in it.
    pub(in super::super) fn write<N: AsRef<str>>(
        &self,
        names: &[N],
        show: usize,
        row: &mut String,
    ) -> usize {
        let from = row.len();
        if self.kinds.is_empty() {
            for name in names {
                push(row, from, name.as_ref());
            }
            return names.len();
        }
        let mut shown = 0;
        let mut ahead: Vec<&str> = Vec::new();
        for kind in &self.kinds {
            let count = kind.count as usize;
            if count <= show + 1 {
                for name in self.chain(kind, names) {
                    push(row, from, name);
                }
                shown += count;
                continue;
            }
            ahead.clear();
            let last = self.ends(kind, names, show.saturating_sub(1), &mut ahead);
            for name in &ahead {
                push(row, from, name);
            }
            push(row, from, "…");
            push(row, from, last);
            push(row, from, "(");
            row.push_str(&count.to_string());
            row.push(')');
            shown += ahead.len() + 1;
        }
        shown
    }

    /// Fills `ahead` with the first names of a kind, as many as `most`, by length and then by
    /// letters, and gives the last one.
    fn ends<'n, N: AsRef<str>>(
        &self,
        kind: &Kind,
        names: &'n [N],
        most: usize,
        ahead: &mut Vec<&'n str>,
    ) -> &'n str {
        let order = |name: &&'n str| (name.len(), *name);
        let mut last = "";
        for name in self.chain(kind, names) {
            if order(&name) > order(&last) {
                last = name;
            }
            let is_full = ahead.len() >= most;
            if is_full && ahead.last().is_none_or(|end| order(end) <= order(&name)) {
                continue;
            }
            if is_full {
                ahead.pop();
            }
            let at = ahead.partition_point(|known| order(known) <= order(&name));
            ahead.insert(at, name);
        }
        last
    }

    fn chain<'n, N: AsRef<str>>(
        &self,
        kind: &Kind,
        names: &'n [N],
    ) -> impl Iterator<Item = &'n str> {
        let numbers = std::iter::successors(Some(kind.first), |number| {
            let next = self.next.get(*number as usize).copied();
            next.filter(|next| *next != NONE)
        });
        numbers.filter_map(|number| names.get(number as usize).map(AsRef::as_ref))
    }
}

fn push(row: &mut String, from: usize, name: &str) {
    if row.len() > from {
        row.push(' ');
    }
    row.push_str(name);
}

/// The number of the kind of `name`; `next` when it is new or the name stands for itself.
///
/// When there are too many kinds, words and then endings no longer tell names apart.
fn number_of_kind(name: &str, alike: Alike, next: usize, index: &mut HashMap<u64, usize>) -> usize {
    let Some(key) = key(name, alike) else {
        return next;
    };
    if index.len() < KINDS {
        return *index.entry(key).or_insert(next);
    }
    if let Some(at) = index.get(&key) {
        return *at;
    }
    match alike {
        Alike::Never | Alike::Numbers => next,
        Alike::Words if index.len() < 2 * KINDS => {
            let coarser = key_of_ending(name).wrapping_add(1);
            *index.entry(coarser).or_insert(next)
        }
        Alike::Words | Alike::Endings => *index.entry(0).or_insert(next),
    }
}

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// One step of FNV-1a: the same in every process.
fn step(key: u64, byte: u8) -> u64 {
    (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// What names of one kind have in common; `None` when the name stands for itself.
fn key(name: &str, alike: Alike) -> Option<u64> {
    match alike {
        Alike::Never => None,
        Alike::Numbers => name
            .bytes()
            .any(|byte| byte.is_ascii_digit())
            .then(|| masked(BASIS, name)),
        Alike::Words => {
            let key = word(name).bytes().fold(BASIS, step);
            Some(masked(step(key, b' '), ending(name)))
        }
        Alike::Endings => Some(key_of_ending(name)),
    }
}

fn key_of_ending(name: &str) -> u64 {
    masked(BASIS, ending(name))
}

/// The first word of `name`.
fn word(name: &str) -> &str {
    let from = name.find(char::is_alphabetic).unwrap_or(name.len());
    let word = name.get(from..).unwrap_or_default();
    let end = word.find(|sign: char| !sign.is_alphabetic());
    word.get(..end.unwrap_or(word.len())).unwrap_or_default()
}

/// The ending of `name`, from its first dot on.
fn ending(name: &str) -> &str {
    let base = name.trim_start_matches('.');
    let dot = base.find('.').unwrap_or(base.len());
    base.get(dot..).unwrap_or_default()
}

/// `key` and `text` with one sign for every run of digits.
fn masked(key: u64, text: &str) -> u64 {
    let mut in_number = false;
    text.bytes().fold(key, |key, byte| {
        let digit = byte.is_ascii_digit();
        let key = match (digit, in_number) {
            (true, true) => key,
            (true, false) => step(key, b'#'),
            (false, _) => step(key, byte),
        };
        in_number = digit;
        key
    })
}
