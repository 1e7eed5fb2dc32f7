//! What stands anywhere in a line, read in one pass: most questions about it are answered by that.

use super::words::WORDS;

const DIGIT: u16 = 1;
const UPPER: u16 = 2;
const LOWER: u16 = 4;
/// `:` and `(`, which stand before line numbers.
const MARK: u16 = 8;
pub(super) const BLANK: u16 = 16;
/// `|` and all that is not ASCII.
pub(super) const BAR: u16 = 32;
pub(super) const PERCENT: u16 = 64;
pub(super) const BRACKET: u16 = 128;
/// The first byte of bars and of many drawn signs.
pub(super) const DRAWN: u16 = 256;
const LETTER: u16 = UPPER | LOWER;

static CLASSES: [u16; 256] = classes();

const fn classes() -> [u16; 256] {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        let class = match byte {
            b'0'..=b'9' => DIGIT,
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b':' | b'(' => MARK,
            b' ' | b'\t' => BLANK,
            b'%' => PERCENT,
            b']' => BRACKET,
            0xE2 => BAR | DRAWN,
            b'|' | 0x80.. => BAR,
            _ => 0,
        };
        // A constant function has no other way to a place of an array; a byte is never beyond it.
        #[expect(clippy::indexing_slicing, reason = "256 places, one for each byte")]
        {
            classes[byte as usize] = class;
        }
        if byte == u8::MAX {
            return classes;
        }
        byte += 1;
    }
}

fn class(byte: u8) -> u16 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or_default()
}

/// The signs of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signs {
    any: u16,
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
        let mut word = usize::MAX;
        let (mut before_last, mut last) = (0, 0);
        for (at, &byte) in bytes.iter().enumerate() {
            let here = class(byte);
            signs.any |= here;
            if here & DIGIT != 0 {
                signs.numbered |= last & MARK != 0;
                signs.lined |= last & BLANK != 0 && ends_lined(bytes, at);
                signs.coded |= last & DIGIT != 0 && before_last & UPPER != 0;
            }
            let begins = here & LETTER != 0 && (last & LETTER == 0 || is_hump(last, here));
            if begins && word == usize::MAX && may_tell(bytes, at) {
                word = at;
            }
            (before_last, last) = (last, here);
        }
        signs.word = (word < usize::MAX).then_some(word);
        signs
    }

    /// Whether there is a byte of one of `classes`.
    pub(super) fn has(self, classes: u16) -> bool {
        self.any & classes != 0
    }

    pub(super) fn has_digit(self) -> bool {
        self.has(DIGIT)
    }
}

/// Whether ` line ` ends at `at`.
fn ends_lined(bytes: &[u8], at: usize) -> bool {
    bytes
        .get(..at)
        .is_some_and(|before| before.ends_with(b" line "))
}

/// Whether a word begins between two letters: `KeyError`.
fn is_hump(last: u16, here: u16) -> bool {
    last & LOWER != 0 && here & UPPER != 0
}

/// The worst that a word of `line` tells, the first of them beginning at `from` or later.
pub(super) fn told_by_words(line: &str, from: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    let before = from.checked_sub(1).and_then(|at| bytes.get(at));
    let mut last = before.map_or(0, |byte| class(*byte));
    let mut worst: Option<usize> = None;
    for at in from..bytes.len() {
        let here = bytes.get(at).map_or(0, |byte| class(*byte));
        let begins = here & LETTER != 0 && (last & LETTER == 0 || is_hump(last, here));
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
    let byte = |offset: usize| bytes.get(at + offset).copied().unwrap_or_default();
    let place = place([byte(0), byte(1), byte(2), byte(3)]);
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
        let signs = |line| {
            let signs = Signs::of(line);
            (signs.numbered, signs.coded, signs.has_digit())
        };
        assert_eq!(signs("a.py:3"), (true, false, true));
        assert_eq!(signs("E501 no"), (false, true, true));
        assert_eq!(signs("a: b (c) E5"), (false, false, true));
        assert_eq!(signs("plain"), (false, false, false));
    }
}
