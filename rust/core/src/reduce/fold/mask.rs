//! What lines have in common, as numbers: their masks. The same in every process.

use crate::chunk::{blanks, chunk_at};

/// Words that count in a coarse mask, and the bytes in which they must stand.
pub(super) const COARSE_WORDS: usize = 5;
const COARSE_BYTES: usize = 48;
/// Only this much of a line counts in its shape.
const SHAPE_BYTES: usize = 200;
/// A run of hexadecimal digits with a decimal one among them is a number from this length on.
const HEX_DIGITS: usize = 4;

const DIGIT: u8 = 1;
const HEX: u8 = 2;
const WORD: u8 = 4;
const BLANK: u8 = 8;
/// Letters that may stand in a number: those of hexadecimal ones and `x`.
const JOINING: u8 = 16;

/// What each byte can be part of.
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        let mut class = 0;
        if byte.is_ascii_digit() {
            class |= DIGIT | HEX;
        }
        if byte.is_ascii_hexdigit() {
            class |= HEX;
        }
        if byte.is_ascii_alphanumeric() || byte >= 0x80 {
            class |= WORD;
        }
        if byte == b' ' || byte == b'\t' {
            class |= BLANK;
        }
        if byte.is_ascii_hexdigit() && !byte.is_ascii_digit() || byte == b'x' {
            class |= JOINING;
        }
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

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const SEED: u64 = 0x51_7C_C1_B7_27_22_0A_95;

fn mixed(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(MULTIPLIER)
}

/// What a line is without its numbers: equal for lines that differ only in numbers and in how many
/// blanks stand in a row.
pub(in crate::reduce) fn mask(line: &str) -> u64 {
    masked(line.as_bytes())
}

/// Of what kinds of words and signs the beginning of a line is made.
pub(in crate::reduce) fn shape_mask(line: &str) -> u64 {
    let bytes = line.as_bytes();
    let mut hash = SEED;
    let mut at = 0;
    let mut last = 0_u64;
    while let Some(&byte) = bytes.get(at).filter(|_| at < SHAPE_BYTES) {
        let value = if class(byte) & WORD != 0 {
            let word = bytes.get(at..).unwrap_or_default();
            let mut all = 0;
            let length = word
                .iter()
                .take_while(|byte| {
                    let kind = class(**byte);
                    all |= kind;
                    kind & WORD != 0
                })
                .count();
            at += length;
            u64::from(all & DIGIT) + 1
        } else {
            at += 1;
            u64::from(byte) + 3
        };
        if value != last {
            hash = mixed(hash, value);
        }
        last = value;
    }
    hash
}

/// The same for its first word.
pub(in crate::reduce) fn first_word_mask(line: &str) -> u64 {
    let line = line.trim_start();
    let end = line.find([' ', '\t', ':', '=', '(']).unwrap_or(line.len());
    mask(line.get(..end).unwrap_or_default())
}

/// The same for its first `words`.
pub(in crate::reduce) fn coarse_mask(line: &str, words: usize) -> u64 {
    let bytes = line.trim_start().as_bytes();
    let bytes = bytes.get(..COARSE_BYTES).unwrap_or(bytes);
    let end = gap(bytes, words).unwrap_or(bytes.len());
    masked(bytes.get(..end).unwrap_or(bytes)).rotate_left(1)
}

/// Where the gap of that number begins; the first is number 1, and 0 is that too.
fn gap(bytes: &[u8], number: usize) -> Option<usize> {
    let mut left = number.max(1);
    let mut before = 0;
    for at in (0..bytes.len()).step_by(8) {
        let blanks = blanks(chunk_at(bytes, at));
        let mut gaps = blanks & !(blanks << u8::BITS | before >> 56);
        while gaps != 0 {
            left -= 1;
            if left == 0 {
                return Some(at + gaps.trailing_zeros() as usize / 8);
            }
            gaps &= gaps - 1;
        }
        before = blanks;
    }
    None
}

/// The hash of a text that comes byte by byte, the same in every process; bytes can be taken back.
#[derive(Clone, Copy)]
struct Hasher(u64);

impl Hasher {
    fn push(&mut self, byte: u8) {
        let Self(hash) = *self;
        *self = Self(hash.wrapping_mul(MULTIPLIER).wrapping_add(value(byte)));
    }

