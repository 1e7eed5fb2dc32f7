//! The characters of an input that a reader sees, one after another.

use super::fold::{Folded, NOTHING, fold_all};

/// A longer control sequence is not skipped: what it would hide is text to a model.
const MAX_SEQUENCE_BYTES: usize = 64;

/// How escape sequences are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As a terminal does: the whole sequence is invisible.
    Terminal,
    /// As a model may: the escape character is invisible, and what follows it is text.
    Text,
}

/// One character that is seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    /// The ASCII character that it is read as, or [`super::fold::OTHER`].
    pub(super) looks_like: u8,
    /// Where it ends.
    pub(super) end: usize,
    /// Whether something that is not seen precedes it.
    pub(super) is_spaced: bool,
}

/// The glyphs of an input; line feeds are among them, blanks and invisible characters are not.
#[derive(Clone, Debug)]
pub(super) struct Seen<'a> {
    text: &'a str,
    reading: Reading,
    at: usize,
    folded: Option<Folded>,
    used: usize,
    /// Whether an escape character was passed: the other reading may differ.
    pub(super) has_escape: bool,
}

impl<'a> Seen<'a> {
    pub(super) fn new(text: &'a str, reading: Reading) -> Self {
        Self {
            text,
            reading,
            at: 0,
            folded: None,
            used: 0,
            has_escape: false,
        }
    }
}

impl Iterator for Seen<'_> {
    type Item = Glyph;

    fn next(&mut self) -> Option<Glyph> {
        if let Some(folded) = self.folded
            && let Some(looks_like) = folded.bytes().get(self.used).copied()
        {
            self.used += 1;
            return Some(Glyph {
                looks_like,
                end: self.at,
                is_spaced: false,
            });
        }
        let mut is_spaced = false;
        loop {
            let rest = self.text.get(self.at..)?;
            let character = rest.chars().next()?;
            if matches!(character, '\u{1b}' | '\u{9b}') {
                self.has_escape = true;
                if self.reading == Reading::Terminal
                    && let Some(length) = sequence_length(rest)
                {
                    self.at += length;
                    is_spaced = true;
                    continue;
                }
            }
            self.at += character.len_utf8();
            let folded = fold_all(character);
            if folded.first() == NOTHING {
                is_spaced = true;
                continue;
            }
            self.folded = Some(folded);
            self.used = 1;
            return Some(Glyph {
                looks_like: folded.first(),
                end: self.at,
                is_spaced,
            });
        }
    }
}

/// How long the escape sequence is that begins `text`, or all of `text` when it ends within one;
/// `None` when it is not one, or longer than [`MAX_SEQUENCE_BYTES`].
fn sequence_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (kind, body) = match bytes.first()? {
        0x1b => (bytes.get(1).copied(), 2),
        _ => (Some(b'['), '\u{9b}'.len_utf8()),
    };
    let Some(kind) = kind else {
        return Some(text.len());
    };
    let near = bytes.get(body..bytes.len().min(MAX_SEQUENCE_BYTES))?;
    let end = match kind {
        b'[' => near.iter().position(|byte| !matches!(byte, b' '..=b'?')),
        b']' | b'P' | b'X' | b'^' | b'_' => {
            near.iter().position(|byte| matches!(byte, 0x07 | 0x1b))
        }
        b' '..=b'/' => near.iter().position(|byte| !matches!(byte, b' '..=b'/')),
        b'0'..=b'~' => return Some(body),
        _ => return None,
    };
    let Some(end) = end else {
        let is_whole = bytes.len() <= MAX_SEQUENCE_BYTES;
        return is_whole.then_some(text.len());
    };
    let last = *near.get(end)?;
    match kind {
        b'[' => matches!(last, b'@'..=b'~').then_some(body + end + 1),
        b' '..=b'/' => matches!(last, b'0'..=b'~').then_some(body + end + 1),
        // A string ends with BEL, or with `ESC \`.
        _ if last == 0x07 => Some(body + end + 1),
        _ => match bytes.get(body + end + 1) {
            Some(b'\\') => Some(body + end + 2),
            Some(_) => None,
            None => Some(text.len()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_skipped_whole() {
        for (text, length) in [
            ("\u{1b}[0mx", Some(4)),
            ("\u{9b}1;31mx", Some(7)),
            ("\u{1b}]0;title\u{7}x", Some(10)),
            ("\u{1b}]8;;\u{1b}\\x", Some(7)),
            ("\u{1b}(Bx", Some(3)),
            ("\u{1b}=x", Some(2)),
            ("\u{1b}[0", Some(3)),
            ("\u{1b}", Some(1)),
            ("\u{1b}[é", None),
            ("\u{1b}\n", None),
        ] {
            assert_eq!(sequence_length(text), length, "{text:?}");
        }
        let long = format!("\u{1b}]{}\u{7}x", "y".repeat(MAX_SEQUENCE_BYTES));
        assert_eq!(sequence_length(&long), None);
    }
}
