//! Findings of a document, each input held once.

use hashbrown::HashTable;

use crate::line::fingerprint::fingerprint;
use crate::parsers::findings::finding::Finding;

/// What an object states.
pub(super) struct Found {
    /// Line and column.
    pub(super) place: String,
    pub(super) path: String,
    pub(super) message: String,
}

/// Where a finding's inputs stand.
#[derive(Clone, Copy, Debug)]
struct Entry {
    place_end: u32,
    path: u32,
    message: u32,
}

/// Findings in their order.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// All places, one after the other.
    places: String,
    texts: Vec<String>,
    known: HashTable<u32>,
    all: Vec<Entry>,
}

impl Store {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn push(&mut self, found: Found) {
        self.places.push_str(&found.place);
        let entry = Entry {
            place_end: number(self.places.len()),
            path: self.text(found.path),
            message: self.text(found.message),
        };
        self.all.push(entry);
    }

    /// Which of the inputs `text` is.
    fn text(&mut self, text: String) -> u32 {
        let key = fingerprint(&text);
        let texts = &mut self.texts;
        let get = |texts: &[String], at: u32| texts.get(at as usize).map(|text| fingerprint(text));
        let same = |at: &u32| texts.get(*at as usize) == Some(&text);
        if let Some(at) = self.known.find(key, same) {
            return *at;
        }
        let at = number(texts.len());
        texts.push(text);
        self.known
            .insert_unique(key, at, |at| get(texts, *at).unwrap_or_default());
        at
    }

    /// The findings; a place is below its path.
    pub(super) fn findings(&self) -> impl Iterator<Item = Finding<'_>> {
        let text = |at: u32| self.texts.get(at as usize).map_or("", String::as_str);
        let mut start = 0;
        self.all.iter().map(move |entry| {
            let end = entry.place_end as usize;
            let place = self.places.get(start..end).unwrap_or_default();
            start = end;
            Finding {
                place,
                path: text(entry.path),
                message: text(entry.message),
                whole: "",
            }
        })
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_back_in_their_order_and_texts_are_held_once() {
        let mut store = Store::default();
        for (place, path, message) in [("1:2", "a", "odd"), ("3", "b", "odd"), ("4", "a", "a")] {
            store.push(Found {
                place: place.to_owned(),
                path: path.to_owned(),
                message: message.to_owned(),
            });
        }
        let all: Vec<_> = store
            .findings()
            .map(|found| (found.place, found.path, found.message))
            .collect();
        assert_eq!(
            all,
            [("1:2", "a", "odd"), ("3", "b", "odd"), ("4", "a", "a")]
        );
        assert_eq!(store.texts, ["a", "odd", "b"]);
    }
}
