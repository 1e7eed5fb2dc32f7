//! Masks: hashes of lines that ignore numbers. They are equal in every process.

mod head;

use std::ops::Range;

use head::{Head, Start};

use crate::line::fingerprint::mixed;
use ethos_registry_core::chunk::{blanks, chunk_at, digits, each, few};

/// How many words a coarse mask includes, and the bytes in which they must be.
pub(crate) const COARSE_WORDS: usize = 5;
const COARSE_BYTES: usize = 48;
/// Only this many bytes of a line are included in its shape.
const SHAPE_BYTES: usize = 200;
/// A run of hexadecimal digits with a decimal digit is a number from this length on.
const HEX_DIGITS: usize = 4;

const DIGIT: u8 = 1;
const HEX: u8 = 2;
const WORD: u8 = 4;
const BLANK: u8 = 8;
/// Letters that can be part of a number: hexadecimal digits and `x`.
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
        // A constant function cannot use `get_mut`; a byte is always a valid index.
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

const SEED: u64 = 0x51_7C_C1_B7_27_22_0A_95;

/// A hash of a line without its numbers: equal for lines that differ only in numbers and in the length of runs of
/// blanks.
pub(crate) fn mask(line: &str) -> u64 {
    masked(line.as_bytes(), Start::default())
}

/// Computes masks of many lines that may share a prefix, such as the timestamp of log records; the prefix is hashed
/// once.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    head: Head,
}

impl Masks {
    /// The [`mask`] of `line`.
    pub(crate) fn mask(&mut self, line: &str) -> u64 {
        let bytes = line.as_bytes();
        masked(bytes, self.head.start(bytes))
    }

    /// The [`coarse_mask`] of the first `words` words of `line`.
    pub(crate) fn coarse(&mut self, line: &str, words: usize) -> u64 {
        let bytes = coarse_part(line, words);
        masked(bytes, self.head.start(bytes)).rotate_left(1)
    }
}

/// A hash of the kinds of words and symbols at the beginning of a line.
pub(crate) fn shape_mask(line: &str) -> u64 {
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

/// The mask of the first word.
pub(crate) fn first_word_mask(line: &str) -> u64 {
    let line = line.trim_start();
    let end = line.find([' ', '\t', ':', '=', '(']).unwrap_or(line.len());
    mask(line.get(..end).unwrap_or_default())
}

/// The mask of the first `words` words.
pub(crate) fn coarse_mask(line: &str, words: usize) -> u64 {
    masked(coarse_part(line, words), Start::default()).rotate_left(1)
}

/// The part of `line` that its coarse mask includes.
fn coarse_part(line: &str, words: usize) -> &[u8] {
    let bytes = line.trim_start().as_bytes();
    let bytes = bytes.get(..COARSE_BYTES).unwrap_or(bytes);
    let end = gap(bytes, words).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
}

/// Where the gap with this number begins; 1 is the first, and 0 means the same.
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

/// The hash of input that arrives in pieces, independent of where it is cut. Eight bytes are hashed at a time; the rest
/// waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    hash: u64,
    waiting: u64,
    /// How many bits of `waiting` are used, fewer than 64.
    bits: u32,
}

impl Hasher {
    pub(crate) const fn new() -> Self {
        Self {
            hash: SEED,
            waiting: 0,
            bits: 0,
        }
    }

    /// Adds the lowest `bits` of `chunk`, which are whole bytes; all bits above them are zero.
    #[inline]
    pub(crate) fn push(&mut self, chunk: u64, bits: u32) {
        self.waiting |= chunk << self.bits;
        let all = self.bits + bits;
        if all < u64::BITS {
            self.bits = all;
            return;
        }
        self.hash = mixed(self.hash, self.waiting);
        // What did not fit; nothing when `waiting` was empty.
        self.waiting = chunk.checked_shr(u64::BITS - self.bits).unwrap_or(0);
        self.bits = all - u64::BITS;
    }

    /// Adds `bytes` unchanged.
    pub(crate) fn push_all(&mut self, bytes: &[u8]) {
        let (chunks, rest) = bytes.as_chunks::<8>();
        for chunk in chunks {
            self.push(u64::from_le_bytes(*chunk), u64::BITS);
        }
        self.push(few(rest), rest.iter().map(|_| u8::BITS).sum());
    }

