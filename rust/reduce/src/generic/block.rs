//! Lines that belong to a line that reports a problem.

use super::kind::Kind;
use super::row::Row;
use crate::line;

/// How many bad lines keep their numbers, and how many lines below one can belong to it.
pub(super) const WHOLE_BAD_LINES: usize = 100;
const DETAIL_LINES: usize = 6;

/// The last bad line, and how many of the lines after it belong to it.
#[derive(Default)]
pub(super) struct Block {
    pub(super) count: usize,
    indent: usize,
    /// How many lines below it so far, and how many more may follow.
    told: usize,
    left: usize,
    /// Its message is on the next line, at any indentation.
    announces: bool,
}

impl Block {
    pub(super) fn open(&mut self, line: &str) {
        self.count += 1;
        self.indent = line::indent(line);
        self.told = 0;
        self.announces = line.trim_end().ends_with([':', '|']);
        self.left = if self.count <= WHOLE_BAD_LINES {
            DETAIL_LINES
        } else {
            0
        };
    }

    /// Whether `line` is indented more than the bad line above it, is announced by it, or continues it.
    pub(super) fn holds(&mut self, line: &str) -> bool {
        let announced = std::mem::take(&mut self.announces) || is_more(line);
        if self.left == 0 || !announced && line::indent(line) <= self.indent {
            self.left = 0;
            return false;
        }
        self.left -= 1;
        self.told += 1;
        true
    }

    /// The row of a line that belongs to the block.
    pub(super) fn row<'a>(&self, number: usize, line: &'a str, kind: Kind) -> Row<'a> {
        Row {
            detail: self.told,
            ..Row::new(number, line, kind, 1)
        }
    }
}

/// Whether `line` is a continuation of an error that a database reports.
fn is_more(line: &str) -> bool {
    line.starts_with(['D', 'H', 'L'])
        && ["DETAIL:  ", "HINT:  ", "LINE "]
            .iter()
            .any(|beginning| line.starts_with(beginning))
}
