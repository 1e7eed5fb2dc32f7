//! The keys of the objects that are open, to find one that comes twice.

use std::ops::Range;

use hashbrown::HashSet;

use crate::json_text::decoded;

/// Objects with more keys are searched by hash.
const FEW: usize = 16;

/// The keys of one open object.
struct Object {
    /// Where its keys start in the list of all.
    start: usize,
    /// The decoded keys of a large object, or of one with escapes in its keys.
    decoded: Option<HashSet<String>>,
}

/// The keys of all open objects. Small ones are only places in the text.
#[derive(Default)]
pub(super) struct Keys {
    places: Vec<Range<usize>>,
    objects: Vec<Object>,
}

impl Keys {
    /// An object starts.
    pub(super) fn open(&mut self) {
        self.objects.push(Object {
            start: self.places.len(),
            decoded: None,
        });
    }

    /// The innermost object ends.
    pub(super) fn close(&mut self) {
        if let Some(object) = self.objects.pop() {
            self.places.truncate(object.start);
        }
    }

    /// Whether the quoted key at `place` is the first of its name in the innermost object.
    pub(super) fn insert(&mut self, text: &str, place: Range<usize>) -> bool {
        let Some(object) = self.objects.last_mut() else {
            return false;
        };
        let key = text.get(place.clone()).unwrap_or_default();
        if let Some(known) = &mut object.decoded {
            return known.insert(decoded(key).into_owned());
        }
        let places = self.places.get(object.start..).unwrap_or_default();
        if places.len() < FEW && !key.contains('\\') {
            let is_new = places
                .iter()
                .all(|known| text.get(known.clone()) != Some(key));
            self.places.push(place);
            return is_new;
        }
        let mut known: HashSet<String> = places
            .iter()
            .map(|place| decoded(text.get(place.clone()).unwrap_or_default()).into_owned())
            .collect();
        let is_new = known.insert(decoded(key).into_owned());
        object.decoded = Some(known);
        is_new
    }
}
