//! What stands anywhere in a line, read in one pass: most questions about it are answered by that.

use super::words::WORDS;

const DIGIT: u8 = 1;
const UPPER: u8 = 2;
const LOWER: u8 = 4;
/// `:` and `(`, which stand before line numbers.
const MARK: u8 = 8;
const BLANK: u8 = 16;
const LETTER: u8 = UPPER | LOWER;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        let class = match byte {
            b'0'..=b'9' => DIGIT,
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b':' | b'(' => MARK,
            b' ' | b'\t' => BLANK,
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

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or_default()
}

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
        let mut word = usize::MAX;
        let mut last = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let here = class(byte);
            if here & DIGIT != 0 {
                let end = run_end(bytes, at, DIGIT);
                signs.has_digit = true;
                signs.numbered |= last & MARK != 0;
                signs.lined |= last & BLANK != 0 && ends_lined(bytes, at);
                signs.coded |= last & UPPER != 0 && end - at > 1;
                at = end;
                last = DIGIT;
                continue;
            }
            // Also between two letters: `KeyError`.
            let begins = here & LETTER != 0
                && (last & LETTER == 0 || last & LOWER != 0 && here & UPPER != 0);
            if begins && word == usize::MAX && may_tell(bytes, at) {
                word = at;
            }
            at += 1;
            last = here;
            if here & LOWER != 0 {
                at = run_end(bytes, at - 1, LOWER);
            }
        }
        signs.word = (word < usize::MAX).then_some(word);
        signs
    }
}

/// Whether `text` ends with the time that all of it took: `3 examples in 0.942 seconds`.
pub(super) fn ends_with_time(text: &str) -> bool {
    let spent = text.strip_suffix(" seconds");
    spent
        .and_then(|text| text.rsplit_once(" in "))
        .is_some_and(|(_, number)| {
            number.starts_with(|sign: char| sign.is_ascii_digit())
                && number
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'.')
        })
}

/// Whether `text` is a heading below the first of a text in Markdown; one sign alone begins comments too.
pub(super) fn is_heading(text: &str) -> bool {
    ["## ", "### "].iter().any(|signs| text.starts_with(signs))
}

/// Whether `text` sets how long something may take: `timeout: 30m`, `connect_timeout=5`.
pub(super) fn is_limit(text: &str) -> bool {
    let set = text.split_once([':', '=']);
    set.is_some_and(|(name, value)| {
        let (name, value) = (name.trim(), value.trim());
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        name.bytes().all(plain)
            && (name.starts_with("timeout") || name.ends_with("timeout"))
            && value.starts_with(|sign: char| sign.is_ascii_digit())
            && value.bytes().all(plain)
    })
}

/// Whether `text` is the head of what a playbook does next: `TASK [oak : read] ****`.
pub(super) fn is_play(text: &str) -> bool {
    let begins = ["TASK [", "PLAY [", "RUNNING HANDLER ["];
    text.ends_with("***") && begins.iter().any(|begin| text.starts_with(begin))
}

/// Where the bytes end that follow `at` and are all of one of `classes`.
fn run_end(bytes: &[u8], at: usize, classes: u8) -> usize {
    let mut end = at + 1;
    while bytes
        .get(end)
        .is_some_and(|byte| class(*byte) & classes != 0)
    {
        end += 1;
    }
    end
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
            let first = here.to_ascii_lowercase();
            let alike = WORDS
                .iter()
                .filter(|(word, _)| word.as_bytes().first() == Some(&first));
            for &(word, told) in alike {
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
