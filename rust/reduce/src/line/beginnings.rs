//! Prefixes of lines that a family recognises.

/// Prefixes that a line may have.
///
/// Most lines have none of them, so the first byte is checked before anything is compared.
#[derive(Debug)]
pub(crate) struct Beginnings<const COUNT: usize> {
    /// The first byte of each prefix.
    first: Bytes,
    /// The second byte of each prefix; all bytes when a prefix has only one.
    second: Bytes,
    texts: [&'static str; COUNT],
    /// For each group of first bytes, the number of its first prefix, counted from 1. For each prefix, the number of
    /// the next one in its group. 0 means none.
    heads: [u8; GROUPS],
    nexts: [u8; COUNT],
}

/// Groups of first bytes; must be a power of two.
const GROUPS: usize = 32;

/// A set of bytes, one bit each.
#[derive(Clone, Copy, Debug)]
struct Bytes([u64; 4]);

impl Bytes {
    const fn with(self, byte: u8) -> Self {
        let Self(mut words) = self;
        // A constant function cannot use `get_mut`.
        #[expect(clippy::indexing_slicing, reason = "a byte is at most 255")]
        {
            words[(byte / 64) as usize] |= 1 << (byte % 64);
        }
        Self(words)
    }

    fn has(self, byte: u8) -> bool {
        let Self(words) = self;
        let word = words.get(usize::from(byte / 64)).copied();
        word.unwrap_or_default() >> (byte % 64) & 1 == 1
    }
}

/// The number of a prefix; more prefixes than fit do not compile.
const fn number(at: usize) -> u8 {
    assert!(at < 256, "too many beginnings");
    #[expect(clippy::cast_possible_truncation, reason = "just compared")]
    {
        at as u8
    }
}

impl<const COUNT: usize> Beginnings<COUNT> {
    #[expect(
        clippy::indexing_slicing,
        reason = "a constant function has no other way; out of bounds would not compile"
    )]
    pub(crate) const fn new(texts: [&'static str; COUNT]) -> Self {
        let mut first = Bytes([0; 4]);
        let mut second = Bytes([0; 4]);
        let mut at = 0;
        while at < COUNT {
            let bytes = texts[at].as_bytes();
            first = first.with(bytes[0]);
            if bytes.len() > 1 {
                second = second.with(bytes[1]);
            } else {
                second = Bytes([u64::MAX; 4]);
            }
            at += 1;
        }
        let mut heads = [0; GROUPS];
        let mut nexts = [0; COUNT];
        while at > 0 {
            let group = texts[at - 1].as_bytes()[0] as usize % GROUPS;
            nexts[at - 1] = heads[group];
            heads[group] = number(at);
            at -= 1;
        }
        Self {
            first,
            second,
            texts,
            heads,
            nexts,
        }
    }

    /// Whether `text` starts with one of the prefixes.
    pub(crate) fn begin(&self, text: &str) -> bool {
        self.of(text).is_some()
    }

    /// The first prefix that `text` starts with.
    pub(crate) fn of(&self, text: &str) -> Option<&'static str> {
        let bytes = text.as_bytes();
        let first = bytes.first().filter(|first| self.first.has(**first))?;
        if bytes.get(1).is_some_and(|second| !self.second.has(*second)) {
            return None;
        }
        let mut number = *self.heads.get(usize::from(*first) % GROUPS)?;
        while let Some(at) = usize::from(number).checked_sub(1) {
            let known = self.texts.get(at)?;
            if text.starts_with(known) {
                return Some(known);
            }
            number = *self.nexts.get(at)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_begins_with_one_of_them_or_with_none() {
        static KNOWN: Beginnings<3> = Beginnings::new(["error: ", "\u{2713} ", "~"]);
        for text in ["error: no", "\u{2713} yes", "~"] {
            assert!(KNOWN.begin(text), "{text}");
        }
        for text in ["", "error", "Error: ", "\u{2717} no", "x~"] {
            assert!(!KNOWN.begin(text), "{text}");
        }
    }

    #[test]
    fn of_several_the_first_is_the_one() {
        static KNOWN: Beginnings<4> = Beginnings::new(["oak tree", "elm", "oak", "oak t"]);
        assert_eq!(KNOWN.of("oak trees"), Some("oak tree"));
        assert_eq!(KNOWN.of("oak top"), Some("oak"));
        assert_eq!(KNOWN.of("/lm"), None);
    }
}
