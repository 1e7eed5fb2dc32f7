//! Lines that wait to be placed, the best first.

use std::cmp::Ordering;

/// A line that waits to be placed.
pub(crate) struct Candidate {
    pub(crate) reserved: u8,
    pub(crate) worth: f64,
    pub(crate) line: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let worth = self.worth.total_cmp(&other.worth);
        let reserved = self.reserved.cmp(&other.reserved);
        reserved.then(worth).then(other.line.cmp(&self.line))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}
