//! Finds the characters that can begin a tag or a token.

use memchr::{memchr, memchr2};

use super::fold::{may_open, may_open_with, opens};

/// An opening bracket: what it looks like, where it starts and where it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opener {
    pub(super) looks_like: u8,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The characters of an input that look like `<`, or also like `[`.
pub(super) struct Openers<'a> {
    text: &'a str,
    ascii: bool,
    brackets: bool,
}

impl<'a> Openers<'a> {
    pub(super) fn new(text: &'a str, brackets: bool) -> Self {
        Self {
            text,
            ascii: text.is_ascii(),
            brackets,
        }
    }

    /// The first one at or after `from`.
    pub(super) fn next(&self, mut from: usize) -> Option<Opener> {
        loop {
            let rest = self.text.as_bytes().get(from..)?;
            let start = from + self.candidate(rest)?;
            let character = self.text.get(start..)?.chars().next()?;
            let end = start + character.len_utf8();
            match opens(character) {
                Some(looks_like) if looks_like == b'<' || self.brackets => {
                    return Some(Opener {
                        looks_like,
                        start,
                        end,
                    });
                }
                _ => {}
            }
            from = end;
        }
    }

    fn candidate(&self, bytes: &[u8]) -> Option<usize> {
        match (self.ascii, self.brackets) {
            (true, true) => memchr2(b'<', b'[', bytes),
            (true, false) => memchr(b'<', bytes),
            (false, _) => bytes.iter().enumerate().position(|(at, byte)| {
                let next = || bytes.get(at + 1).copied().unwrap_or_default();
                may_open(*byte) && may_open_with(*byte, next())
            }),
        }
    }
}
