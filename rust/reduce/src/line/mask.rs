//! What lines have in common, as numbers: their masks. The same in every process.

mod head;

use std::ops::Range;

use head::{Head, Start};

use crate::line::fingerprint::mixed;
use ethos_registry_core::chunk::{blanks, chunk_at, digits, each, few};

/// Words that count in a coarse mask, and the bytes in which they must be.
pub(crate) const COARSE_WORDS: usize = 5;
const COARSE_BYTES: usize = 48;
/// Only this much of a line counts in its shape.
const SHAPE_BYTES: usize = 200;
/// A run of hexadecimal digits with a decimal one among them is a number from this length on.
const HEX_DIGITS: usize = 4;

const DIGIT: u8 = 1;
const HEX: u8 = 2;
const WORD: u8 = 4;
const BLANK: u8 = 8;
/// Letters that can be in a number: those of hexadecimal ones and `x`.
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

const SEED: u64 = 0x51_7C_C1_B7_27_22_0A_95;

/// What a line is without its numbers: equal for lines that differ only in numbers and in how many
/// blanks stand in a row.
pub(crate) fn mask(line: &str) -> u64 {
    masked(line.as_bytes(), Start::default())
}

/// The masks of many lines that may begin alike, as the records of a log do with their time: the beginning is
/// read once.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    head: Head,
}

impl Masks {
    /// Of `line`, what [`mask`] gives.
    pub(crate) fn mask(&mut self, line: &str) -> u64 {
        let bytes = line.as_bytes();
        masked(bytes, self.head.start(bytes))
    }

    /// Of the first `words` of `line`, what [`coarse_mask`] gives.
    pub(crate) fn coarse(&mut self, line: &str, words: usize) -> u64 {
        let bytes = coarse_part(line, words);
        masked(bytes, self.head.start(bytes)).rotate_left(1)
    }
}

/// Of what kinds of words and signs the beginning of a line is made.
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

/// The same for its first word.
pub(crate) fn first_word_mask(line: &str) -> u64 {
    let line = line.trim_start();
    let end = line.find([' ', '\t', ':', '=', '(']).unwrap_or(line.len());
    mask(line.get(..end).unwrap_or_default())
}

/// The same for its first `words`.
pub(crate) fn coarse_mask(line: &str, words: usize) -> u64 {
    masked(coarse_part(line, words), Start::default()).rotate_left(1)
}

/// What counts in the coarse mask of `line`.
fn coarse_part(line: &str, words: usize) -> &[u8] {
    let bytes = line.trim_start().as_bytes();
    let bytes = bytes.get(..COARSE_BYTES).unwrap_or(bytes);
    let end = gap(bytes, words).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
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

/// The hash of an input that comes in pieces, the same however it is cut: eight bytes go into it at a time,
/// the last ones wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    hash: u64,
    waiting: u64,
    /// How many bits of `waiting` count, fewer than 64.
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

    /// Adds the lowest `bits` of `chunk`, whole bytes; all above them are zero.
    #[inline]
    pub(crate) fn push(&mut self, chunk: u64, bits: u32) {
        self.waiting |= chunk << self.bits;
        let all = self.bits + bits;
        if all < u64::BITS {
            self.bits = all;
            return;
        }
        self.hash = mixed(self.hash, self.waiting);
        // What did not fit; all did when nothing waited.
        self.waiting = chunk.checked_shr(u64::BITS - self.bits).unwrap_or(0);
        self.bits = all - u64::BITS;
    }

    /// Adds `bytes` as they are.
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

/// What is hashed of `line`, started at `start`.
#[inline]
fn added(line: &[u8], start: Start) -> Hasher {
    let Start { mut at, mut hasher } = start;
    // What was added up to the last stop: a word that turns out to be a number is taken back.
    let (mut from, mut before) = (at, hasher);
    // Whether the last byte is a blank, as the mark of a byte before the lowest one.
    let mut blank_before = 0;
    while at < line.len() {
        let chunk = chunk_at(line, at);
        let (digits, blanks) = (digits(chunk), blanks(chunk));
        let stops = digits | blanks & (blanks << u8::BITS | blank_before);
        // The lowest mark is the highest bit of its byte; without a mark it is all of them.
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
            // It may go on behind the eight bytes.
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

/// Whether a letter that may be a part of a number is at `at`.
#[inline]
fn joins(line: &[u8], at: Option<usize>) -> bool {
    at.and_then(|at| line.get(at))
        .is_some_and(|byte| class(*byte) & JOINING != 0)
}

/// Where the bytes end that follow `at` and are all of `kind`.
fn run_end(line: &[u8], at: usize, kind: u8) -> usize {
    let mut end = at + 1;
    while line.get(end).is_some_and(|byte| class(*byte) & kind != 0) {
        end += 1;
    }
    end
}

/// Where the number at `digits` is, or the whole word that it is a part of when that is a number; no other
/// digit follows `from` and before it.
fn number_word(line: &[u8], from: usize, digits: Range<usize>) -> Range<usize> {
    let in_word = |byte: &u8| class(*byte) & WORD != 0;
    let before = line.get(from..digits.start).unwrap_or_default();
    let letters = before.iter().rev().take_while(|byte| in_word(byte)).count();
    let start = digits.start - letters;
    let last = from.checked_sub(1).and_then(|at| line.get(at));
    if start == from && last.is_some_and(in_word) {
        // A number was in this word before, and no letter beside it was of a number: it is a name.
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

#[cfg(test)]
mod tests;