    /// Forgets `byte`, the last one.
    fn take_back(&mut self, byte: u8) {
        let Self(hash) = *self;
        *self = Self(hash.wrapping_sub(value(byte)).wrapping_mul(DIVIDER));
    }

    fn finish(self) -> u64 {
        let Self(hash) = self;
        let mixed = (hash ^ hash >> 32).wrapping_mul(MULTIPLIER);
        mixed ^ mixed >> 32
    }
}

/// What undoes a multiplication by [`MULTIPLIER`].
const DIVIDER: u64 = {
    let mut divider = MULTIPLIER;
    let mut bits = 3;
    while bits < u64::BITS {
        // Each step doubles the bits that are right.
        let error = MULTIPLIER.wrapping_mul(divider);
        divider = divider.wrapping_mul(2_u64.wrapping_sub(error));
        bits *= 2;
    }
    divider
};

/// What each byte counts for: numbers that have nothing to do with one another.
static VALUES: [u64; 256] = values();

#[expect(clippy::indexing_slicing, reason = "256 places, one for each byte")]
const fn values() -> [u64; 256] {
    let mut values = [0; 256];
    let mut state = SEED;
    let mut byte = 0;
    while byte < 256 {
        state = state.wrapping_add(MULTIPLIER);
        let once = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let twice = (once ^ once >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        values[byte] = twice ^ twice >> 31;
        byte += 1;
    }
    values
}

fn value(byte: u8) -> u64 {
    VALUES.get(usize::from(byte)).copied().unwrap_or_default()
}

fn masked(line: &[u8]) -> u64 {
    let mut hasher = Hasher(SEED);
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        let kind = class(byte);
        if kind & (DIGIT | BLANK) == 0 {
            hasher.push(byte);
            at += 1;
        } else if kind & BLANK != 0 {
            hasher.push(byte);
            at = run_end(line, at, BLANK);
        } else {
            at = push_number(line, at, &mut hasher);
        }
    }
    hasher.finish()
}

/// Where the bytes end that follow `at` and are all of `kind`.
fn run_end(line: &[u8], at: usize, kind: u8) -> usize {
    let mut end = at + 1;
    while line.get(end).is_some_and(|byte| class(*byte) & kind != 0) {
        end += 1;
    }
    end
}

/// Adds the number at `at`, or the word that it is a part of when letters beside it may belong to the number;
/// what was added of that word is taken back. Where that ends.
fn push_number(line: &[u8], at: usize, hasher: &mut Hasher) -> usize {
    let end = run_end(line, at, DIGIT);
    let before = |at: usize| at.checked_sub(1).and_then(|at| line.get(at)).copied();
    let joins = |byte: Option<u8>| byte.is_some_and(|byte| class(byte) & JOINING != 0);
    if !joins(before(at)) && !joins(line.get(end).copied()) {
        hasher.push(b'0');
        return end;
    }
    let mut start = at;
    let mut in_number = false;
    while let Some(byte) = before(start).filter(|byte| class(*byte) & WORD != 0) {
        let is_digit = class(byte) & DIGIT != 0;
        if !is_digit {
            hasher.take_back(byte);
        } else if !in_number {
            hasher.take_back(b'0');
        }
        in_number = is_digit;
        start -= 1;
    }
    let (length, all) = word(line.get(start..).unwrap_or_default());
    let word = line.get(start..start + length).unwrap_or_default();
    if is_number(word, all) {
        hasher.push(b'0');
    } else {
        push_name(word, hasher);
    }
    start + length
}

/// How long the word is with which `bytes` begin, and what all of its bytes are.
fn word(bytes: &[u8]) -> (usize, u8) {
    let mut all = WORD | HEX;
    for (at, byte) in bytes.iter().enumerate() {
        let kind = class(*byte);
        if kind & WORD == 0 {
            return (at, all);
        }
        all &= kind;
    }
    (bytes.len(), all)
}

/// Whether a word with a digit is one number: `12`, `0x1f`, `3f2504e0`.
fn is_number(word: &[u8], all: u8) -> bool {
    all & HEX != 0 && word.len() >= HEX_DIGITS || word.starts_with(b"0x")
}

/// A word with numbers in it, each told by one digit.
fn push_name(word: &[u8], hasher: &mut Hasher) {
    let mut last = 0;
    for byte in word {
        let kind = class(*byte);
        if kind & DIGIT == 0 {
            hasher.push(*byte);
        } else if last & DIGIT == 0 {
            hasher.push(b'0');
        }
        last = kind;
    }
}
