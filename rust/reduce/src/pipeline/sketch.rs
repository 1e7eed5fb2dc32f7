//! An index of the short strings in an output, so that most families can be ruled out without reading it again.

use crate::family::Marks;
use crate::input::Input;

/// The number of byte pairs; triples are hashed to the same number of places.
const PLACES: usize = 65_536;
const MULTIPLIER: u32 = 0x9E37_79B1;

/// The pairs and triples of bytes in the first and last lines of an output, with digits treated as equal. Strings that
/// cannot be there are ruled out without reading the output again.
pub(crate) struct Sketch {
    pairs: Places,
    triples: Places,
}

impl Sketch {
    pub(crate) fn new(input: &Input<'_>) -> Self {
        let mut sketch = Self {
            pairs: Places::new(),
            triples: Places::new(),
        };
        let mut head_bytes = 0;
        for line in input.beginning() {
            sketch.add(line);
            head_bytes += line.len() + 1;
        }
        let mut bytes = input.text.len();
        for line in input.ending() {
            // The first lines are in the index already.
            if bytes < head_bytes {
                break;
            }
            sketch.add(line);
            bytes = bytes.saturating_sub(line.len() + 1);
        }
        sketch
    }

    /// Whether content may prove that the output belongs to the family with these marks.
    pub(crate) fn may_be(&self, marks: Marks) -> bool {
        match marks {
            Marks::Any => true,
            Marks::Never => false,
            Marks::OneOf(groups) => groups
                .iter()
                .any(|texts| texts.iter().all(|text| self.may_hold(text))),
            Marks::Loaded(groups) => groups()
                .iter()
                .any(|texts| texts.iter().all(|text| self.may_hold(text))),
        }
    }

    fn may_hold(&self, text: &str) -> bool {
        let last = |bytes: &[u8]| bytes.iter().fold(0, |before, byte| with(before, *byte));
        match text.as_bytes() {
            pair @ [_, _] => self.pairs.has(pair_place(last(pair))),
            bytes => bytes
                .windows(3)
                .all(|triple| self.triples.has(triple_place(last(triple)))),
        }
    }

    fn add(&mut self, line: &str) {
        let mut last = with(0, b'\n');
        for byte in line.bytes().chain([b'\n']) {
            last = with(last, byte);
            self.pairs.set(pair_place(last));
            self.triples.set(triple_place(last));
        }
    }
}

/// A set of [`PLACES`] places, one bit each.
struct Places {
    words: Box<[u64; PLACES / 64]>,
}

impl Places {
    fn new() -> Self {
        Self {
            words: Box::new([0; PLACES / 64]),
        }
    }

    fn set(&mut self, place: usize) {
        if let Some(word) = self.words.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    fn has(&self, place: usize) -> bool {
        self.words
            .get(place / 64)
            .is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}

/// The last four bytes after `byte` is appended to those of `before`.
fn with(before: u32, byte: u8) -> u32 {
    let byte = if byte.is_ascii_digit() { b'0' } else { byte };
    before << 8 | u32::from(byte)
}

/// The place of the last two of four bytes.
fn pair_place(last: u32) -> usize {
    (last & 0xFFFF) as usize
}

/// The place of the last three of four bytes.
fn triple_place(last: u32) -> usize {
    let mixed = (last & 0x00FF_FFFF).wrapping_mul(MULTIPLIER);
    (mixed >> (u32::BITS - PLACES.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;

    fn sketch(text: &str) -> Sketch {
        Sketch::new(&Input {
            text,
            words: &[],
            exit: Exit::Unknown,
        })
    }

    #[test]
    fn what_is_there_may_be_there_and_what_is_not_is_not() {
        let sketch = sketch("running 12 tests\nok\n\n3 passed");
        for text in [
            "running 00 tests",
            "\nok\n",
            "0 passed\n",
            "ok",
            "\nrunning",
        ] {
            assert!(sketch.may_hold(text), "{text}");
        }
        for text in ["running x", "\npassed", "passed.", "3p", "\nno"] {
            assert!(!sketch.may_hold(text), "{text}");
        }
    }

    #[test]
    fn all_texts_of_one_group_must_be_there() {
        let sketch = sketch("Plan: 1 to add\n");
        let may_be = |groups| sketch.may_be(Marks::OneOf(groups));
        assert!(may_be(&[&["none"], &["\nPlan: ", "0 to add"]]));
        assert!(!may_be(&[&["none"], &["\nPlan: ", "destroy"]]));
        assert!(sketch.may_be(Marks::Any) && !sketch.may_be(Marks::Never));
    }

    #[test]
    fn of_a_long_output_both_ends_count() {
        let text = "first\n".to_owned() + &"x\n".repeat(9_000) + "middle\n" + &"y\n".repeat(100);
        let sketch = sketch(&(text + "last\n"));
        assert!(sketch.may_hold("\nfirst\n") && sketch.may_hold("\nlast\n"));
        assert!(!sketch.may_hold("middle"));
    }
}
