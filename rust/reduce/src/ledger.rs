//! What one reader was shown already: text that repeats it is replaced by a reference.
//!
//! Only runs of whole lines that were shown in this order in one earlier text are replaced. In every doubt the text stays.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use hashbrown::HashMap;

use crate::lexicon::lexicon;
use crate::source::Kind;

/// Only the last outputs are referred to: an older one may have left the reader's context.
pub const MOST_TEXTS: usize = 40;
/// The same limit, in characters of these outputs.
pub const MOST_CHARS: usize = 200_000;
/// A reference must save this many characters.
const LEAST_GAIN_CHARS: usize = 150;
/// So much must be saved where nothing but references would be left.
const LEAST_WHOLE_CHARS: usize = 1_024;
/// Longer outputs stay as they are.
const MOST_LINES: usize = 20_000;
/// How many earlier places of a line are looked at, the newest first.
const MOST_PLACES: usize = 8;
/// How lines of a diff begin.
const DIFF: [&str; 4] = ["diff ", "@@ ", "--- ", "+++ "];

/// Whether a line may state a failure or a warning, by the lexicon; a part of a name is enough.
#[must_use]
pub fn states_failure(line: &str) -> bool {
    let kind = lexicon().kind(line);
    matches!(kind, Kind::Failure | Kind::Warning | Kind::Verdict) || lexicon().is_named_badly(line)
}

/// An output as it was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What printed it.
    pub label: String,
    /// A hash of each line, by [`line_hash`].
    pub lines: Vec<u64>,
    /// Its length in characters.
    pub chars: usize,
}

impl Shown {
    /// An output that was shown.
    #[must_use]
    pub fn of(label: &str, text: &str, key: u128) -> Self {
        Self {
            label: label.to_owned(),
            lines: lines(text).map(|line| line_hash(key, line)).collect(),
            chars: text.chars().count(),
        }
    }
}

/// A hash of a line without its line break; with another `key`, which must be random, it is another one.
#[must_use]
pub fn line_hash(key: u128, line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (key, line).hash(&mut hasher);
    hasher.finish()
}

/// Lines of an output that were shown before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The number of the earlier text, from 0, among those that were recorded.
    pub shown: usize,
    /// The number of its first line, from 0.
    pub first_line: usize,
    /// How many lines.
    pub lines: usize,
    /// How many characters they have, with all line breaks but the last.
    pub chars: usize,
    /// The line of the folded text that refers to them, from 0.
    pub at: usize,
}

/// What one reader was shown, in order.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    key: u128,
    shown: Vec<Shown>,
    /// Outputs before this one left the context.
    first: usize,
}

impl Ledger {
    /// A reader that was shown nothing.
    #[must_use]
    pub fn new(key: u128) -> Self {
        Self {
            key,
            ..Self::default()
        }
    }

    /// The key of its hashes.
    #[must_use]
    pub fn key(&self) -> u128 {
        self.key
    }

    /// Records an output as it reached the reader.
    pub fn record(&mut self, shown: Shown) {
        self.shown.push(shown);
        let left = self.shown.len().checked_sub(MOST_TEXTS + 1);
        if let Some(old) = left.and_then(|number| self.shown.get_mut(number)) {
            old.lines = Vec::new();
        }
    }

    /// Forgets everything: the reader may have lost its context.
    pub fn forget(&mut self) {
        self.first = self.shown.len();
    }

    /// The text that was recorded as number `shown`.
    #[must_use]
    pub fn shown(&self, shown: usize) -> Option<&Shown> {
        self.shown.get(shown)
    }

