//! Escape sequences: where they are and where they move the cursor.

use memchr::memchr3;

use crate::chunk::equal;

const ESCAPE: u8 = 0x1B;
/// How a C1 control (U+0080 to U+009F) begins in UTF-8.
const C1_LEAD: u8 = 0xC2;
const BACKSPACE: u8 = 0x08;
/// Most sequences are followed by the next within this many bytes.
const NEAR_BYTES: usize = 32;

/// Adds `text` up to the last escape sequence to `cleaned`, without any; `found` gets each with the text
/// so far, and states whether to go on. What follows the last, if it always did. The first begins at `first`.
pub(super) fn each_escape<'a>(
    text: &'a str,
    first: Option<usize>,
    cleaned: &mut String,
    mut found: impl FnMut(&str, &mut String) -> bool,
) -> Option<&'a str> {
    let mut kept_from = 0;
    let mut next = first;
    while let Some(start) = next {
        cleaned.push_str(text.get(kept_from..start).unwrap_or_default());
        kept_from = escape_end(text.as_bytes(), start).min(text.len());
        while !text.is_char_boundary(kept_from) {
            kept_from += 1;
        }
        if !found(text.get(start..kept_from).unwrap_or_default(), cleaned) {
            return None;
        }
        next = next_escape_near(text, kept_from);
    }
    text.get(kept_from..)
}

/// Where a sequence moves the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Movement {
    /// To the first column, or the line is emptied.
    LineStart,
    /// Up this many lines.
    Up(usize),
    /// Down this many lines.
    Down(usize),
}

/// The movement that `sequence` asks for; none for colours and most others.
pub(super) fn movement(sequence: &str) -> Option<Movement> {
    // Most sequences are colours.
    if sequence.ends_with('m') {
        return None;
    }
    let parameters = sequence
        .strip_prefix("\u{1b}[")
        .or_else(|| sequence.strip_prefix('\u{9b}'))?;
    let last = parameters.as_bytes().last()?;
    let number = parameters.get(..parameters.len() - 1)?;
    let count = number.parse().unwrap_or(1).max(1);
    match last {
        b'G' if count == 1 => Some(Movement::LineStart),
        b'K' if number == "2" => Some(Movement::LineStart),
        b'A' | b'F' => Some(Movement::Up(count)),
        b'B' | b'E' => Some(Movement::Down(count)),
        _ => None,
    }
}

/// Where the next escape sequence begins.
pub(super) fn next_escape(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = from;
    loop {
        let rest = bytes.get(from..)?;
        let found = from + memchr3(ESCAPE, C1_LEAD, BACKSPACE, rest)?;
        if begins_escape(bytes, found) {
            return Some(found);
        }
        from = found + 1;
    }
}

/// The same behind a sequence: most stand near the one before, where to begin a search takes longer than
/// to read some words.
fn next_escape_near(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let near = bytes.get(from..)?;
    let (words, _) = near.get(..NEAR_BYTES).unwrap_or(near).as_chunks();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let mut found = equal(word, ESCAPE) | equal(word, C1_LEAD) | equal(word, BACKSPACE);
        while found != 0 {
            let at = from + 8 * number + found.trailing_zeros() as usize / 8;
            if begins_escape(bytes, at) {
                return Some(at);
            }
            found &= found - 1;
        }
    }
    next_escape(text, from + 8 * words.len())
}

/// Whether the byte at `at`, one of the three that can, begins a sequence.
fn begins_escape(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) != Some(&C1_LEAD) || is_c1(bytes.get(at + 1))
}

/// Whether the byte after [`C1_LEAD`] makes a control that opens a sequence or is one.
fn is_c1(second: Option<&u8>) -> bool {
    second.is_some_and(|second| (0x80..=0x9F).contains(second) && *second != 0x85)
}

/// Where the sequence that begins at `start` ends.
pub(crate) fn escape_end(bytes: &[u8], start: usize) -> usize {
    let at = |position: usize| bytes.get(position).copied();
    let (kind, body) = match at(start) {
        Some(ESCAPE) => (at(start + 1), start + 2),
        Some(C1_LEAD) => (at(start + 1).map(|second| second - 0x40), start + 2),
        _ => return start + 1,
    };
    match kind {
        Some(b'[') => control_sequence_end(bytes, body),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => string_end(bytes, body),
        Some(b' '..=b'/') => {
            let middle = bytes.get(body..).unwrap_or_default();
            let middle = middle
                .iter()
                .take_while(|byte| (b' '..=b'/').contains(byte));
            body + middle.count() + 1
        }
        Some(b'0'..=b'~') => body,
        _ if at(start) == Some(C1_LEAD) => body,
        _ => start + 1,
    }
}

/// Parameters, intermediates and one final byte; a byte that is not one of these ends it unfinished.
fn control_sequence_end(bytes: &[u8], body: usize) -> usize {
    let rest = bytes.get(body..).unwrap_or_default();
    let parameters = rest.iter().take_while(|byte| (0x20..=0x3F).contains(*byte));
    let end = body + parameters.count();
    match bytes.get(end) {
        Some(0x40..=0x7E) => end + 1,
        _ => end,
    }
}

/// Up to and with BEL, `ESC \` or U+009C; the end of the line when none comes before it.
fn string_end(bytes: &[u8], body: usize) -> usize {
    let mut position = body;
    while let Some(&byte) = bytes.get(position) {
        match byte {
            0x07 => return position + 1,
            b'\n' => return position,
            ESCAPE => {
                return if bytes.get(position + 1) == Some(&b'\\') {
                    position + 2
                } else {
                    position
                };
            }
            C1_LEAD if bytes.get(position + 1) == Some(&0x9C) => return position + 2,
            _ => position += 1,
        }
    }
    position
}
