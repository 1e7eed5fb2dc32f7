//! The lines of an input, found with vector instructions.

use std::iter::FusedIterator;

use memchr::{memchr, memchr_iter, memrchr};

/// The lines of `text` without their ends, which are `\n` or `\r\n`: those of [`str::lines`].
#[must_use]
pub fn lines(text: &str) -> Lines<'_> {
    Lines { rest: text }
}

/// See [`lines`].
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    rest: &'a str,
}

impl Lines<'_> {
    /// How many bytes of the text were not read.
    #[must_use]
    pub fn unread_bytes(&self) -> usize {
        self.rest.len()
    }
}

/// The line that ended with the newline directly after `line`.
#[inline]
fn without_return(line: &str) -> &str {
    match line.as_bytes().last() {
        Some(b'\r') => line.get(..line.len() - 1).unwrap_or_default(),
        _ => line,
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let Some(newline) = memchr(b'\n', self.rest.as_bytes()) else {
            return Some(std::mem::take(&mut self.rest));
        };
        let line = self.rest.get(..newline)?;
        self.rest = self.rest.get(newline + 1..)?;
        Some(without_return(line))
    }

    fn count(self) -> usize {
        let bytes = self.rest.as_bytes();
        let unended = bytes.last().is_some_and(|last| *last != b'\n');
        memchr_iter(b'\n', bytes).count() + usize::from(unended)
    }
}

impl DoubleEndedIterator for Lines<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let ended = self.rest.strip_suffix('\n');
        let body = ended.unwrap_or(self.rest);
        if body.is_empty() && ended.is_none() {
            return None;
        }
        let start = memrchr(b'\n', body.as_bytes()).map_or(0, |newline| newline + 1);
        let line = body.get(start..)?;
        self.rest = self.rest.get(..start)?;
        Some(if ended.is_some() {
            without_return(line)
        } else {
            line
        })
    }
}

impl FusedIterator for Lines<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 12] = [
        "",
        "\n",
        "\r\n",
        "\r",
        "a",
        "a\r",
        "a\n",
        "a\r\nb",
        "\n\na\n",
        "a\nb\n\n",
        "\u{e9}\r\r\n\u{1f600}\n\r",
        "one\ntwo\r\nthree",
    ];

    #[test]
    fn lines_are_those_of_the_standard_library_from_both_ends() {
        for text in TEXTS {
            assert!(lines(text).eq(text.lines()), "{text:?}");
            assert!(lines(text).rev().eq(text.lines().rev()), "{text:?}");
            assert_eq!(lines(text).count(), text.lines().count(), "{text:?}");
        }
    }

    #[test]
    fn both_ends_meet() {
        let mut found = lines("one\ntwo\nthree\n");
        assert_eq!(
            (
                found.next(),
                found.next_back(),
                found.next(),
                found.next_back()
            ),
            (Some("one"), Some("three"), Some("two"), None)
        );
    }
}
