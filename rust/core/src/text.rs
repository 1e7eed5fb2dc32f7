//! Inputs that are asked where their lines and clusters are, without being copied.
//!
//! A Python `str` counts characters and a Rust `str` counts bytes; [`Source`] hides the difference,
//! so that one rule serves both and an input that is only cut is never encoded.

use std::borrow::Cow;
use std::convert::Infallible;

use memchr::{memchr, memchr_iter, memrchr};

mod clusters;

pub use clusters::cluster_boundary;

/// An input addressed by positions, which run from 0 to [`Source::end`] and lie between characters.
///
/// What one step of a position means (a byte, a character) is the source's own affair.
pub trait Source {
    /// What can go wrong while the text is asked.
    type Error;

    /// The position after the last character.
    fn end(&self) -> usize;

    /// How many characters lie between two positions.
    ///
    /// # Errors
    /// What the source reports.
    fn characters(&self, start: usize, end: usize) -> Result<usize, Self::Error>;

    /// The position after the first `characters` characters, or `None` when there are not more of them.
    ///
    /// # Errors
    /// What the source reports.
    fn position(&self, characters: usize) -> Result<Option<usize>, Self::Error>;

    /// How many line feeds lie between two positions.
    ///
    /// # Errors
    /// What the source reports.
    fn newlines(&self, start: usize, end: usize) -> Result<usize, Self::Error>;

    /// Where the first line feed between two positions is.
    ///
    /// # Errors
    /// What the source reports.
    fn first_newline(&self, start: usize, end: usize) -> Result<Option<usize>, Self::Error>;

    /// Where the last line feed between two positions is.
    ///
    /// # Errors
    /// What the source reports.
    fn last_newline(&self, start: usize, end: usize) -> Result<Option<usize>, Self::Error>;

    /// The text between two positions, widened to whole characters, and where it really starts.
    ///
    /// # Errors
    /// What the source reports.
    fn window(&self, start: usize, end: usize) -> Result<(usize, Cow<'_, str>), Self::Error>;

    /// By how much a position grows over `text`.
    fn width(&self, text: &str) -> usize;
}

impl Source for str {
    type Error = Infallible;

    fn end(&self) -> usize {
        self.len()
    }

    fn characters(&self, start: usize, end: usize) -> Result<usize, Infallible> {
        let part = between(self, start, end);
        Ok(if part.is_ascii() {
            part.len()
        } else {
            part.chars().count()
        })
    }

    fn position(&self, characters: usize) -> Result<Option<usize>, Infallible> {
        if self.is_ascii() {
            return Ok((characters < self.len()).then_some(characters));
        }
        Ok(self
            .char_indices()
            .nth(characters)
            .map(|(position, _)| position))
    }

    fn newlines(&self, start: usize, end: usize) -> Result<usize, Infallible> {
        Ok(memchr_iter(b'\n', between(self, start, end).as_bytes()).count())
    }

    fn first_newline(&self, start: usize, end: usize) -> Result<Option<usize>, Infallible> {
        Ok(memchr(b'\n', between(self, start, end).as_bytes()).map(|found| start + found))
    }

    fn last_newline(&self, start: usize, end: usize) -> Result<Option<usize>, Infallible> {
        Ok(memrchr(b'\n', between(self, start, end).as_bytes()).map(|found| start + found))
    }

    fn window(&self, start: usize, end: usize) -> Result<(usize, Cow<'_, str>), Infallible> {
        let inside = |at: &usize| !self.is_char_boundary(*at);
        let start = start - (0..4).take_while(|back| inside(&(start - back))).count();
        let end = end.min(self.len());
        let end = end + (0..4).take_while(|on| inside(&(end + on))).count();
        Ok((start, Cow::Borrowed(between(self, start, end))))
    }

    fn width(&self, text: &str) -> usize {
        text.len()
    }
}

/// An ASCII text: a position is a character, so nothing has to be counted.
#[derive(Clone, Copy, Debug)]
pub struct Ascii<'a>(&'a str);

impl<'a> Ascii<'a> {
    /// `text` as a source; the caller knows that it is ASCII.
    #[must_use]
    pub fn known(text: &'a str) -> Self {
        Self(text)
    }
}

