//! Texts that are asked where their lines and clusters are, without being copied.
//!
//! A Python `str` counts characters and a Rust `str` counts bytes; [`Source`] hides the difference,
//! so that one rule serves both and a text that is only cut is never encoded.

use std::borrow::Cow;
use std::convert::Infallible;

use memchr::{memchr, memchr_iter, memrchr};
use unicode_segmentation::UnicodeSegmentation;

/// How many characters the first window behind a cut holds; each further one holds twice as many.
const FIRST_WINDOW_CHARS: usize = 64;

/// A text addressed by positions, which run from 0 to [`Source::end`] and lie between characters.
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

    /// Where the first line feed between two positions stands.
    ///
    /// # Errors
    /// What the source reports.
    fn first_newline(&self, start: usize, end: usize) -> Result<Option<usize>, Self::Error>;

    /// Where the last line feed between two positions stands.
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

/// The last boundary between extended grapheme clusters (UAX #29) at or before `position`.
///
/// `position` lies before the last character. Whether a cluster ends there depends only on what
/// stands before it and on the one character after it, so windows grow backwards from it, twice as
/// long each time, until they hold a pair of characters that is a boundary in every context: the
/// work is linear in the distance to that pair.
///
/// # Errors
/// What the source reports.
pub fn cluster_boundary<S: Source + ?Sized>(
    source: &S,
    position: usize,
) -> Result<usize, S::Error> {
    let mut size = FIRST_WINDOW_CHARS;
    loop {
        let (start, window) =
            source.window(position.saturating_sub(size), position.saturating_add(1))?;
        let restart = if start == 0 {
            Some(0)
        } else {
            certain_boundary(&window)
        };
        if let Some(restart) = restart {
            let last = last_boundary(&window, restart);
            return Ok(start.saturating_add(source.width(between(&window, 0, last))));
        }
        size = size.saturating_mul(2);
    }
}

/// Where the last pair of characters parts that is a boundary in every context.
fn certain_boundary(window: &str) -> Option<usize> {
    let mut characters = window.char_indices().rev();
    let (mut at, mut right) = characters.next()?;
    for (before, left) in characters {
        if always_part(left, right) {
            return Some(at);
        }
        (at, right) = (before, left);
    }
    None
}

/// The last cluster boundary before the last character of `window`, walking from `restart`.
fn last_boundary(window: &str, restart: usize) -> usize {
    let limit = window.char_indices().next_back().map_or(0, |(at, _)| at);
    between(window, restart, window.len())
        .grapheme_indices(true)
        .map(|(offset, _)| restart.saturating_add(offset))
        .take_while(|boundary| *boundary <= limit)
        .last()
        .unwrap_or(restart)
}

fn always_part(left: char, right: char) -> bool {
    left == '\n' || (right == '\n' && left != '\r') || (stands_alone(left) && stands_alone(right))
}

/// Whether `character` neither extends, prepends, joins, pairs nor conjoins: two such neighbours
/// are two clusters whatever stands around them. Not complete: it holds the bulk of what is written.
fn stands_alone(character: char) -> bool {
    matches!(character,
        ' '..='~'
        | '\u{00c0}'..='\u{02ff}' // Latin letters
        | '\u{0370}'..='\u{0482}' // Greek and Cyrillic, up to the combining signs
        | '\u{048a}'..='\u{052f}'
        | '\u{05d0}'..='\u{05ea}' // Hebrew letters
        | '\u{0621}'..='\u{064a}' // Arabic letters
        | '\u{0904}'..='\u{0939}' // Devanagari letters: a conjunct needs a sign between them
        | '\u{0e01}'..='\u{0e30}' // Thai consonants
        | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' // kana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' // CJK ideographs
        | '\u{ac00}'..='\u{d7a3}' // whole Hangul syllables
        | '\u{20000}'..='\u{2fffd}')
}

/// The text of `bytes`, UTF-8 in which each lone surrogate is encoded as if it were a character:
/// each becomes one U+FFFD. `None` when the bytes are not that.
///
/// Both take three bytes, so a text is patched in place and pairs are never joined.
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

    use unicode_segmentation::GraphemeCursor;

    use super::*;

    #[test]
    fn two_characters_that_stand_alone_part_in_every_context() {
        let contexts = [
            "",
            "\u{1100}",
            "\u{1f469}\u{200d}",
            "\u{915}\u{94d}",
            "\u{1f1e6}",
            "\u{600}",
        ];
        let others = "a~éдאعकกか漢가𠀀\n".chars();
        let sampled = |code: u32| code < 0x3100 || code % 97 == 0;
        let all = (0..=u32::from(char::MAX))
            .filter(|code| sampled(*code))
            .filter_map(char::from_u32);
        for character in all.filter(|character| stands_alone(*character)) {
            for (left, right) in others
                .clone()
                .flat_map(|other| [(other, character), (character, other)])
            {
                for context in contexts {
                    let text = format!("{context}{left}{right}");
                    let at = text.len() - right.len_utf8();
                    let mut cursor = GraphemeCursor::new(at, text.len(), true);
                    assert_eq!(cursor.is_boundary(&text, 0), Ok(true), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn boundaries_are_found_behind_long_clusters() {
        let text = format!("ab{}c", "\u{301}".repeat(1_000));
        let end = text.len() - 1;
        assert_eq!(cluster_boundary(text.as_str(), end), Ok(end));
        assert_eq!(cluster_boundary(text.as_str(), end - 2), Ok(1));
    }

    #[test]
    fn regional_indicators_pair_from_where_they_begin() {
        for count in [2, 3, 300, 301] {
            let text = format!("x{}", "\u{1f1e6}".repeat(count));
            let last = text.len() - 4;
            let odd_one_out = count % 2 == 1;
            assert_eq!(
                cluster_boundary(text.as_str(), last),
                Ok(if odd_one_out { last } else { last - 4 })
            );
        }
    }

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
