//! What lines have in common, as numbers: their masks. The same in every process.

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
    masked(line.as_bytes(), usize::MAX)
}

/// What a line is with its numbers: equal for equal lines.
pub(in crate::reduce) fn literal_mask(line: &str) -> u64 {
    let chunks = line.as_bytes().chunks(8);
    let value = |chunk: &[u8]| {
        chunk
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    chunks.fold(!SEED, |hash, chunk| mixed(hash, value(chunk)))
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
    masked(bytes.get(..COARSE_BYTES).unwrap_or(bytes), words).rotate_left(1)
}

/// The hash of a text that comes byte by byte, the same in every process.
#[derive(Clone, Copy)]
pub(in crate::reduce) struct Hasher {
    hash: u64,
    pending: u64,
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
    pub(in crate::reduce) fn push(&mut self, byte: u8) {
        self.pending = self.pending << 8 | u64::from(byte);
        self.filled += 1;
        if self.filled == u64::BITS / u8::BITS {
            self.hash = mixed(self.hash, self.pending);
            self.pending = 0;
            self.filled = 0;
        }
    }

    pub(in crate::reduce) fn finish(self) -> u64 {
        mixed(mixed(self.hash, self.pending), u64::from(self.filled))
    }
}

/// A word that is being read.
#[derive(Clone, Copy)]
struct Word {
    start: usize,
    before: Hasher,
    all: u8,
    any: u8,
}

impl Word {
    /// Whether the word that ends before `end` is one number: `12`, `0x1f`, `3f2504e0`.
    fn is_number(self, bytes: &[u8], end: usize) -> bool {
        self.any & DIGIT != 0
            && (self.all & HEX != 0 && end - self.start >= HEX_DIGITS
                || bytes.get(self.start..self.start + 2) == Some(b"0x"))
    }
}

fn masked(bytes: &[u8], max_words: usize) -> u64 {
    let mut hasher = Hasher::default();
    let mut words = 0;
    let mut word: Option<Word> = None;
    let mut last = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let kind = class(byte);
        if kind & WORD != 0 {
            let open = word.get_or_insert(Word {
                start: at,
                before: hasher,
                all: WORD | HEX,
                any: 0,
            });
            open.all &= kind;
            open.any |= kind;
            if kind & DIGIT == 0 {
                hasher.push(byte);
            } else if last & DIGIT == 0 {
                hasher.push(b'0');
            }
        } else {
            if let Some(ended) = word.take().filter(|word| word.is_number(bytes, at)) {
                hasher = ended.before;
                hasher.push(b'0');
            }
            let blank = kind & BLANK != 0;
            if !(blank && last & BLANK != 0) {
                words += usize::from(blank);
                if words >= max_words {
                    break;
                }
                hasher.push(byte);
            }
        }
        last = kind;
    }
    if let Some(ended) = word.filter(|word| word.is_number(bytes, bytes.len())) {
        hasher = ended.before;
        hasher.push(b'0');
    }
    hasher.finish()
}