    pub(crate) fn finish(self) -> u64 {
        mixed(mixed(self.hash, self.waiting), u64::from(self.bits))
    }
}

/// Reads eight bytes at a time and stops only where a number begins or a blank follows another.
fn masked(line: &[u8], start: Start) -> u64 {
    added(line, start).finish()
}

/// Hashes `line` from `start` on.
#[inline]
fn added(line: &[u8], start: Start) -> Hasher {
    let Start { mut at, mut hasher } = start;
    // The state at the last stop: a word that turns out to be a number is taken back.
    let (mut from, mut before) = (at, hasher);
    // Whether the last byte was a blank, as the marker bit of the byte before the lowest one.
    let mut blank_before = 0;
    while at < line.len() {
        let chunk = chunk_at(line, at);
        let (digits, blanks) = (digits(chunk), blanks(chunk));
        let stops = digits | blanks & (blanks << u8::BITS | blank_before);
        // The lowest marker is the highest bit of its byte; without a marker, all bytes are used.
        let bits = match line.len() - at {
            left @ ..8 => (stops | 0x80 << (8 * left)).trailing_zeros() & !7,
            _ => stops.trailing_zeros() & !7,
        };
        hasher.push(chunk & below(bits), bits);
        at += bits as usize / 8;
        if stops == 0 {
            blank_before = blanks >> 56;
            continue;
        }
        if digits >> bits & 0x80 != 0 {
            let others = (!digits & each(0x80)) >> bits;
            let in_chunk = others.trailing_zeros().min(u64::BITS - bits) as usize / 8;
            let end = at + in_chunk;
            // The run may continue after these eight bytes.
            let end = if others == 0 {
                run_end(line, end - 1, DIGIT)
            } else {
                end
            };
            if joins(line, at.checked_sub(1)) || joins(line, Some(end)) {
                let word = number_word(line, from, at..end);
                if word.start < at {
                    hasher = before;
                    hasher.push_all(line.get(from..word.start).unwrap_or_default());
                }
                at = word.end;
            } else {
                at = end;
            }
            hasher.push(u64::from(b'0'), u8::BITS);
        } else {
            at = run_end(line, at, BLANK);
        }
        blank_before = 0;
        (from, before) = (at, hasher);
    }
    hasher
}

/// All bits below that one.
#[inline]
fn below(bit: u32) -> u64 {
    !u64::MAX.checked_shl(bit).unwrap_or(0)
}

/// Whether the byte at `at` is a letter that can be part of a number.
#[inline]
fn joins(line: &[u8], at: Option<usize>) -> bool {
    at.and_then(|at| line.get(at))
        .is_some_and(|byte| class(*byte) & JOINING != 0)
}

/// Where the run of bytes of `kind` that starts at `at` ends.
fn run_end(line: &[u8], at: usize, kind: u8) -> usize {
    let mut end = at + 1;
    while line.get(end).is_some_and(|byte| class(*byte) & kind != 0) {
        end += 1;
    }
    end
}

/// The range of the number at `digits`, or of the whole word if the word is a number. No other digit is between `from`
/// and `digits`.
fn number_word(line: &[u8], from: usize, digits: Range<usize>) -> Range<usize> {
    let in_word = |byte: &u8| class(*byte) & WORD != 0;
    let before = line.get(from..digits.start).unwrap_or_default();
    let letters = before.iter().rev().take_while(|byte| in_word(byte)).count();
    let start = digits.start - letters;
    let last = from.checked_sub(1).and_then(|at| line.get(at));
    if start == from && last.is_some_and(in_word) {
        // The word has another number before this one, and the letters beside that are not part of it: it is a name.
        return digits;
    }
    let (length, all) = word(line.get(start..).unwrap_or_default());
    let word = line.get(start..start + length).unwrap_or_default();
    if is_number(word, all) {
        start..start + length
    } else {
        digits
    }
}

/// The length of the word that `bytes` begin with, and the kinds that all of its bytes share.
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

/// Whether a word with a digit is a single number: `12`, `0x1f`, `3f2504e0`.
fn is_number(word: &[u8], all: u8) -> bool {
    all & HEX != 0 && word.len() >= HEX_DIGITS || word.starts_with(b"0x")
}

#[cfg(test)]
mod tests;
