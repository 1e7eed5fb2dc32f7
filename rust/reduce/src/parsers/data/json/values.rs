//! The different short values at one path, and which of a few records has which.

use super::seen::Seen;

/// How many different values of one path are counted, and those of all paths together.
const MAX_VALUES: usize = 24;
const MAX_ALL_VALUES: usize = 6_000;
/// Longer values are only compared while they are few compared to shorter ones, except for those of keys that describe
/// an error.
const VALUE_BYTES: usize = 60;
const MESSAGE_BYTES: usize = 2_000;
const MAX_LONG: usize = 8;
/// Values of one path whose places are remembered, and those of all paths together.
const MAX_PLACES: usize = 256;
const MAX_ALL_PLACES: usize = 12_000;
/// Fewer values have no usual one.
const MIN_TOTAL: usize = 3;

/// What the values of all paths take together.
#[derive(Debug, Default)]
pub(super) struct Taken {
    values: usize,
    places: usize,
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Which of the different values it is.
    pub(super) value: usize,
    /// The index of the nearest list that holds it, and of the list that holds that one.
    pub(super) index: usize,
    pub(super) above: usize,
}

/// The values of one path.
#[derive(Debug, Default)]
pub(super) struct Values<'a> {
    seen: Vec<Seen<'a>>,
    too_different: bool,
    places: Vec<Place>,
    too_many: bool,
    /// How many different values are long, and how often any of them, or any at all, is there.
    long: usize,
    long_total: usize,
    total: usize,
}

impl<'a> Values<'a> {
    /// Counts `here`; a value of a key that shows what went wrong may be long.
    pub(super) fn add(&mut self, here: Seen<'a>, is_message: bool, taken: &mut Taken) {
        if self.too_different {
            return;
        }
        let text = here.text;
        let is_long = text.len() > VALUE_BYTES && !is_message;
        self.total += 1;
        self.long_total += usize::from(is_long);
        let known = self.seen.iter().position(|seen| seen.text == text);
        let value = if let Some(value) = known {
            if let Some(seen) = self.seen.get_mut(value) {
                seen.count += 1;
            }
            value
        } else if self.seen.len() < MAX_VALUES
            && text.len() <= MESSAGE_BYTES
            && (!is_long || self.long < MAX_LONG)
            // A value with line breaks would be shown as lines that are not in the source.
            && !text.contains('\n')
            && taken.values < MAX_ALL_VALUES
        {
            taken.values += 1;
            self.long += usize::from(is_long);
            self.seen.push(here);
            self.seen.len() - 1
        } else {
            taken.values -= self.seen.len();
            taken.places -= self.places.len();
            *self = Self {
                too_different: true,
                ..Self::default()
            };
            return;
        };
        if self.too_many {
            return;
        }
        if self.places.len() < MAX_PLACES && taken.places < MAX_ALL_PLACES {
            taken.places += 1;
            self.places.push(Place {
                value,
                index: here.index,
                above: here.above,
            });
        } else {
            taken.places -= self.places.len();
            self.places = Vec::new();
            self.too_many = true;
        }
    }

    /// The different values in the order in which they came; none when there are too many.
    pub(super) fn seen(&self) -> &[Seen<'a>] {
        if self.are_long() { &[] } else { &self.seen }
    }

    /// The place of each value, in order; none when there are too many.
    pub(super) fn places(&self) -> &[Place] {
        if self.are_long() { &[] } else { &self.places }
    }

    /// Whether long values are not exception among shorter ones: then they are inputs, and no states.
    fn are_long(&self) -> bool {
        self.long_total * 2 >= self.total
    }

    /// The number of the usual one of the different values, as [`usual`] shows it.
    pub(super) fn usual(&self) -> Option<usize> {
        usual(self.seen().iter().map(|seen| seen.count))
    }
}

/// The most frequent of some values, the first of several, given how often each occurs. `None` unless there are
/// different values and they repeat often enough to be a few states.
pub(super) fn usual(counts: impl Iterator<Item = usize> + Clone) -> Option<usize> {
    let counts = counts.enumerate().filter(|(_, count)| *count > 0);
    let different = counts.clone().count();
    let total: usize = counts.clone().map(|(_, count)| count).sum();
    let most = counts.clone().map(|(_, count)| count).max()?;
    let (usual, _) = { counts }.find(|(_, count)| *count == most)?;
    let is_state =
        total >= MIN_TOTAL && different > 1 && (different * 2 <= total || most * 2 > total);
    is_state.then_some(usual)
}
