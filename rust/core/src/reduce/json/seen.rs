//! A value of a JSON text and where it stands.

/// A value: where it was seen first and how often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    /// The value as it stands in the source; of objects and arrays nothing.
    pub(super) text: &'a str,
    pub(super) count: usize,
    /// The index of the nearest list that holds it, and of the list that holds that one.
    pub(super) index: usize,
    pub(super) above: usize,
    /// The member that names the nearest record that holds it, as far as it was read.
    pub(super) record: &'a str,
}

impl<'a> Seen<'a> {
    /// The only one so far.
    pub(super) fn new(text: &'a str, index: usize, above: usize, record: &'a str) -> Self {
        Self {
            text,
            count: 1,
            index,
            above,
            record,
        }
    }
}
