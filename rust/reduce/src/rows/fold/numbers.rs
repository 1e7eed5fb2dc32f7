//! The numbers of a line as values, for comparison with other lines.

use std::ops::Range;

use ethos_registry_core::chunk::{chunk_at, digits};

/// How many numbers of a line are compared, and the bytes in which they must be.
pub(super) const NUMBERS: usize = 16;
const NUMBER_BYTES: usize = 512;
/// How many bytes are searched at a time, at most 64.
const BLOCK_BYTES: usize = 32;

/// The separate numbers of a line in order: the first values, and how many numbers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) values: [u32; NUMBERS],
    pub(super) count: usize,
}

impl Numbers {
    pub(super) fn of(line: &str) -> Self {
        let mut numbers = Self::default();
        for (value, _) in values(line) {
            if let Some(place) = numbers.values.get_mut(numbers.count) {
                *place = value;
            }
            numbers.count += 1;
        }
        numbers
    }

    /// One bit for each position at which `other` has a different number.
    pub(super) fn differing(&self, other: &Self) -> u32 {
        let pairs = self.values.iter().zip(&other.values).take(self.count);
        pairs.enumerate().fold(0, |places, (place, (one, other))| {
            places | u32::from(one != other) << place
        })
    }
}

/// The values of the numbers in `line`, truncated to 32 bits, and where each is.
#[inline]
pub(super) fn values(line: &str) -> impl Iterator<Item = (u32, Range<usize>)> {
    let bytes = line.as_bytes();
    let bytes = bytes.get(..NUMBER_BYTES).unwrap_or(bytes);
    let runs = DigitRuns {
        bytes,
        block: 0,
        found: digits_of_block(bytes, 0),
    };
    runs.filter_map(|(start, run)| {
        let (before, behind) = bytes.split_at_checked(start)?;
        let behind = behind.get(run.len()..)?;
        if joins(before.last()) || joins(behind.first()) || is_fraction(before, behind) {
            return None;
        }
        let value = run.iter().fold(0, |value: u32, digit| {
            value
                .wrapping_mul(10)
                .wrapping_add(u32::from(*digit & 0x0F))
        });
        Some((value, start..start + run.len()))
    })
}

/// Whether the byte forms one word with a digit next to it.
fn joins(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether the digits between `before` and `behind` are part of a number with a dot: a measurement, a version or an
/// address.
fn is_fraction(before: &[u8], behind: &[u8]) -> bool {
    matches!(before, [.., b'0'..=b'9', b'.']) || matches!(behind, [b'.', b'0'..=b'9', ..])
}

/// The runs of digits in `bytes`, each with its offset.
struct DigitRuns<'a> {
    bytes: &'a [u8],
    /// The start of the current block, and one bit for each of its remaining digits.
    block: usize,
    found: u64,
}

impl<'a> Iterator for DigitRuns<'a> {
    type Item = (usize, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while self.found == 0 {
                self.block += BLOCK_BYTES;
                if self.block >= self.bytes.len() {
                    return None;
                }
                self.found = digits_of_block(self.bytes, self.block);
            }
            let at = self.found.trailing_zeros() as usize;
            let length = (!(self.found >> at)).trailing_zeros() as usize;
            if at > 0 && at + length == BLOCK_BYTES {
                // The run may continue after the block.
                self.block += at;
                self.found = digits_of_block(self.bytes, self.block);
                continue;
            }
            // The carry clears the whole run.
            self.found &= self.found.wrapping_add(1 << at);
            let start = self.block + at;
            return Some((start, self.bytes.get(start..start + length)?));
        }
    }
}

/// One bit for each digit in the block of `bytes` at `from`.
#[inline]
fn digits_of_block(bytes: &[u8], from: usize) -> u64 {
    let chunks = (0..BLOCK_BYTES).step_by(8);
    chunks.fold(0, |found, at| {
        // One bit of each byte, collected in the highest byte of the product.
        let bits = (digits(chunk_at(bytes, from + at)) >> 7).wrapping_mul(0x0102_0408_1020_4080);
        found | bits >> 56 << at
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_by_themselves() {
        for (line, numbers) in [
            ("", vec![]),
            ("7", vec![7]),
            ("oak 12 of 034. 5.06 s of 1.2.3", vec![12, 34]),
            ("oak12 a1b2 3d 0x1f", vec![]),
            ("10:00:12,345", vec![10, 0, 12, 345]),
            ("\u{e9}7\u{e9}", vec![7]),
        ] {
            let found: Vec<u32> = values(line).map(|(value, _)| value).collect();
            assert_eq!(found, numbers, "{line}");
        }
    }

    #[test]
    fn numbers_are_read_alike_wherever_they_stand_in_a_block() {
        for blanks in 0..3 * BLOCK_BYTES {
            for behind in ["", " ", " oak", "/1", "."] {
                let before = " ".repeat(blanks);
                let line = format!("{before}1234567{behind}");
                let found = values(&line).next().unwrap_or_default();
                assert_eq!(found, (1_234_567, blanks..blanks + 7), "{line}");
            }
        }
    }
}
