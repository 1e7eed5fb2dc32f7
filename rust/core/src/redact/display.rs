//! Text as a terminal displays it, with the way back to its bytes.

use std::collections::TryReserveError;
use std::ops::Range;

use memchr::memchr_iter;

use crate::clean::escape::escape_end;

/// A line break after this many characters of base64 is taken for wrapping.
const WRAPPED_CHARS: usize = 60;

/// Output without what is not displayed.
#[derive(Default)]
pub(super) struct Displayed {
    pub(super) text: String,
    pieces: Vec<Piece>,
}

/// A part of the displayed text that is displayed as it is written.
struct Piece {
    displayed: usize,
    written: usize,
}

impl Displayed {
    /// `text` without escape sequences, control and invisible characters, and what backspaces
    /// remove; with `unwraps` also without the line breaks of wrapped base64. `None` if that is
    /// `text` itself.
    pub(super) fn of(text: &str, unwraps: bool) -> Result<Option<Self>, TryReserveError> {
        let bytes = text.as_bytes();
        // Most text has no such line break: then lines are not looked at one by one.
        let unwraps = unwraps && memchr_iter(b'\n', bytes).any(|at| ends_wrapped(bytes, at));
        let mut view = Self::default();
        let mut written = 0;
        let mut at = 0;
        while let Some(next) = next_candidate(bytes, at, unwraps) {
            let Some(hidden) = hidden(bytes, next) else {
                at = next + 1;
                continue;
            };
            view.push(text.get(written..next).unwrap_or_default(), written)?;
            if bytes.get(next) == Some(&BACKSPACE) {
                view.pop();
            }
            at = hidden.min(bytes.len());
            while !text.is_char_boundary(at) {
                at += 1;
            }
            written = at;
        }
        if written == 0 {
            return Ok(None);
        }
        view.push(text.get(written..).unwrap_or_default(), written)?;
        Ok(Some(view))
    }

    fn push(&mut self, part: &str, written: usize) -> Result<(), TryReserveError> {
        if part.is_empty() {
            return Ok(());
        }
        self.text.try_reserve(part.len())?;
        self.pieces.try_reserve(1)?;
        self.pieces.push(Piece {
            displayed: self.text.len(),
            written,
        });
        self.text.push_str(part);
        Ok(())
    }

    /// Removes the character before a backspace; one never goes back over a line.
    fn pop(&mut self) {
        if self.text.ends_with('\n') {
            return;
        }
        self.text.pop();
        while self
            .pieces
            .last()
            .is_some_and(|piece| piece.displayed >= self.text.len())
        {
            self.pieces.pop();
        }
    }

    /// Where the displayed range is written.
    pub(super) fn written(&self, range: &Range<usize>) -> Range<usize> {
        self.position(range.start)..self.position(range.end.saturating_sub(1)) + 1
    }

    fn position(&self, displayed: usize) -> usize {
        let after = self
            .pieces
            .partition_point(|piece| piece.displayed <= displayed);
        after
            .checked_sub(1)
            .and_then(|index| self.pieces.get(index))
            .map_or(displayed, |piece| {
                piece.written + displayed - piece.displayed
            })
    }
}

const BACKSPACE: u8 = 0x08;

/// The next byte with which something hidden may begin.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "branches would keep the loop from being vector instructions"
)]
fn next_candidate(bytes: &[u8], from: usize, unwraps: bool) -> Option<usize> {
    let mut from = from;
    let hides = |byte: &u8| may_hide(*byte) & (unwraps | (*byte != b'\n') & (*byte != b'\r'));
    // Most chunks are printable ASCII, which takes a quarter of the instructions to find out.
    let is_usual = |byte: &u8| (byte.wrapping_sub(b' ') < 0x5F) | (!unwraps & (*byte == b'\n'));
    for chunk in bytes.get(from..)?.chunks(CHUNK_BYTES) {
        if !chunk.iter().fold(true, |all, byte| all & is_usual(byte))
            && chunk.iter().fold(false, |any, byte| any | hides(byte))
            && let Some(at) = chunk.iter().position(hides)
        {
            return Some(from + at);
        }
        from += chunk.len();
    }
    None
}