    /// `text` with a reference in place of each run of lines that the reader has seen; `None` if it stays as it is.
    ///
    /// Lines that may state a failure stay, and every line of a diff. `way` states how to read all of the text.
    #[must_use]
    pub fn fold(&self, text: &str, way: &str) -> Option<(String, Vec<Fold>)> {
        let places = self.places();
        let all: Vec<&str> = lines(text).collect();
        let is_diff = |line: &&str| DIFF.iter().any(|beginning| line.starts_with(beginning));
        if places.is_empty() || all.len() > MOST_LINES || all.iter().any(is_diff) {
            return None;
        }
        let hashes: Vec<Option<u64>> = all
            .iter()
            .map(|line| (!states_failure(line)).then(|| line_hash(self.key, line)))
            .collect();
        let (mut out, mut folds): (Vec<String>, Vec<Fold>) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(line) = all.get(at) {
            let found = self.longest(&places, hashes.get(at..).unwrap_or_default());
            let folded = found.and_then(|(shown, first_line, count)| {
                let run = all.get(at..at + count)?;
                let chars = run
                    .iter()
                    .map(|line| line.chars().count() + 1)
                    .sum::<usize>()
                    - 1;
                let label = &self.shown.get(shown)?.label;
                let reference = format!("[same {count} lines as {label} above; all of it: {way}]");
                let gain = chars.checked_sub(reference.chars().count())?;
                let fold = Fold {
                    shown,
                    first_line,
                    lines: count,
                    chars,
                    at: out.len(),
                };
                (gain >= LEAST_GAIN_CHARS).then_some((reference, fold))
            });
            if let Some((reference, fold)) = folded {
                at += fold.lines;
                out.push(reference);
                folds.push(fold);
            } else {
                out.push((*line).to_owned());
                at += 1;
            }
        }
        let is_all = out.len() == folds.len();
        let folded_chars = folds.iter().map(|fold| fold.chars).sum::<usize>();
        if folds.is_empty() || (is_all && folded_chars < LEAST_WHOLE_CHARS) {
            return None;
        }
        let mut out = out.join("\n");
        if text.ends_with('\n') {
            out.push('\n');
        }
        Some((out, folds))
    }

    /// Where each line was shown: the numbers of the text and the line, the newest last.
    fn places(&self) -> HashMap<u64, Vec<(usize, usize)>> {
        let mut chars = 0_usize;
        let in_context = self
            .shown
            .iter()
            .enumerate()
            .skip(self.first)
            .rev()
            .take(MOST_TEXTS)
            .take_while(|(_, shown)| {
                chars = chars.saturating_add(shown.chars);
                chars <= MOST_CHARS
            });
        let mut in_context: Vec<(usize, &Shown)> = in_context.collect();
        in_context.reverse();
        let mut places: HashMap<u64, Vec<(usize, usize)>> = HashMap::new();
        for (number, shown) in in_context {
            for (line, hash) in shown.lines.iter().enumerate() {
                places.entry(*hash).or_default().push((number, line));
            }
        }
        places
    }

    /// The longest run of earlier lines with which `hashes` begin: its text, first line and length.
    fn longest(
        &self,
        places: &HashMap<u64, Vec<(usize, usize)>>,
        hashes: &[Option<u64>],
    ) -> Option<(usize, usize, usize)> {
        let first = (*hashes.first()?)?;
        let runs = places.get(&first)?.iter().rev().take(MOST_PLACES);
        let runs = runs.filter_map(|&(number, line)| {
            let earlier = self.shown.get(number)?.lines.get(line..)?;
            let same = earlier.iter().zip(hashes);
            let count = same.take_while(|(one, other)| Some(**one) == **other);
            Some((number, line, count.count()))
        });
        runs.reduce(|best, run| if run.2 > best.2 { run } else { best })
    }
}

/// The lines of text without their line breaks; a last line break begins no line.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n')
}

#[cfg(test)]
mod tests {
    use super::{Ledger, Shown};

    #[test]
    fn what_was_shown_is_referred_to_until_it_is_forgotten() {
        let text = (0..100).fold(String::new(), |text, number| {
            format!("{text}line {number}\n")
        });
        let mut ledger = Ledger::new(1);
        assert!(ledger.fold(&text, "show 1").is_none());
        ledger.record(Shown::of("cat", &text, 1));
        let again = format!("{text}error: no door\n{text}new\n");
        let (folded, folds) = ledger.fold(&again, "show 1").unwrap_or_default();
        assert_eq!(
            folded,
            "[same 100 lines as cat above; all of it: show 1]\nerror: no door\n\
             [same 100 lines as cat above; all of it: show 1]\nnew\n"
        );
        assert_eq!(folds.len(), 2);
        ledger.forget();
        assert!(ledger.fold(&again, "show 1").is_none());
    }

    #[test]
    fn failures_and_diffs_stay() {
        let mut ledger = Ledger::new(1);
        for beginning in ["error: ", "@@ "] {
            let text = format!("{beginning}no door\n").repeat(100);
            ledger.record(Shown::of("make", &text, 1));
            assert!(ledger.fold(&text, "show 1").is_none());
        }
    }
}
