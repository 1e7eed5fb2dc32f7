//! A row of an input of no known family.

use super::kind::Kind;

/// A row that may be shown.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    pub(super) number: usize,
    pub(super) line: &'a str,
    pub(super) kind: Kind,
    /// How many lines it represents.
    pub(super) times: usize,
    /// The how manieth line it is of those that belong to a bad one; 0 for none.
    pub(super) detail: usize,
    /// Whether it matters although others are like it but for their numbers.
    pub(super) stands_out: bool,
    /// How many other findings say the same, and the places of those that are shown.
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

    /// Whether it describes a failure or is odd.
    pub(super) fn matters(&self) -> bool {
        self.stands_out || self.kind == Kind::Bad
    }
}
