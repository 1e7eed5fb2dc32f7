//! A value of a JSON text and where it is.

/// A value: where it was seen first and how often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    /// The value as it is in the source; of objects and arrays nothing.
    pub(super) text: &'a str,
    pub(super) count: usize,
    /// The index of the nearest list that holds it, and of the list that holds that one.
    pub(super) index: usize,
    pub(super) above: usize,
    pub(super) record: Record<'a>,
}

impl<'a> Seen<'a> {
    /// The only one so far.
    pub(super) fn new(text: &'a str, index: usize, above: usize, record: Record<'a>) -> Self {
        Self {
            text,
            count: 1,
            index,
            above,
            record,
        }
    }
}

/// What distinguishes the nearest record that holds a value from others, as far as it was read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record<'a> {
    /// The key of the member that names it; empty when it goes by its own key in a map.
    pub(super) key: &'a str,
    /// What that member states, or its own key; empty when nothing names it.
    pub(super) value: &'a str,
    /// Whether that one is not of the nearest list.
    pub(super) is_of_above: bool,
}

impl Record<'_> {
    /// Whether a name of the record itself states more.
    pub(super) fn is_free(self) -> bool {
        self.value.is_empty() || self.is_of_above
    }
}
