//! Short inputs within lines.

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::{memchr_iter, memrchr_iter};

/// What `str` can do with short inputs, without the preparation that pays on long ones only: to set
/// up the search of the standard library takes longer than to read a line.
pub trait FindText {
    /// Like [`str::find`].
    fn find_text(&self, text: &str) -> Option<usize>;
    /// Like [`str::contains`].
    fn has_text(&self, text: &str) -> bool;
    /// Like [`str::trim`], quick where blanks and signs of ASCII meet.
    fn trimmed(&self) -> &str;
    /// How many characters there are; at once for ASCII, as most outputs are.
    fn char_count(&self) -> usize;
    /// Like [`str::split_once`].
    fn split_text(&self, text: &str) -> Option<(&str, &str)>;
    /// Like [`str::rsplit_once`].
    fn rsplit_text(&self, text: &str) -> Option<(&str, &str)>;
}

impl FindText for str {
    #[inline]
    fn find_text(&self, text: &str) -> Option<usize> {
        let first = *text.as_bytes().first()?;
        memchr_iter(first, self.as_bytes()).find(|at| is_at(self, *at, text))
    }

    #[inline]
    fn has_text(&self, text: &str) -> bool {
        self.find_text(text).is_some()
    }

    #[inline]
    fn trimmed(&self) -> &str {
        let text = self.trim_ascii();
        let is_sign = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_graphic);
        if is_sign(text.as_bytes().first()) && is_sign(text.as_bytes().last()) {
            text
        } else {
            text.trim()
        }
    }

    #[inline]
    fn char_count(&self) -> usize {
        if self.is_ascii() {
            self.len()
        } else {
            self.chars().count()
        }
    }

    #[inline]
    fn split_text(&self, text: &str) -> Option<(&str, &str)> {
        parts(self, self.find_text(text)?, text)
    }

    #[inline]
    fn rsplit_text(&self, text: &str) -> Option<(&str, &str)> {
        let first = *text.as_bytes().first()?;
        let at = memrchr_iter(first, self.as_bytes()).find(|at| is_at(self, *at, text))?;
        parts(self, at, text)
    }
}

#[inline]
fn is_at(line: &str, at: usize, text: &str) -> bool {
    let here = line.as_bytes().get(at..).unwrap_or_default();
    here.starts_with(text.as_bytes())
}

#[inline]
fn parts<'a>(line: &'a str, at: usize, text: &str) -> Option<(&'a str, &'a str)> {
    Some((line.get(..at)?, line.get(at + text.len()..)?))
}

/// A search for any of `texts`, to be built once.
///
/// The kind of match does not matter to who only asks whether there is one, but vector instructions
/// are used with this one alone.
#[must_use]
pub fn any_of<const COUNT: usize>(texts: [&str; COUNT]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(texts)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_found_as_the_standard_library_finds_them() {
        for text in ["", " ", " a\t", "\u{b} a", "\u{a0}\u{e9} ", "\r\n\u{2009}"] {
            assert_eq!(text.trimmed(), text.trim(), "{text:?}");
            assert_eq!(text.char_count(), text.chars().count(), "{text:?}");
        }
        let lines = [
            "",
            "a",
            "::",
            "a::b::c",
            "aaaa",
            "x ... y ... z",
            "\u{e9}::\u{1f600}",
        ];
        for line in lines {
            for text in [":", "::", "aa", " ... ", "\u{1f600}", "zz"] {
                assert_eq!(line.find_text(text), line.find(text), "{line} {text}");
                assert_eq!(line.has_text(text), line.contains(text), "{line} {text}");
                assert_eq!(
                    line.split_text(text),
                    line.split_once(text),
                    "{line} {text}"
                );
                assert_eq!(
                    line.rsplit_text(text),
                    line.rsplit_once(text),
                    "{line} {text}"
                );
            }
        }
    }
}