impl Source for Ascii<'_> {
    type Error = Infallible;

    fn end(&self) -> usize {
        self.0.len()
    }

    fn characters(&self, start: usize, end: usize) -> Result<usize, Infallible> {
        Ok(end.saturating_sub(start))
    }

    fn position(&self, characters: usize) -> Result<Option<usize>, Infallible> {
        Ok((characters < self.0.len()).then_some(characters))
    }

    fn newlines(&self, start: usize, end: usize) -> Result<usize, Infallible> {
        self.0.newlines(start, end)
    }

    fn first_newline(&self, start: usize, end: usize) -> Result<Option<usize>, Infallible> {
        self.0.first_newline(start, end)
    }

    fn last_newline(&self, start: usize, end: usize) -> Result<Option<usize>, Infallible> {
        self.0.last_newline(start, end)
    }

    fn window(&self, start: usize, end: usize) -> Result<(usize, Cow<'_, str>), Infallible> {
        self.0.window(start, end)
    }

    fn width(&self, text: &str) -> usize {
        text.len()
    }
}

fn between(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// How many lines lie between two positions, and whether the last one ends with a line feed.
///
/// A closing line feed ends the last line; it does not begin another one.
///
/// # Errors
/// What the source reports.
pub fn count_lines<S: Source + ?Sized>(
    source: &S,
    start: usize,
    end: usize,
) -> Result<(usize, bool), S::Error> {
    if start == end {
        return Ok((0, false));
    }
    let newlines = source.newlines(start, end)?;
    let closed = ends_with_newline(source, start, end)?;
    Ok((
        if closed {
            newlines
        } else {
            newlines.saturating_add(1)
        },
        closed,
    ))
}

/// Where the first `lines` lines end, before their closing line feed; `end` when there are fewer.
///
/// # Errors
/// What the source reports.
pub fn end_of_lines<S: Source + ?Sized>(
    source: &S,
    start: usize,
    end: usize,
    lines: usize,
) -> Result<usize, S::Error> {
    let mut from = start;
    for line in 1..=lines {
        let Some(newline) = source.first_newline(from, end)? else {
            return Ok(end);
        };
        if line == lines {
            return Ok(newline);
        }
        from = newline.saturating_add(1);
    }
    Ok(start)
}

/// Where the last `lines` lines begin; `start` when there are not more of them.
///
/// # Errors
/// What the source reports.
pub fn start_of_last_lines<S: Source + ?Sized>(
    source: &S,
    start: usize,
    end: usize,
    lines: usize,
) -> Result<usize, S::Error> {
    let mut until = if ends_with_newline(source, start, end)? {
        end.saturating_sub(1)
    } else {
        end
    };
    let mut first = end;
    for _ in 0..lines {
        let Some(newline) = source.last_newline(start, until)? else {
            return Ok(start);
        };
        first = newline.saturating_add(1);
        until = newline;
    }
    Ok(first)
}

fn ends_with_newline<S: Source + ?Sized>(
    source: &S,
    start: usize,
    end: usize,
) -> Result<bool, S::Error> {
    Ok(source
        .last_newline(start.max(end.saturating_sub(1)), end)?
        .is_some())
}

/// The text of `bytes`, UTF-8 in which each lone surrogate is encoded as if it were a character:
/// each becomes one U+FFFD. `None` when the bytes are not that.
///
/// Both take three bytes, so an input is patched in place and pairs are never joined.
#[must_use]
pub fn replace_surrogates(mut bytes: Vec<u8>) -> Option<String> {
    let mut from = 0;
    while let Some(found) = bytes.get(from..).and_then(|rest| memchr(0xed, rest)) {
        let at = from + found;
        if let Some(surrogate) = bytes.get_mut(at..at + 3)
            && matches!(surrogate, [_, 0xa0..=0xbf, _])
        {
            surrogate.copy_from_slice("\u{fffd}".as_bytes());
        }
        from = at + 1;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn a_closing_line_feed_begins_no_line() {
        let count = |text: &str| count_lines(text, 0, text.len()).unwrap();
        assert_eq!(count(""), (0, false));
        assert_eq!(count("\n"), (1, true));
        assert_eq!(count("a\nb"), (2, false));
        assert_eq!(count("a\nb\n"), (2, true));
    }

    #[test]
    fn lines_are_found_from_both_ends() {
        let text = "a\nb\nc\n";
        assert_eq!(end_of_lines(text, 0, 6, 2), Ok(3));
        assert_eq!(end_of_lines(text, 0, 6, 9), Ok(6));
        assert_eq!(start_of_last_lines(text, 0, 6, 1), Ok(4));
        assert_eq!(start_of_last_lines(text, 0, 6, 3), Ok(0));
    }

    #[test]
    fn each_surrogate_becomes_one_replacement_character() {
        let joined = vec![b'a', 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80, 0xed, 0x9f, 0xbf];
        assert_eq!(
            replace_surrogates(joined).unwrap(),
            "a\u{fffd}\u{fffd}\u{d7ff}"
        );
        assert_eq!(replace_surrogates(vec![0xff]), None);
    }
}
