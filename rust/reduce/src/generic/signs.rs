//! Collects the features of a line in one pass; most checks need nothing else.

use super::words::{BAD, WORDS};
use ethos_registry_core::chunk::{chunk_at, digits, each};

/// The features of a line.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each tells of a sign of its own"
)]
pub(super) struct Signs {
    /// It contains a digit.
    pub(super) has_digit: bool,
    /// A digit follows a `:` or a `(`.
    pub(super) numbered: bool,
    /// A digit follows ` line `.
    pub(super) lined: bool,
    /// A word is the code of a rule.
    pub(super) coded: bool,
    /// The worst meaning of a word.
    pub(super) told: Option<usize>,
}

impl Signs {
    /// The features of `line`. Eight bytes are read at a time, and most words are only checked where they begin.
    pub(super) fn of(line: &str) -> Self {
        let bytes = line.as_bytes();
        let mut signs = Self::default();
        let mut worst = usize::MAX;
        // The classes of the previous byte, in the highest bit of the lowest byte.
        let (mut letter_before, mut lower_before, mut digit_before) = (0, 0, 0);
        for at in (0..bytes.len()).step_by(8) {
            let chunk = chunk_at(bytes, at);
            let letters = letters(chunk);
            // The bit that distinguishes lower from upper case, moved to the highest bit.
            let lower = letters & chunk << 2;
            let digits = digits(chunk);
            // Words also begin between two letters: `KeyError`.
            let mut words = letters & !(letters << u8::BITS | letter_before)
                | letters & !lower & (lower << u8::BITS | lower_before);
            while words != 0 && worst != BAD {
                let word = at + place_of(words);
                if may_tell(bytes, word) {
                    worst = worst.min(told_at(bytes, word, worst));
                }
                words &= words - 1;
            }
            let mut numbers = digits & !(digits << u8::BITS | digit_before);
            signs.has_digit |= numbers != 0;
            while numbers != 0 {
                signs.number(bytes, at + place_of(numbers));
                numbers &= numbers - 1;
            }
            letter_before = letters >> 56;
            lower_before = lower >> 56;
            digit_before = digits >> 56;
        }
        signs.told = (worst < usize::MAX).then_some(worst);
        signs
    }

    /// Records the number that begins at `at`.
    fn number(&mut self, bytes: &[u8], at: usize) {
        match at.checked_sub(1).and_then(|at| bytes.get(at)) {
            Some(b':' | b'(') => self.numbered = true,
            Some(b' ' | b'\t') => self.lined |= ends_lined(bytes, at),
            Some(b'A'..=b'Z') => self.coded |= is_code(bytes, at),
            _ => {}
        }
    }
}

