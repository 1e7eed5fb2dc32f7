//! Hashes of text that are equal in every process; some of them ignore numbers or digits.

use ethos_registry_core::chunk::{digits, equal, few};

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
/// What a number is hashed as.
const NUMBER: u64 = 0xFF << 56;

/// Mixes one more value into `hash`. Both halves of the product are used, so that every byte affects all bits.
#[inline]
pub(crate) fn mixed(hash: u64, value: u64) -> u64 {
    let product = u128::from(hash ^ value) * u128::from(MULTIPLIER);
    #[expect(clippy::cast_possible_truncation, reason = "each half has 64 bits")]
    {
        (product >> u64::BITS) as u64 ^ product as u64
    }
}

/// The hash of `text`.
pub(crate) fn fingerprint(text: &str) -> u64 {
    fingerprint_after(0, text.as_bytes())
}

/// Continues the hash `before` with `bytes`.
pub(crate) fn fingerprint_after(before: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    // The last bytes as one number; some are read twice when there are more than eight.
    let last = match bytes.last_chunk() {
        Some(last) => u64::from_le_bytes(*last),
        None => few(rest),
    };
    let hash = words
        .iter()
        .fold(before, |hash, word| mixed(hash, u64::from_le_bytes(*word)));
    mixed(mixed(hash, last), bytes.len() as u64)
}

/// A hash that is equal for lines that differ only in their numbers.
///
/// The state restarts after each number, so the length of a number does not matter.
pub(crate) fn without_numbers(line: &str) -> u64 {
    let mut rest = line.as_bytes();
    let mut hash = 0;
    let mut parts = 0;
    while !rest.is_empty() {
        let (word, bytes) = match rest.first_chunk() {
            Some(word) => (u64::from_le_bytes(*word), 8),
            None => (few(rest), rest.len()),
        };
        let before = digits(word).trailing_zeros() as usize / 8;
        parts += 1;
        if before >= bytes {
            hash = mixed(hash, word);
            rest = rest.get(bytes..).unwrap_or_default();
            continue;
        }
        let kept = word & ((1 << (8 * before)) - 1);
        hash = mixed(hash, kept ^ NUMBER);
        rest = rest.get(before..).unwrap_or_default();
        let number = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = rest.get(number..).unwrap_or_default();
    }
    mixed(hash, parts)
}

/// A hash that is equal for lines of the same length that differ only in digits, except digits before an `x`. All of
/// them have numbers in the same words.
pub(crate) fn without_digits(line: &str) -> u64 {
    let bytes = line.as_bytes();
    let (words, _) = bytes.as_chunks::<8>();
    let mut hash = bytes.len() as u64;
    let mut before = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        if word & 0xFF == u64::from(b'x') {
            hash = mixed(hash, before >> 56);
        }
        hash = mixed(hash, calm_digits(word));
        before = word;
    }
    // The last bytes; some are read twice when there are more than eight.
    let last = match bytes.last_chunk() {
        Some(last) => u64::from_le_bytes(*last),
        None => few(bytes),
    };
    mixed(hash, calm_digits(last))
}

/// `word` with each digit set to zero, except digits before an `x`.
fn calm_digits(word: u64) -> u64 {
    let digits = digits(word) & !(equal(word, b'x') >> u8::BITS);
    word & !((digits >> 7) * 0x0F)
}

/// A hash of the positions of the zeros among the numbers in `line`: in a count, zero means something else than any other number.
pub(crate) fn noughts(line: &str) -> u64 {
    let mut hash = 0;
    let mut rest = line.as_bytes();
    while let Some(at) = rest.iter().position(u8::is_ascii_digit) {
        let number = rest.get(at..).unwrap_or_default();
        let part = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
        let length = number.iter().take_while(part).count();
        let (number, behind) = number.split_at_checked(length).unwrap_or_default();
        let is_nought = number.iter().all(|byte| matches!(byte, b'0' | b'.'));
        hash = mixed(hash, u64::from(is_nought) + 1);
        rest = behind;
    }
    hash
}

/// Whether `line` ends with a separate number: `oak 7`, `rc=1`, `status: 3`.
pub(crate) fn ends_in_number(line: &str) -> bool {
    let text = line.trim_end_matches(|sign: char| sign.is_ascii_digit());
    text.len() < line.len() && text.ends_with([' ', '=', ':', '\t'])
}

/// Whether the number at the end of `line` is zero.
pub(crate) fn ends_in_nought(line: &str) -> bool {
    let mut ending = line.bytes().rev();
    ending.next() == Some(b'0') && ending.next().is_none_or(|byte| !byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_fingerprint_and_others_another() {
        let texts = [
            "",
            "a",
            "ab",
            "ba",
            "\0a",
            "oak leaf",
            "oak leaf\0",
            "oak leaf oak leaf",
            "oak leaf oak lea",
        ];
        for (at, one) in texts.iter().enumerate() {
            for (other_at, other) in texts.iter().enumerate() {
                assert_eq!(fingerprint(one) == fingerprint(other), at == other_at);
            }
        }
    }

    #[test]
    fn what_differs_at_the_end_of_eight_bytes_is_not_undone_by_the_next_eight() {
        let mut known = std::collections::HashSet::new();
        for last in 'a'..='z' {
            for next in 'a'..='z' {
                for after in 'a'..='z' {
                    let text = format!("oak lea{last}o{next}{after}f oak leaf");
                    assert!(known.insert(fingerprint(&text)), "{text}");
                }
            }
        }
    }

    #[test]
    fn lines_that_differ_by_numbers_are_the_same_and_no_others() {
        let first = without_numbers("+    case_1 = calm(2),");
        for line in [
            "+    case_10234567 = calm(987654321),",
            "+    case_12 = calm(0),",
        ] {
            assert_eq!(without_numbers(line), first, "{line}");
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
            assert_ne!(without_numbers(line), first, "{line}");
        }
    }

    #[test]
    fn some_are_not_told_as_none() {
        let some = noughts("oak 12: 3 knots in 1.5 s");
        assert_eq!(noughts("oak 7: 40 knots in 0.2 s"), some);
        for line in [
            "oak 12: 0 knots in 1.5 s",
            "oak 0: 3 knots in 1.5 s",
            "oak 12: 3 knots in 0.00 s",
        ] {
            assert_ne!(noughts(line), some, "{line}");
        }
    }

    #[test]
    fn lines_of_one_length_that_differ_in_digits_are_the_same_and_no_others() {
        let first = without_digits("case 12345 of 0x1f: calm 77");
        for line in ["case 00000 of 0x9f: calm 10", "case 99999 of 0x0f: calm 01"] {
            assert_eq!(without_digits(line), first, "{line}");
        }
        for line in [
            "case 12345 of 1x1f: calm 77",
            "case 12345 of 0x1f: calm 7",
            "case 1234a of 0x1f: calm 77",
            "case 12345 of 0x1f: calm 7 ",
            "",
        ] {
            assert_ne!(without_digits(line), first, "{line}");
        }
        for blanks in 0..9 {
            let line = |number: &str| " ".repeat(blanks) + number + "x12 and so on";
            assert_ne!(without_digits(&line("0")), without_digits(&line("1")));
        }
    }
}
