//! The rows of an installation: what is known of it, and of all else what is near a bad line.

use crate::line::shorten;
use crate::output::Output;
use crate::rows::fold;

/// A line of a result names all packages: it is cut only beyond this.
const RESULT_CHARS: usize = 4_000;
/// A line of a failure often ends with a list of all versions there are.
const BAD_CHARS: usize = 150;
/// How many lines of no known kind are shown, folded; of more, only those near bad ones.
const OTHER_LINES: usize = 24;
/// How far from a bad line another one is near.
const NEAR_LINES: usize = 2;
/// How many lines of lists are remembered until it is known whether something was done.
const LISTED_LINES: usize = 4_096;
/// No installation has more rows.
const MAX_ROWS: usize = 16_384;

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Bad,
    Known,
    /// Of no known kind.
    Other,
    /// Of no known kind, and near a bad one.
    Near,
}

#[derive(Clone, Copy, Debug)]
struct Row<'a> {
    line: &'a str,
    number: u32,
    what: What,
}

impl Row<'_> {
    fn is_other(&self) -> bool {
        matches!(self.what, What::Other | What::Near)
    }
}

/// Rows in their order; of more others than are shown, those that are near no bad one are forgotten.
#[derive(Debug, Default)]
pub(super) struct Rows<'a> {
    kept: Vec<Row<'a>>,
    /// Lines of lists: of use only when nothing was done in the end.
    listed: Vec<Row<'a>>,
    others: usize,
    /// How many rows after the last bad one are still near it.
    near: usize,
}

impl<'a> Rows<'a> {
    /// One more row; a bad one only once in succession.
    pub(super) fn add(&mut self, what: What, number: usize, line: &'a str) {
        if what == What::Bad && self.is_last(line) {
            return;
        }
        let mut row = Row {
            line,
            number: u32::try_from(number).unwrap_or(u32::MAX),
            what,
        };
        if what == What::Bad {
            self.near = NEAR_LINES;
            for before in self.kept.iter_mut().rev().take(NEAR_LINES) {
                if before.what == What::Other {
                    before.what = What::Near;
                }
            }
        } else {
            if what == What::Other && self.near > 0 {
                row.what = What::Near;
            }
            self.near = self.near.saturating_sub(1);
        }
        self.others += usize::from(row.is_other());
        self.kept.push(row);
        if self.others > OTHER_LINES {
            self.forget(row.is_other() && self.others == OTHER_LINES + 1);
        }
    }

    fn is_last(&self, line: &str) -> bool {
        let last = self.kept.last();
        last.is_some_and(|last| last.what == What::Bad && last.line == line)
    }

    /// Whether there are more rows than an installation can have.
    pub(super) fn is_too_long(&self) -> bool {
        self.kept.len() > MAX_ROWS
    }

    pub(super) fn add_listed(&mut self, number: usize, line: &'a str) {
        if self.listed.len() < LISTED_LINES {
            self.listed.push(Row {
                line,
                number: u32::try_from(number).unwrap_or(u32::MAX),
                what: What::Other,
            });
        }
    }

    /// Forgets the other row that no bad one can come near any more, or all of them.
    fn forget(&mut self, all: bool) {
        let Some(settled) = self.kept.len().checked_sub(NEAR_LINES) else {
            return;
        };
        if all {
            let mut index = 0;
            self.kept.retain(|row| {
                index += 1;
                index > settled || row.what != What::Other
            });
        } else if let Some(last) = settled.checked_sub(1)
            && self
                .kept
                .get(last)
                .is_some_and(|row| row.what == What::Other)
        {
            self.kept.remove(last);
        }
    }

    /// Writes the known rows, and of the others what is near a bad one when there are many; those of
    /// lists too when they are `wanted`.
    pub(super) fn write(mut self, wanted: bool, output: &mut Output) {
        if wanted && !self.listed.is_empty() {
            self.others += self.listed.len();
            self.kept.append(&mut self.listed);
            self.kept.sort_by_key(|row| row.number);
        }
        let few = self.others <= OTHER_LINES;
        let mut rest = Vec::new();
        for (index, row) in self.kept.iter().enumerate() {
            let from = index.saturating_sub(NEAR_LINES);
            let around = self.kept.get(from..).unwrap_or_default();
            let mut around = around.iter().take(2 * NEAR_LINES + 1);
            if !row.is_other() {
                fold::write(rest.drain(..), output);
                let is_bad = row.what == What::Bad;
                let chars = if is_bad { BAD_CHARS } else { RESULT_CHARS };
                let line = row.line.strip_suffix(" ...").unwrap_or(row.line);
                output.fact(&shorten(line, chars));
            } else if row.line.len() > RESULT_CHARS {
                fold::write(rest.drain(..), output);
                output.context(&shorten(row.line, RESULT_CHARS));
            } else if few || row.what == What::Near || around.any(|row| row.what == What::Bad) {
                rest.push(row.line);
            }
        }
        fold::write(rest.drain(..), output);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    fn written(rows: Rows<'_>) -> String {
        let mut output = Output::default();
        rows.write(true, &mut output);
        let text = output.finish(0, usize::MAX);
        text.rsplit_once('\n').unwrap().0.to_owned()
    }

    #[test]
    fn of_many_other_lines_those_near_a_bad_one_stay() {
        let words: Vec<String> = (0..90_u8)
            .map(|number| char::from(b'!' + number).to_string().repeat(3))
            .collect();
        let mut rows = Rows::default();
        for (number, word) in words.iter().enumerate() {
            let what = if number == 50 { What::Bad } else { What::Other };
            rows.add(what, number, word);
        }
        assert!(rows.kept.len() < 10, "{rows:?}");
        assert_eq!(written(rows), words.get(48..53).unwrap().join("\n"));
    }

    #[test]
    fn a_bad_line_is_told_once_in_a_row() {
        let mut rows = Rows::default();
        for line in ["error: oak", "error: oak", "error: elm", "error: oak"] {
            rows.add(What::Bad, 0, line);
        }
        assert_eq!(written(rows), "error: oak\nerror: elm\nerror: oak");
    }

    #[test]
    fn a_very_long_other_line_is_cut() {
        let long = "oak ".repeat(30_000);
        let mut rows = Rows::default();
        rows.add(What::Known, 0, "first");
        rows.add(What::Other, 1, &long);
        assert!(written(rows).len() < 5_000);
    }

    #[test]
    fn few_lines_of_lists_stand_where_they_were() {
        let mut rows = Rows::default();
        rows.add(What::Known, 0, "first");
        rows.add_listed(1, "listed");
        rows.add(What::Other, 2, "last");
        assert_eq!(written(rows), "first\nlisted\nlast");
    }
}
