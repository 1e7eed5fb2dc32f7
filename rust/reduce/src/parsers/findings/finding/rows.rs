//! A row for each message, or for those that differ in the names that they quote, with all places.

use std::fmt::Write as _;

use hashbrown::HashMap;

use super::message::quotes;
use crate::line::shorten;

/// Longer names are shortened.
pub(super) const NAMES_CHARS: usize = 100;

/// Findings with the same message about the same names.
#[derive(Debug)]
struct Variant<'a> {
    first: &'a str,
    several: bool,
    count: usize,
    text: String,
    /// How it is identified by itself, where it may have to be.
    alone: Option<String>,
}

/// Findings that have the same message except for names.
#[derive(Debug, Default)]
struct Row<'a> {
    count: usize,
    variants: Vec<Variant<'a>>,
}

#[derive(Debug, Default)]
pub(super) struct Rows<'a> {
    /// Fewer that differ in names are shown each by itself.
    least: usize,
    all: Vec<Row<'a>>,
    by_kind: HashMap<u64, usize>,
    /// The row and the variant of a message.
    by_message: HashMap<u64, (usize, usize)>,
}

impl<'a> Rows<'a> {
    /// Rows in which at least this many messages are shown together.
    pub(super) fn of_at_least(least: usize) -> Self {
        Self {
            least,
            ..Self::default()
        }
    }

    /// Takes a finding: what its message states without and with its names, and how it is identified by itself.
    pub(super) fn push(
        &mut self,
        (kind, message): (u64, u64),
        said: &str,
        place: &'a str,
        text: impl FnOnce() -> String,
    ) {
        if let Some((row, variant)) = self.by_message.get(&message).copied() {
            let Some(row) = self.all.get_mut(row) else {
                return;
            };
            row.count += 1;
            if let Some(known) = row.variants.get_mut(variant) {
                known.also(place, variant == 0);
            }
            return;
        }
        let at = *self.by_kind.entry(kind).or_insert(self.all.len());
        if at == self.all.len() {
            self.all.push(Row::default());
        }
        let Some(row) = self.all.get_mut(at) else {
            return;
        };
        self.by_message.insert(message, (at, row.variants.len()));
        row.count += 1;
        let (text, alone) = if row.variants.is_empty() {
            (text(), None)
        } else {
            let named = format!("{} {place}", shorten(&names(said), NAMES_CHARS));
            (named, (self.least > 0).then(text))
        };
        row.variants.push(Variant {
            first: place,
            several: false,
            count: 1,
            text,
            alone,
        });
    }

    /// How many findings each row shows, and the row: `a.py:1: No "x"; also a.py:2; "y" b.py:3`.
    pub(super) fn told(self) -> Vec<(usize, String)> {
        let mut told = Vec::new();
        for row in self.all {
            if row.variants.len() < self.least.max(2) {
                told.extend(row.variants.into_iter().map(Variant::alone));
            } else {
                let texts: Vec<String> = row.variants.into_iter().map(|one| one.text).collect();
                told.push((row.count, texts.join("; ")));
            }
        }
        told
    }
}

impl Variant<'_> {
    /// How many findings it shows, and its row. What only came again at the same place is counted, as other lines
    /// are: the row is one of the source.
    fn alone(self) -> (usize, String) {
        let mut text = self.alone.unwrap_or(self.text);
        if self.count > 1 && !self.several {
            let _ = write!(text, " \u{d7}{}", self.count);
        }
        (self.count, text)
    }

    /// Adds a place, unless it is the first or the last one.
    fn also(&mut self, place: &str, is_whole: bool) {
        self.count += 1;
        if self.first == place || self.text.ends_with(place) {
            return;
        }
        let opens = !self.several;
        self.several = true;
        let between = |opens| if opens { "; also " } else { " " };
        self.text.push_str(between(opens && is_whole));
        self.text.push_str(place);
        if let Some(alone) = &mut self.alone {
            alone.push_str(between(opens));
            alone.push_str(place);
        }
    }
}

/// The names that a message quotes, with their quotes.
pub(super) fn names(message: &str) -> String {
    let [open, close] = quotes(message);
    let names = message.split([open, close]).skip(1).step_by(2);
    let quoted: Vec<String> = names.map(|name| format!("{open}{name}{close}")).collect();
    quoted.join(" ")
}