const CHUNK_BYTES: usize = 64;

/// Control characters but tabulators, and the first bytes of invisible characters.
#[expect(clippy::needless_bitwise_bool, reason = "as there")]
fn may_hide(byte: u8) -> bool {
    ((byte < 0x20) & (byte != b'\t') & (byte != 0x0B) & (byte != 0x0C))
        | (byte == 0x7F)
        | (byte == 0xC2)
        | (byte == 0xCD)
        | (byte == 0xE1)
        | (byte == 0xE2)
        | (byte == 0xEF)
        | (byte == 0xF3)
}

/// Where the hidden part that begins at `at` ends; `None` if what is there is displayed.
fn hidden(bytes: &[u8], at: usize) -> Option<usize> {
    let next = |offset: usize| bytes.get(at + offset).copied().unwrap_or_default();
    match bytes.get(at)? {
        0x1B => Some(escape_end(bytes, at)),
        b'\n' => is_wrap(bytes, at, at + 1).then_some(at + 1),
        b'\r' => (next(1) == b'\n' && is_wrap(bytes, at, at + 2)).then_some(at + 2),
        0..0x20 | 0x7F => Some(at + 1),
        0xC2 => match next(1) {
            0x85 => None,
            0x80..=0x9F => Some(escape_end(bytes, at)),
            0xAD => Some(at + 2),
            _ => None,
        },
        0xCD => (next(1) == 0x8F).then_some(at + 2),
        0xE1 => (next(1) == 0xA0 && (0x8B..=0x8F).contains(&next(2))).then_some(at + 3),
        0xE2 => {
            let is_hidden = match next(1) {
                0x80 => matches!(next(2), 0x8B..=0x8F | 0xAA..=0xAE),
                0x81 => matches!(next(2), 0xA0..=0xAF),
                _ => false,
            };
            is_hidden.then_some(at + 3)
        }
        0xEF => {
            let is_mark = next(1) == 0xBB && next(2) == 0xBF;
            let is_selector = next(1) == 0xB8 && (0x80..=0x8F).contains(&next(2));
            (is_mark || is_selector).then_some(at + 3)
        }
        0xF3 => (next(1) == 0xA0).then_some(at + 4),
        _ => None,
    }
}

/// Whether the line before a line feed is one of wrapped base64.
fn ends_wrapped(bytes: &[u8], at: usize) -> bool {
    let is_crlf = at
        .checked_sub(1)
        .is_some_and(|before| bytes.get(before) == Some(&b'\r'));
    is_wrap(bytes, at - usize::from(is_crlf), at + 1)
}

/// Whether the line break between two places is in the middle of wrapped base64.
fn is_wrap(bytes: &[u8], line_end: usize, next_line: usize) -> bool {
    let is_base64 =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let start = line_end.checked_sub(WRAPPED_CHARS);
    start
        .and_then(|start| bytes.get(start..line_end))
        .is_some_and(|line| line.iter().all(is_base64))
        && bytes.get(next_line).is_some_and(is_base64)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::Displayed;

    #[test]
    fn hidden_characters_go_and_ranges_lead_back() {
        for (text, displayed) in [
            ("a\u{1b}[1;31mbc\u{1b}[0md", "abcd"),
            ("a\u{200b}b\u{feff}c\u{ad}d", "abcd"),
            ("aa\u{8}b_\u{8}cd", "abcd"),
            ("a\u{9b}1mb\u{0}cd", "abcd"),
            ("\u{8}abcd", "abcd"),
        ] {
            let view = Displayed::of(text, false).unwrap().unwrap();
            assert_eq!(view.text, displayed, "{text:?}");
            let range = view.written(&(1..3));
            assert!(text.get(range).unwrap().starts_with('b'), "{text:?}");
        }
        assert!(
            Displayed::of("plain é 日\ttext\r\n", true)
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn wrapped_base64_is_one_run() {
        let text = format!("{}\r\n{}\nend", "aB3d".repeat(19), "xyz");
        let view = Displayed::of(&text, true).unwrap().unwrap();
        assert!(view.text.contains("aB3dxyz\nend"));
    }
}
