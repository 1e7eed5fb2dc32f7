//! Changed lines that differ by their numbers only, told apart by a number each kind has.

use hashbrown::HashMap;

/// Kinds of lines that are counted at most; a table of more would be twice as large.
const KINDS: usize = 14_336;
/// The kind of a line that is not counted.
pub(super) const NO_KIND: u32 = u32::MAX;
/// So many changed lines that differ by numbers only are told by the first and the last.
const MANY: u32 = 6;

const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;

/// How often lines of each kind came.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    index: HashMap<u64, u32>,
    /// How many there are of each kind, and how many of them were asked about.
    counts: Vec<(u32, u32)>,
}

impl Kinds {
    /// Counts a line; gives its kind, or [`NO_KIND`] when there are too many.
    pub(super) fn count(&mut self, line: &str) -> u32 {
        let key = key(line.as_bytes());
        if let Some(kind) = self.index.get(&key).copied() {
            if let Some((count, _)) = self.counts.get_mut(kind as usize) {
                *count += 1;
            }
            return kind;
        }
        let next = u32::try_from(self.counts.len()).unwrap_or(NO_KIND);
        if self.counts.len() >= KINDS {
            return NO_KIND;
        }
        self.index.insert(key, next);
        self.counts.push((1, 0));
        next
    }

    /// Whether others of its kind tell enough; to be asked once for each line, in their order.
    pub(super) fn is_told(&mut self, kind: u32) -> bool {
        let Some((count, seen)) = self.counts.get_mut(kind as usize) else {
            return false;
        };
        *seen += 1;
        *count >= MANY && *seen > 1 && *seen < *count
    }
}

/// A number that lines have in common which differ by numbers only.
///
/// Eight bytes at a time, beginning anew after each number, so that its length does not matter.
fn key(line: &[u8]) -> u64 {
    let mut key = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let (word, bytes) = match rest.split_first_chunk::<8>() {
            Some((word, _)) => (u64::from_le_bytes(*word), 8),
            None => (last_word(rest), rest.len()),
        };
        let digits = digits(word);
        let before = digits.trailing_zeros() as usize / 8;
        if before >= bytes {
            key = mixed(key ^ word);
            rest = rest.get(bytes..).unwrap_or_default();
            continue;
        }
        let mask = (1 << (8 * before)) - 1;
        key = mixed(key ^ (word & mask) ^ 0xFF << 56);
        rest = rest.get(before..).unwrap_or_default();
        let number = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = rest.get(number..).unwrap_or_default();
    }
    key
}

/// Fewer than eight bytes; what is missing is 0.
fn last_word(bytes: &[u8]) -> u64 {
    let shifted = bytes.iter().rev();
    shifted.fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The highest bit of each byte of `word` that is an ASCII digit.
fn digits(word: u64) -> u64 {
    let values = word ^ (EVERY_BYTE * 0x30);
    let above_nine = (values & (EVERY_BYTE * 0x7F)) + EVERY_BYTE * 0x76;
    !(above_nine | values) & (EVERY_BYTE * 0x80)
}

fn mixed(key: u64) -> u64 {
    let product = u128::from(key ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93_u128;
    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_by_numbers_are_of_one_kind_and_no_others() {
        let same = [
            "+    case_1 = calm(2),",
            "+    case_10234567 = calm(987654321),",
            "+    case_12 = calm(0),",
        ];
        for line in same {
            assert_eq!(key(line.as_bytes()), key(same[0].as_bytes()), "{line}");
        }
        for line in [
            "-    case_1 = calm(2),",
            "+    case_1 = calm(2)",
            "+    case_ = calm(2),",
            "+    case_1 = calm(2),2",
            "+   case_1 = calm(2),",
            "+    case_1 = calm(x),",
            "+    \u{e9}ase_1 = calm(2),",
        ] {
            assert_ne!(key(line.as_bytes()), key(same[0].as_bytes()), "{line}");
        }
    }

    #[test]
    fn digits_are_found_wherever_they_stand() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let word = u64::from_le_bytes([b'a'; 8]) & !(0xFF << (8 * at));
                let found = digits(word | u64::from(byte) << (8 * at));
                let expected = u64::from(byte.is_ascii_digit()) << (8 * at + 7);
                assert_eq!(found, expected, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn of_many_alike_the_first_and_the_last_are_told() {
        let mut kinds = Kinds::default();
        let of: Vec<u32> = (0..7).map(|n| kinds.count(&format!("+row {n}"))).collect();
        let told: Vec<bool> = of.into_iter().map(|kind| kinds.is_told(kind)).collect();
        assert_eq!(told, [false, true, true, true, true, true, false]);
        let odd = kinds.count("+other");
        assert!(!kinds.is_told(odd) && !kinds.is_told(NO_KIND));
    }
}
