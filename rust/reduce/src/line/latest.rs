//! What was found of the latest lines, so that the same is not asked of lines that differ in digits alone.

use crate::line::fingerprint::without_digits;

/// Powers of two.
const MAX_SLOTS: usize = 4_096;
const MIN_SLOTS: usize = 64;
/// About as many bytes as a line has.
const LINE_BYTES: usize = 64;

/// What was found of the latest lines of each length that differ in digits alone; memory is bounded.
pub(crate) struct Latest<T> {
    slots: Vec<(u64, Option<T>)>,
    spare: Option<T>,
}

impl<T: Copy> Latest<T> {
    /// Nothing yet of an input of `bytes`: a short text needs few slots.
    pub(crate) fn of(bytes: usize) -> Self {
        let slots = (bytes / LINE_BYTES).clamp(MIN_SLOTS, MAX_SLOTS);
        Self {
            slots: vec![(0, None); slots.next_power_of_two()],
            spare: None,
        }
    }

    /// What is remembered of lines like `line`; nothing when none was seen or others took their place.
    pub(crate) fn like(&mut self, line: &str) -> &mut Option<T> {
        let key = without_digits(line);
        // The high bits of a product are the well mixed ones.
        let slot = usize::try_from(key >> (u64::BITS - self.slots.len().ilog2()));
        let Some((known, found)) = slot.ok().and_then(|slot| self.slots.get_mut(slot)) else {
            return &mut self.spare;
        };
        if *known != key {
            *known = key;
            *found = None;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_remembered_for_lines_that_differ_in_digits() {
        let mut latest = Latest::of(0);
        for (line, known) in [
            ("oak 10", None),
            ("oak 21", Some(1)),
            ("oak 2", None),
            ("elm 10", None),
            ("oak 33", Some(1)),
        ] {
            let found = latest.like(line);
            assert_eq!(*found, known, "{line}");
            *found = Some(1);
        }
    }
}
