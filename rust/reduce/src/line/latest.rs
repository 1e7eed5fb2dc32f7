//! A cache of results for recent lines: lines that differ only in digits give the same result.

use crate::line::fingerprint::without_digits;

/// Must be a power of two.
const MAX_SLOTS: usize = 4_096;
const MIN_SLOTS: usize = 64;
/// A typical line length.
const LINE_BYTES: usize = 64;

/// Results for recent lines, by length and content without digits; its memory is bounded.
pub(crate) struct Latest<T> {
    slots: Vec<(u64, Option<T>)>,
    spare: Option<T>,
}

impl<T: Copy> Latest<T> {
    /// An empty cache for an input of `bytes`: short inputs need few slots.
    pub(crate) fn of(bytes: usize) -> Self {
        let slots = (bytes / LINE_BYTES).clamp(MIN_SLOTS, MAX_SLOTS);
        Self {
            slots: vec![(0, None); slots.next_power_of_two()],
            spare: None,
        }
    }

    /// The slot for lines like `line`; empty when none was seen or another line replaced it.
    pub(crate) fn like(&mut self, line: &str) -> &mut Option<T> {
        let key = without_digits(line);
        // The high bits of a product are well mixed.
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
