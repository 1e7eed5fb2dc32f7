//! The prefix that many lines share except for its digits: a date and a time.

use super::{Hasher, WORD, below, class};
use ethos_registry_core::chunk::{digits, equal};

/// The longest prefix, in words of eight bytes.
const WORDS: usize = 3;
/// After this many lines with another prefix, that prefix is learned; also after this many lines if no line matched the
/// last one.
const PATIENCE: u8 = 16;
const LONG_PATIENCE: u8 = 250;

/// Where masking starts; the bytes before it are in the hash already.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) at: usize,
    pub(super) hasher: Hasher,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            at: 0,
            hasher: Hasher::new(),
        }
    }
}

/// A prefix that was seen, with each digit set to zero, and where masking continues after it.
#[derive(Debug, Default)]
pub(super) struct Head {
    words: [u64; WORDS],
    /// The bits of the words that are compared.
    counted: [u64; WORDS],
    start: Start,
    others: u8,
    /// How many more mismatches are accepted; zero before the first line.
    patience: u8,
}

impl Head {
    /// Where masking of `line` starts.
    #[inline]
    pub(super) fn start(&mut self, line: &[u8]) -> Start {
        let Some(words) = words(line) else {
            return Start::default();
        };
        let parts = words.iter().zip(&self.counted).zip(&self.words);
        let differing = parts.fold(0, |bits, ((word, counted), known)| {
            bits | (word & counted ^ known)
        });
        let end = self.start.at;
        if differing == 0 && end > 0 {
            self.others = 0;
            self.patience = PATIENCE;
            // A second blank after one that is hashed would not be hashed.
            let blank = |at: usize| matches!(line.get(at), Some(b' ' | b'\t'));
            return if blank(end) && blank(end - 1) {
                Start::default()
            } else {
                self.start
            };
        }
        if self.others >= self.patience {
            self.learn(line, words);
            self.patience = LONG_PATIENCE;
        }
        self.others += 1;
        Start::default()
    }

    /// Learns the prefix of `line`, up to a position outside words and runs of blanks.
    fn learn(&mut self, line: &[u8], words: [u64; WORDS]) {
        *self = Self::default();
        let bytes = line.get(..WORDS * 8).unwrap_or_default();
        let ends = |byte: &u8| class(*byte) & WORD == 0;
        let end = bytes.iter().rposition(ends).map_or(0, |last| last + 1);
        // `0x` makes any word a number, so such prefixes are not learned.
        let odd = words.iter().any(|word| equal(*word, b'x') != 0);
        if odd || end == 0 {
            return;
        }
        let part = bytes.get(..end).unwrap_or_default();
        let mut left = end;
        for ((known, counted), word) in self.words.iter_mut().zip(&mut self.counted).zip(words) {
            let here = left.min(8);
            *counted = below(here.try_into().unwrap_or(0) * u8::BITS);
            *known = word & *counted;
            left -= here;
        }
        self.start = Start {
            at: end,
            hasher: super::added(part, Start::default()),
        };
    }
}

/// The first bytes of `line` with each digit set to zero; `None` when it is shorter.
#[inline]
fn words(line: &[u8]) -> Option<[u64; WORDS]> {
    let (words, _) = line.get(..WORDS * 8)?.as_chunks::<8>();
    let words: &[[u8; 8]; WORDS] = words.try_into().ok()?;
    Some(words.map(|word| {
        let word = u64::from_le_bytes(word);
        word & !((digits(word) >> 7) * 0x0F)
    }))
}
