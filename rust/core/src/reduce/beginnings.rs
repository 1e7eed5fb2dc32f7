//! Beginnings of lines that a family knows.

/// Texts with which a line may begin.
///
/// Most lines begin with none of them, so that the first byte answers before anything is compared.
#[derive(Debug)]
pub(super) struct Beginnings<const COUNT: usize> {
    /// A bit for each byte with which one of the texts begins.
    first: [u64; 4],
    texts: [&'static str; COUNT],
}

impl<const COUNT: usize> Beginnings<COUNT> {
    #[expect(
        clippy::indexing_slicing,
        reason = "a constant function has no other way; out of bounds would not compile"
    )]
    pub(super) const fn new(texts: [&'static str; COUNT]) -> Self {
        let mut first = [0; 4];
        let mut at = 0;
        while at < COUNT {
            let byte = texts[at].as_bytes()[0] as usize;
            first[byte / 64] |= 1 << (byte % 64);
            at += 1;
        }
        Self { first, texts }
    }

    /// Whether `text` begins with one of them.
    pub(super) fn begin(&self, text: &str) -> bool {
        self.of(text).is_some()
    }

    /// The first of them with which `text` begins.
    pub(super) fn of(&self, text: &str) -> Option<&'static str> {
        let first = text.as_bytes().first()?;
        let bits = self.first.get(usize::from(first / 64))?;
        if bits >> (first % 64) & 1 == 0 {
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