/// The index of the byte with the lowest marker, of eight bytes.
fn place_of(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// The highest bit of each byte of `chunk` that is an ASCII letter.
fn letters(chunk: u64) -> u64 {
    let small = (chunk | each(0x20)) & each(0x7F);
    let from_a = small + each(0x80 - b'a');
    let behind_z = small + each(0x80 - b'z' - 1);
    from_a & !behind_z & !chunk & each(0x80)
}

/// Whether the number at `at`, after a capital letter, ends the code of a rule: `E501`, `SC2086`, `admin.E003`,
/// `[W12]`.
fn is_code(bytes: &[u8], at: usize) -> bool {
    let (before, from) = bytes.split_at_checked(at).unwrap_or_default();
    let number = from.iter().take(6).take_while(|byte| byte.is_ascii_digit());
    let number = number.count();
    let name = before.iter().rev().take(6);
    let name = name.take_while(|byte| byte.is_ascii_uppercase()).count();
    let parts = |byte: &u8| matches!(byte, b' ' | b'\t' | b'(' | b')' | b'[' | b']' | b':');
    // A comma without a blank after it separates the cells of a row of data.
    let behind = from.get(number..).unwrap_or_default();
    let comma = behind.first() == Some(&b',') && behind.get(1).is_none_or(|byte| *byte == b' ');
    let first = before.len().checked_sub(name + 1);
    let begins = first
        .and_then(|at| before.get(at))
        .is_none_or(|byte| parts(byte) || *byte == b'.');
    let is_named = || first.is_some_and(|at| names_data(before.get(..=at).unwrap_or_default()));
    (2..=5).contains(&number)
        && (1..=5).contains(&name)
        && begins
        && (comma || behind.first().is_none_or(parts))
        && !is_named()
}

/// Whether `before` ends with a word that the code after it identifies, as in `shelf A18`. Linters print a location, a
/// symbol or a severity there.
fn names_data(before: &[u8]) -> bool {
    const SAID: [&[u8]; 8] = [
        b"error", b"warning", b"info", b"note", b"hint", b"style", b"rule", b"code",
    ];
    let Some(text) = before.strip_suffix(b" ") else {
        return false;
    };
    let letters = text.iter().rev().take(10);
    let letters = letters.take_while(|byte| byte.is_ascii_lowercase()).count();
    let word = text.get(text.len() - letters..).unwrap_or_default();
    let stands_alone = |at: usize| matches!(text.get(at), Some(b' ' | b'\t'));
    let is_word = (text.len() - letters)
        .checked_sub(1)
        .is_none_or(stands_alone);
    letters > 1 && is_word && !SAID.contains(&word)
}

/// Whether ` line ` ends at `at`.
fn ends_lined(bytes: &[u8], at: usize) -> bool {
    bytes
        .get(..at)
        .is_some_and(|before| before.ends_with(b" line "))
}

/// The meaning of the word at `at` if it is worse than `worst`.
fn told_at(bytes: &[u8], at: usize, worst: usize) -> usize {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let mut number = HEADS.get(group(byte(at), byte(at + 1))).copied();
    let mut told = worst;
    while let Some(at_word) = number.and_then(|number| usize::from(number).checked_sub(1)) {
        if let Some(&(word, tells)) = WORDS.get(at_word)
            && tells < told
            && is_word(bytes, at, word)
        {
            told = tells;
        }
        number = NEXTS.get(at_word).copied();
    }
    told
}

/// An index of words by their first two letters: for each group the number of its first word, counted from 1, and for
/// each word the number of the next in its group. 0 means none.
static HEADS: [u8; GROUPS] = groups().0;
static NEXTS: [u8; WORDS.len()] = groups().1;
/// Must be a power of two.
const GROUPS: usize = 128;

/// The group of words that begin with these letters, in any case.
const fn group(first: u8, second: u8) -> usize {
    ((first % 32) as usize * 7 + (second % 32) as usize) % GROUPS
}

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a constant function has no other way; out of bounds would not compile"
)]
const fn groups() -> ([u8; GROUPS], [u8; WORDS.len()]) {
    assert!(WORDS.len() < 256, "too many words");
    let mut heads = [0; GROUPS];
    let mut nexts = [0; WORDS.len()];
    let mut at = WORDS.len();
    while at > 0 {
        let word = WORDS[at - 1].0.as_bytes();
        let group = group(word[0], word[1]);
        nexts[at - 1] = heads[group];
        heads[group] = at as u8;
        at -= 1;
    }
    (heads, nexts)
}

/// Whether `word` is at `at`, in any case, and no letter follows it.
fn is_word(bytes: &[u8], at: usize, word: &str) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.get(..word.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
        && !rest.get(word.len()).is_some_and(u8::is_ascii_alphabetic)
}

/// Places for the beginnings of words; must be a power of two.
const PLACES: usize = 16_384;
/// The first four bytes of each word, in any case, hashed from their low bits, which also distinguish blanks.
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

/// The place of four bytes, ignoring case.
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
        // Words with three letters may be followed by anything.
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
        Signs::of(line).told
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
        for (line, coded) in [
            ("[SC2086]", true),
            ("admin.E003: no", true),
            ("E5", false),
            ("ABCDEF12", false),
            ("E123456", false),
            ("E501, W291", true),
            ("E501,oak,3", false),
            ("oak,E501", false),
            ("E501x", false),
            ("xE501", false),
            ("crate 7  shelf A18 ok", false),
            ("3:1 error E501 too long", true),
            ("oak.py E501 too long", true),
            ("2026-11-22T10:30:15", false),
        ] {
            assert_eq!(signs(line).1, coded, "{line}");
        }
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
