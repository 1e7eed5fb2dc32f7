//! A row of an input that no family recognises.

use super::kind::Kind;

/// A row that may be shown.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    pub(super) number: usize,
    pub(super) line: &'a str,
    pub(super) kind: Kind,
    /// How many lines it represents.
    pub(super) times: usize,
    /// Its position among the lines that belong to a bad line, from 1; 0 if it does not belong to one.
    pub(super) detail: usize,
    /// Whether it matters although other lines differ only in numbers.
    pub(super) stands_out: bool,
    /// How many other findings have the same message, and the locations of those that are shown.
    pub(super) alike: usize,
    pub(super) more: Vec<&'a str>,
}

impl<'a> Row<'a> {
    pub(super) fn new(number: usize, line: &'a str, kind: Kind, times: usize) -> Self {
        Self {
            number,
            line,
            kind,
            times,
            detail: 0,
            stands_out: false,
            alike: 0,
            more: Vec::new(),
        }
    }

    /// Whether it reports a failure or is unusual.
    pub(super) fn matters(&self) -> bool {
        self.stands_out || self.kind == Kind::Bad
    }
}
