//! What the records of one list are called, as it is in the source.

/// Records that are identified by name, and how many bytes their names may have together.
const MAX_NAMES: usize = 60;
const MAX_BYTES: usize = 4_000;

/// What distinguishes a record from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Name<'a> {
    /// Its number or sign; empty when it has none.
    pub(super) tag: &'a str,
    /// Its name; empty when it has none.
    pub(super) label: &'a str,
}

/// The names of the records at one path, as long as they are few.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    list: Vec<Name<'a>>,
    bytes: usize,
    too_many: bool,
}

impl<'a> Names<'a> {
    pub(super) fn push(&mut self, name: Name<'a>) {
        self.bytes += name.tag.len() + name.label.len();
        // A value with line breaks would be shown as lines that are not in the source.
        let is_broken = name.label.contains('\n');
        if self.too_many || is_broken || self.list.len() >= MAX_NAMES || self.bytes > MAX_BYTES {
            self.too_many = true;
            self.list = Vec::new();
        } else {
            self.list.push(name);
        }
    }

    /// The names in order, if each of `records` records has a different one.
    pub(super) fn told(&self, records: usize) -> Option<Vec<String>> {
        if records < 2 || self.list.len() != records {
            return None;
        }
        let mut told = Vec::with_capacity(records);
        for (number, name) in self.list.iter().enumerate() {
            let before = self.list.get(..number).unwrap_or_default();
            // A number alone states no more than how many there are.
            let says_nothing = name.label.is_empty() && !name.tag.starts_with(['"', '\'']);
            if says_nothing || before.contains(name) {
                return None;
            }
            let is_both = !name.tag.is_empty() && !name.label.is_empty();
            let between = if is_both { " " } else { "" };
            told.push(format!("{}{between}{}", name.tag, name.label));
        }
        Some(told)
    }
}
