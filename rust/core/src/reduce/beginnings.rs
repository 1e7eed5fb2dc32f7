//! Beginnings of lines that a family knows.

/// Texts with which a line may begin.
///
/// Most lines begin with none of them, so that the first byte answers before anything is compared.
#[derive(Debug)]
pub(super) struct Beginnings<const COUNT: usize> {
    /// The bytes with which one of the texts begins.
    first: Bytes,
    /// The bytes that are second in one of them; all when one has no second.
    second: Bytes,
    texts: [&'static str; COUNT],
}

/// A set of bytes, a bit for each.
#[derive(Clone, Copy, Debug)]
struct Bytes([u64; 4]);

impl Bytes {
    const fn with(self, byte: u8) -> Self {
        let Self(mut words) = self;
        // A constant function has no other way to a place of an array.
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

impl<const COUNT: usize> Beginnings<COUNT> {
    #[expect(
        clippy::indexing_slicing,
        reason = "a constant function has no other way; out of bounds would not compile"
    )]
    pub(super) const fn new(texts: [&'static str; COUNT]) -> Self {
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
        Self {
            first,
            second,
            texts,
        }
    }

    /// Whether `text` begins with one of them.
    pub(super) fn begin(&self, text: &str) -> bool {
        self.of(text).is_some()
    }

    /// The first of them with which `text` begins.
    pub(super) fn of(&self, text: &str) -> Option<&'static str> {
        let bytes = text.as_bytes();
        let first = bytes.first().filter(|first| self.first.has(**first))?;
        if bytes.get(1).is_some_and(|second| !self.second.has(*second)) {
            return None;
        }
        let mut texts = self.texts.iter().copied();
        texts.find(|known| known.as_bytes().first() == Some(first) && text.starts_with(known))
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
}
