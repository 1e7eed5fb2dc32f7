//! The kinds of lines that were seen, so that lines alike are told once.

use super::kind::{Kind, kind};

/// Powers of two.
const MAX_SLOTS: usize = 4_096;
const MIN_SLOTS: usize = 64;
/// About as many bytes as a line has.
const LINE_BYTES: usize = 64;

/// The kinds of the latest lines of each mask and length; memory is bounded.
pub(super) struct Seen {
    slots: Vec<Option<(u64, Kind)>>,
}

impl Seen {
    /// None yet of a text of `bytes`: a short text needs few slots.
    pub(super) fn of(bytes: usize) -> Self {
        let slots = (bytes / LINE_BYTES).clamp(MIN_SLOTS, MAX_SLOTS);
        Self {
            slots: vec![None; slots.next_power_of_two()],
        }
    }

    /// The kind of `line`, whose mask is `mask`.
    ///
    /// Lines of one mask and one length differ in digits alone, and in as many.
    pub(super) fn kind(&mut self, line: &str, mask: u64) -> Kind {
        let key = mask.rotate_left(7) ^ line.len() as u64;
        // The high bits of a product are the well mixed ones.
        let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let slot = usize::try_from(mixed >> (u64::BITS - self.slots.len().ilog2()));
        let Some(slot) = slot.ok().and_then(|slot| self.slots.get_mut(slot)) else {
            return kind(line);
        };
        match slot {
            Some((known, found)) if *known == key => *found,
            _ => {
                let found = kind(line);
                *slot = Some((key, found));
                found
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fold::mask;
    use super::*;

    #[test]
    fn a_kind_that_was_seen_is_the_kind_of_the_line() {
        let mut seen = Seen::of(0);
        for line in [
            "ok 1",
            "oak 1",
            "src/a.py:10: oak",
            "src/a.py:11: oak",
            "ok 2",
            "",
        ] {
            assert_eq!(seen.kind(line, mask(line)), kind(line), "{line}");
        }
    }
}
