//! What stands anywhere in a line, read in one pass: most questions about it are answered by that.

use super::words::WORDS;
use crate::chunk::{blanks, capitals, chunk_at, digits, equal, letters};

/// The signs of a line.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each tells of a sign of its own"
)]
pub(super) struct Signs {
    /// There is a digit.
    pub(super) has_digit: bool,
    /// A digit follows a `:` or a `(`.
    pub(super) numbered: bool,
    /// A digit follows ` line `.
    pub(super) lined: bool,
    /// Two digits follow a capital letter.
    pub(super) coded: bool,
    /// Where the first word begins that may tell something.
    pub(super) word: Option<usize>,
}

impl Signs {
    pub(super) fn of(line: &str) -> Self {
        let bytes = line.as_bytes();
        let mut signs = Self::default();
        let (mut before, mut letters_before) = (0, 0);
        for at in (0..bytes.len()).step_by(8) {
            let chunk = chunk_at(bytes, at);
            let digits = digits(chunk);
            if digits != 0 {
                signs.digits(bytes, at, (before, chunk), digits);
            }
            if signs.word.is_none() {
                let letters = letters(chunk);
                let last = letters << 8 | letters_before >> 56;
                let small = last & (chunk << 8 | before >> 56) << 2;
                let mut begins = letters & (!last | capitals(chunk, letters) & small);
                while begins != 0 {
                    let word = at + begins.trailing_zeros() as usize / 8;
                    if may_tell(bytes, word) {
                        signs.word = Some(word);
                        break;
                    }
                    begins &= begins - 1;
                }
                letters_before = letters;
            }
            before = chunk;
        }
        signs
    }

    /// What the `digits` of a chunk at `at` tell, with the chunk before.
    fn digits(&mut self, bytes: &[u8], at: usize, (before, chunk): (u64, u64), found: u64) {
        self.has_digit = true;
        let last = chunk << 8 | before >> 56;
        let before_last = chunk << 16 | before >> 48;
        self.numbered |= found & (equal(last, b':') | equal(last, b'(')) != 0;
        self.coded |= found & digits(last) & capitals(before_last, letters(before_last)) != 0;
        let mut behind = found & blanks(last) & equal(before_last, b'e');
        while behind != 0 {
            let digit = at + behind.trailing_zeros() as usize / 8;
            self.lined |= ends_lined(bytes, digit);
            behind &= behind - 1;
        }
    }
}

/// Whether ` line ` ends at `at`.
fn ends_lined(bytes: &[u8], at: usize) -> bool {
    bytes
        .get(..at)
        .is_some_and(|before| before.ends_with(b" line "))
}

/// The worst that a word of `line` tells, the first of them beginning at `from` or later.
pub(super) fn told_by_words(line: &str, from: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    let before = from.checked_sub(1).and_then(|at| bytes.get(at));
    let mut last = before.copied().unwrap_or_default();
    let mut worst: Option<usize> = None;
    for (at, &here) in bytes.iter().enumerate().skip(from) {
        // Also between two letters: `KeyError`.
        let hump = last.is_ascii_lowercase() && here.is_ascii_uppercase();
        let begins = here.is_ascii_alphabetic() && (hump || !last.is_ascii_alphabetic());
        if begins && may_tell(bytes, at) {
            for (word, told) in WORDS {
                if worst.is_none_or(|worst| told < worst) && is_word(bytes, at, word) {
                    worst = Some(told);
                }
            }
        }
        if worst == Some(super::words::BAD) {
            break;
        }
        last = here;
    }
    worst
}

/// Whether `word` stands at `at`, in any case, and no letter follows it.
fn is_word(bytes: &[u8], at: usize, word: &str) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.get(..word.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
        && !rest.get(word.len()).is_some_and(u8::is_ascii_alphabetic)
}

/// Places for the beginnings of words; a power of two.
const PLACES: usize = 16_384;
/// Three bytes begin a word, in any case: of each the low bits, which also hold blanks apart.
static BEGINNINGS: [u64; PLACES / 64] = beginnings();

/// Whether one of the words may begin at `at`.
fn may_tell(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    let place = rest.first_chunk().map_or_else(
        || {
            let byte = |offset: usize| rest.get(offset).copied().unwrap_or_default();
            place([byte(0), byte(1), byte(2), 0])
        },
        |four| place(*four),
    );
    BEGINNINGS
        .get(place / 64)
        .is_some_and(|word| word >> (place % 64) & 1 == 1)
}

/// The place of four bytes, letters of both cases taken for one another.
const fn place(bytes: [u8; 4]) -> usize {
    let folded = u32::from_le_bytes(bytes) & 0x1F1F_1F1F;
    let mixed = folded.wrapping_mul(0x9E37_79B1);
    (mixed >> (u32::BITS - PLACES.ilog2())) as usize
}

#[expect(
    clippy::indexing_slicing,
    reason = "a constant function has no other way; out of bounds would not compile"
)]
const fn beginnings() -> [u64; PLACES / 64] {
    let mut places = [0; PLACES / 64];
    let mut at = 0;
    while at < WORDS.len() {
        let word = WORDS[at].0.as_bytes();
        // A word of three letters may be followed by anything.
        let mut fourth = 0_u8;
        while fourth < 32 {
            let byte = if word.len() > 3 { word[3] } else { fourth };
            let place = place([word[0], word[1], word[2], byte]);
            places[place / 64] |= 1 << (place % 64);
            fourth += 1;
        }
        at += 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::words::{BAD, VERDICT, WARNING};
    use super::*;

    fn told(line: &str) -> Option<usize> {
        let from = Signs::of(line).word?;
        told_by_words(line, from)
    }

    #[test]
    fn whole_words_tell_in_any_case() {
        for (line, expected) in [
            ("KeyError: 'a'", Some(BAD)),
            ("an ERROR", Some(BAD)),
            ("no such file", Some(BAD)),
            ("can't open", Some(BAD)),
            ("Ran 3 tests", Some(VERDICT)),
            ("ran", Some(VERDICT)),
            ("tests passed with a Warning", Some(VERDICT)),
            ("a warning, then: failed", Some(BAD)),
            ("npm warn", Some(WARNING)),
            ("terrors of the sea", None),
            ("errorneous", None),
            ("error_code", Some(BAD)),
            ("no suchlike", None),
            ("", None),
            ("\u{e9}rror", None),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
        for (word, expected) in WORDS {
            assert_eq!(told(word), Some(expected), "{word}");
        }
    }

    #[test]
    fn numbers_and_codes_are_seen() {
        let signs = |line: &str| {
            let signs = Signs::of(line);
            (signs.numbered, signs.coded, signs.has_digit)
        };
        assert_eq!(signs("a.py:3"), (true, false, true));
        assert_eq!(signs("E501 no"), (false, true, true));
        assert_eq!(signs("a: b (c) E5"), (false, false, true));
        assert_eq!(signs("plain"), (false, false, false));
        for blanks in 0..17 {
            let line = |text: &str| " ".repeat(blanks) + text;
            for (text, expected) in [
                ("a.py:3", (true, false, true)),
                ("f(3)", (true, false, true)),
                ("E50 no", (false, true, true)),
                ("e50 E5 no", (false, false, true)),
            ] {
                assert_eq!(signs(&line(text)), expected, "{text}");
            }
            assert!(Signs::of(&line("in line 3")).lined);
            assert!(!Signs::of(&line("inline 3")).lined);
            assert_eq!(told(&line("KeyError")), Some(BAD));
            assert_eq!(told(&line("Keyerror")), None);
        }
    }
}
