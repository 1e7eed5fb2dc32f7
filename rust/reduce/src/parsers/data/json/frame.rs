//! An object or a list of a JSON text that is still open.

use super::kind::{Kind, Naming, naming};
use super::names::Name;
use super::seen::Record;

/// The key of what names the record that holds it, in its quotes.
const METADATA: [&str; 2] = ["\"metadata\"", "'metadata'"];

/// An open object or list.
#[derive(Default)]
pub(super) struct Frame<'a> {
    /// Its node; `None` where paths are not distinguished any more.
    pub(super) node: Option<usize>,
    pub(super) object: bool,
    /// Whether it is a list in a list: its items are distinguished by their positions, like the members of a record.
    pub(super) row: bool,
    pub(super) items: usize,
    /// The index of the nearest list that holds it, and of the list that holds that one.
    pub(super) list_index: usize,
    pub(super) above: usize,
    /// The key whose value comes next, and where it begins.
    pub(super) key: Option<(&'a str, usize)>,
    /// What distinguishes the record from others: its `id` or its name, or that of the one that holds it.
    pub(super) record: Record<'a>,
    /// Whether it is one of several in a list or one after the other.
    pub(super) is_item: bool,
    /// What it is called, where it may be a record of many.
    pub(super) called: Option<Name<'a>>,
    pub(super) name: Option<&'a str>,
    pub(super) version: Option<&'a str>,
    pub(super) own_key: &'a str,
}

impl<'a> Frame<'a> {
    /// The index of the value that comes next in the nearest list.
    pub(super) fn index(&self) -> usize {
        if self.object || self.row {
            self.list_index
        } else {
            self.items
        }
    }

    /// The index of that list in the list that holds it.
    pub(super) fn above(&self) -> usize {
        if self.object || self.row {
            self.above
        } else {
            self.list_index
        }
    }

    /// Remembers the part of the member `key` that distinguishes this record from others.
    pub(super) fn told(&mut self, key: &'a str, kind: Kind, value: &'a str) {
        if let (Some(called), Kind::Text | Kind::Number) = (&mut self.called, kind) {
            let part = match naming(key) {
                Some(Naming::Tag) => Some(&mut called.tag),
                Some(Naming::Label) => Some(&mut called.label),
                None => None,
            };
            if let Some(part) = part.filter(|part| part.is_empty()) {
                *part = value;
            }
        }
        match key {
            "\"name\"" | "'name'" if kind == Kind::Text => {
                self.name = Some(value);
                // What is in a record goes by the name of the record.
                let is_free = self.record.is_free();
                if is_free && (self.is_item || METADATA.contains(&self.own_key)) {
                    self.goes_by(key, value);
                }
            }
            "\"version\"" | "'version'" if kind == Kind::Text => self.version = Some(value),
            "\"id\"" | "'id'" if !value.is_empty() => self.goes_by(key, value),
            _ => {}
        }
    }

    fn goes_by(&mut self, key: &'a str, value: &'a str) {
        self.record = Record {
            key,
            value,
            is_of_above: false,
        };
    }

    /// Remembers of the item `value` of a row what distinguishes it from others: a number that it begins with, and its first
    /// text.
    pub(super) fn stands(&mut self, kind: Kind, value: &'a str) {
        let Some(called) = self.called.as_mut().filter(|_| self.row) else {
            return;
        };
        if kind == Kind::Number && self.items == 1 {
            called.tag = value;
        } else if kind == Kind::Text && called.label.is_empty() {
            called.label = value;
        }
    }

    /// Gives its name to `holder` if it is there for that.
    pub(super) fn names(&self, holder: &mut Self) {
        let is_free = holder.record.is_free();
        if METADATA.contains(&self.own_key) && is_free && !self.record.is_of_above && holder.is_item
        {
            holder.record = self.record;
        }
        if let Some(called) = holder
            .called
            .as_mut()
            .filter(|_| METADATA.contains(&self.own_key))
            && let Some(name) = self.name
        {
            called.label = name;
        }
    }
}
