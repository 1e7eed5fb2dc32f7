//! What lines have in common, as numbers: their masks. The same in every process.

use crate::chunk::{blanks, chunk_at, digits, each, equal};

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

/// The hash of a text that comes in parts, the same in every process and however it is parted.
#[derive(Clone, Copy)]
struct Hasher {
    hash: u64,
    pending: u64,
    /// How many bits of `pending` are filled: fewer than 64.
    filled: u32,
}

impl Default for Hasher {
    fn default() -> Self {
        Self {
            hash: SEED,
            pending: 0,
            filled: 0,
        }
    }
}

impl Hasher {
    fn push(&mut self, byte: u8) {
        self.pending |= u64::from(byte) << self.filled;
        self.filled += u8::BITS;
        if self.filled == u64::BITS {
            self.hash = mixed(self.hash, self.pending);
            self.pending = 0;
            self.filled = 0;
        }
    }

    /// The lowest `bytes` bytes of `chunk`, at most eight, the lowest first; the others are nought.
    fn push_chunk(&mut self, chunk: u64, bytes: u32) {
        self.pending |= chunk << self.filled;
        let filled = self.filled + bytes * u8::BITS;
        if filled < u64::BITS {
            self.filled = filled;
            return;
        }
        self.hash = mixed(self.hash, self.pending);
        self.pending = chunk.checked_shr(u64::BITS - self.filled).unwrap_or(0);
        self.filled = filled - u64::BITS;
    }

    fn finish(self) -> u64 {
        mixed(mixed(self.hash, self.pending), u64::from(self.filled))
    }
}

/// The highest bit of each byte of `chunk` that may join digits to a number: `a` to `f` and `x`.
fn joining_letters(chunk: u64) -> u64 {
    let lower = (chunk | each(0x20)) & each(0x7F);
    let from_a = lower + each(0x80 - b'a');
    let from_g = lower + each(0x80 - b'g');
    from_a & !from_g & !chunk & each(0x80) | equal(chunk, b'x')
}

/// Up to eight bytes of a line, the first of them lowest; what is behind its end is nought.
#[derive(Clone, Copy)]
struct Chunk {
    bytes: u64,
    length: u32,
    digits: u64,
    joining: u64,
}

impl Chunk {
    /// The chunk at `at`, cut so that no number goes on behind it; `None` when no cut is.
    fn at(line: &[u8], at: usize) -> Option<Self> {
        let rest = line.get(at..)?;
        let bytes = chunk_at(line, at);
        let digits = digits(bytes);
        let mut chunk = Self {
            bytes,
            length: 8,
            digits,
            joining: if digits == 0 {
                0
            } else {
                joining_letters(bytes)
            },
        };
        if rest.len() < 8 {
            // Fewer than eight.
            chunk.length = u32::try_from(rest.len()).ok()?;
            return Some(chunk);
        }
        let joins =
            |byte: Option<&u8>| byte.is_some_and(|byte| class(*byte) & HEX != 0 || *byte == b'x');
        if joins(rest.get(7)) && joins(rest.get(8)) {
            chunk.cut();
        }
        (chunk.length > 0).then_some(chunk)
    }

    /// Leaves out the digits and joining letters at the end.
    fn cut(&mut self) {
        let other = !(self.digits | joining_letters(self.bytes)) & each(0x80);
        let cut = other.leading_zeros() / u8::BITS;
        self.length = 8 - cut;
        let kept = u64::MAX.checked_shr(cut * u8::BITS).unwrap_or(0);
        self.bytes &= kept;
        self.digits &= kept;
        self.joining &= kept;
    }

    /// Whether a letter next to a digit may make it part of a number that has letters.
    fn joins(self) -> bool {
        self.digits & (self.joining << u8::BITS | self.joining >> u8::BITS) != 0
    }

    /// Adds it to `hasher`: of a number one digit, of blanks in a row the first.
    fn push(self, after_blank: bool, hasher: &mut Hasher) {
        let blanks = blanks(self.bytes);
        let repeated_blanks = blanks & (blanks << u8::BITS | u64::from(after_blank) << 7);
        let mut repeated = self.digits & self.digits << u8::BITS | repeated_blanks;
        let mut bytes = self.bytes & !((self.digits >> 7) * 0x0F);
        let mut length = self.length;
        while repeated != 0 {
            length -= 1;
            let at = repeated.trailing_zeros() - 7;
            let before = (1 << at) - 1;
            bytes = bytes & before | bytes >> u8::BITS & !before;
            repeated = (repeated & (repeated - 1)) >> u8::BITS;
        }
        hasher.push_chunk(bytes, length);
    }
}

fn masked(line: &[u8]) -> u64 {
    let mut hasher = Hasher::default();
    let mut at = 0;
    // Up to where a word is a number or not is told word by word.
    let mut words_to = 0;
    let mut last = 0;
    while at < line.len() {
        if at >= words_to {
            if let Some(chunk) = Chunk::at(line, at).filter(|chunk| !chunk.joins()) {
                chunk.push(last & BLANK != 0, &mut hasher);
                at += chunk.length as usize;
                last = line.get(at - 1).map_or(0, |byte| class(*byte));
                continue;
            }
            words_to = at + 8;
        }
        let (length, kind) = push_word(line.get(at..).unwrap_or_default(), last, &mut hasher);
        at += length;
        last = kind;
    }
    hasher.finish()
}

/// Adds the word or the sign to `hasher` with which `rest` begins; its length and its class.
fn push_word(rest: &[u8], last: u8, hasher: &mut Hasher) -> (usize, u8) {
    let byte = rest.first().copied().unwrap_or_default();
    let kind = class(byte);
    if kind & WORD == 0 {
        if kind & last & BLANK == 0 {
            hasher.push(byte);
        }
        return (1, kind);
    }
    let (length, all, any) = word(rest);
    let word = rest.get(..length).unwrap_or_default();
    // What stands before it in its word is no part of a number.
    let inside = last & WORD != 0;
    if any & DIGIT != 0 && !inside && is_number(word, all) {
        hasher.push(b'0');
    } else {
        push_name(word, hasher);
    }
    (length, kind)
}

/// How long the word is with which `bytes` begin, what all and what some of its bytes are.
fn word(bytes: &[u8]) -> (usize, u8, u8) {
    let mut all = WORD | HEX;
    let mut any = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let kind = class(*byte);
        if kind & WORD == 0 {
            return (at, all, any);
        }
        all &= kind;
        any |= kind;
    }
    (bytes.len(), all, any)
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
