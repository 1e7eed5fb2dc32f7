//! Chooses the lines of a very long text that may matter, in little more time than it takes to find its line ends.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use ethos_registry_core::find_text::any_of;
use memchr::{memchr, memchr_iter, memrchr};

use crate::source::Span;

/// Text up to this length is read whole.
const WHOLE_BYTES: usize = 1 << 18;
/// The beginning and the end of a longer text are read whole.
const HEAD_BYTES: usize = 96 << 10;
const TAIL_BYTES: usize = 64 << 10;
/// The text between them is looked at in this many windows, so that one does not use up all.
const WINDOWS: usize = 64;
/// Of each window, that many bytes are read from its beginning.
const WINDOW_BYTES: usize = 2 << 10;
/// Of each window, at most that many lines with a failure word are read, with the lines around them.
const MOST_BAD: usize = 12;
const LINES_AROUND: usize = 3;
/// Of each window, at most that many lines of a rare shape are read.
const MOST_RARE: usize = 12;
/// Slots for shapes of lines.
const SLOT_BITS: u32 = 12;
/// A shape is rare up to this number of lines.
const RARE: u32 = 2;
/// That many bytes of a line make its shape.
const SHAPE_BYTES: usize = 16;
const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Parts of failure words, in the spellings that are common.
const BAD: [&str; 14] = [
    "rror",
    "RROR",
    "fail",
    "Fail",
    "FAIL",
    "atal",
    "anic",
    "xception",
    "denied",
    "refused",
    "CRITICAL",
    "FATAL",
    "timed out",
    "Caused by",
];

/// Whether only some lines of text are read.
pub(crate) fn is_needed(text: &str) -> bool {
    text.len() > WHOLE_BYTES
}

/// Calls `read` with the number and the span of each chosen line, in order; how many lines the text has.
pub(crate) fn each(text: &str, mut read: impl FnMut(usize, Span)) -> usize {
    let bytes = text.as_bytes();
    let head = line_end(bytes, HEAD_BYTES);
    let tail = memrchr(
        b'\n',
        bytes
            .get(..bytes.len().saturating_sub(TAIL_BYTES))
            .unwrap_or_default(),
    )
    .map_or(head, |at| at + 1)
    .max(head);
    let mut number = whole(bytes, 0, Span::new(0, head), &mut read);
    let width = (tail - head) / WINDOWS + 1;
    let mut start = head;
    let mut shapes = vec![0_u32; 1 << SLOT_BITS];
    while start < tail {
        let end = line_end(bytes, start + width).min(tail);
        number = window(bytes, number, Span::new(start, end), &mut shapes, &mut read);
        start = end;
    }
    whole(bytes, number, Span::new(tail, bytes.len()), &mut read)
}

/// The offset behind the line end at or after `at`.
fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    memchr(b'\n', rest).map_or(bytes.len(), |newline| at + newline + 1)
}

/// Reads all lines of a span; the number of the next line.
fn whole(bytes: &[u8], mut number: usize, span: Span, read: &mut impl FnMut(usize, Span)) -> usize {
    let mut start = span.start;
    while start < span.end {
        let end = line_end(bytes, start).min(span.end);
        let body = end - usize::from(bytes.get(end - 1) == Some(&b'\n'));
        read(number, Span::new(start, body));
        number += 1;
        start = end;
    }
    number
}

/// Reads the lines of a window that may matter; the number of the line behind it.
fn window(
    bytes: &[u8],
    first: usize,
    span: Span,
    shapes: &mut [u32],
    read: &mut impl FnMut(usize, Span),
) -> usize {
    let part = bytes.get(span.start..span.end).unwrap_or_default();
    let mut chosen = vec![Span::new(0, line_end(part, WINDOW_BYTES.min(part.len())))];
    bad_lines(part, &mut chosen);
    let count = rare_lines(part, shapes, &mut chosen);
    chosen.sort_unstable_by_key(|span| span.start);
    let (mut at, mut number) = (0, first);
    for span_in in chosen {
        let begin = span_in.start.max(at);
        if begin >= span_in.end {
            continue;
        }
        number += memchr_iter(b'\n', part.get(at..begin).unwrap_or_default()).count();
        let lines = Span::new(span.start + begin, span.start + span_in.end);
        number = whole(bytes, number, lines, read);
        at = span_in.end;
    }
    first + count
}

/// Adds the lines with a failure word and those around them.
fn bad_lines(part: &[u8], chosen: &mut Vec<Span>) {
    static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(BAD));
    let Some(words) = &*WORDS else {
        return;
    };
    let mut at = 0;
    for _ in 0..MOST_BAD {
        let Some(found) = words.find(part.get(at..).unwrap_or_default()) else {
            return;
        };
        let here = at + found.start();
        let mut start = here;
        let mut end = here;
        for _ in 0..=LINES_AROUND {
            start = memrchr(b'\n', part.get(..start).unwrap_or_default()).unwrap_or(0);
            end = line_end(part, end);
        }
        start += usize::from(part.get(start) == Some(&b'\n'));
        chosen.push(Span::new(start, end));
        at = end;
    }
}

/// Adds the lines whose beginning has a rare shape; how many lines there are.
fn rare_lines(part: &[u8], shapes: &mut [u32], chosen: &mut Vec<Span>) -> usize {
    let (mut start, mut count, mut found) = (0, 0, 0);
    for newline in memchr_iter(b'\n', part).chain(std::iter::once(part.len())) {
        if start >= part.len() {
            break;
        }
        count += 1;
        if let Some(seen) = shapes.get_mut(slot(part, start, newline)) {
            *seen = seen.saturating_add(1);
            if *seen <= RARE && found < MOST_RARE {
                found += 1;
                chosen.push(Span::new(start, (newline + 1).min(part.len())));
            }
        }
        start = newline + 1;
    }
    count
}

/// The slot of the shape of a line: its first bytes, all digits alike.
fn slot(part: &[u8], start: usize, end: usize) -> usize {
    let rest = part.get(start..).unwrap_or_default();
    let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; SHAPE_BYTES];
        bytes
            .iter_mut()
            .zip(rest)
            .for_each(|(to, byte)| *to = *byte);
        bytes
    });
    let beyond = (start + SHAPE_BYTES).saturating_sub(end) * 8;
    let beyond = u32::try_from(beyond).unwrap_or_default();
    let shape = u128::from_le_bytes(bytes) & u128::MAX.unbounded_shr(beyond);
    let folded = without_digits(shape);
    let half = |at: u32| u64::try_from(folded >> at & u128::from(u64::MAX)).unwrap_or_default();
    let hash = (half(0).wrapping_mul(MIXER) ^ half(64)).wrapping_mul(MIXER);
    usize::try_from(hash >> (64 - SLOT_BITS)).unwrap_or_default()
}

/// The bytes of `shape` with `0` instead of each digit, all at once.
fn without_digits(shape: u128) -> u128 {
    const fn each(byte: u8) -> u128 {
        u128::from_le_bytes([byte; SHAPE_BYTES])
    }
    let high = (shape & each(0xF0)) ^ each(0x30);
    let is_other = high | ((high & each(0x7F)) + each(0x7F));
    let is_letter = (shape & each(0x0F)) + each(0x76);
    let digits = !(is_other | is_letter) & each(0x80);
    shape & !((digits >> 7) * 0x0F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_become_zeros() {
        for byte in 0..=u8::MAX {
            let bytes = [
                b'9', byte, b'a', 0, byte, 0xFF, b'0', b':', b'/', 0, 0, 0, 0, 0, 0, byte,
            ];
            let expected = bytes.map(|byte| match byte {
                b'0'..=b'9' => byte & 0xF0,
                _ => byte,
            });
            let found = without_digits(u128::from_le_bytes(bytes));
            assert_eq!(found.to_le_bytes(), expected, "{byte}");
        }
    }

    #[test]
    fn a_shape_ends_with_its_line() {
        let part = b"oak 12\nelm\noak 34\nfir";
        assert_eq!(slot(part, 0, 6), slot(part, 11, 17));
        assert_eq!(slot(part, 7, 10), slot(b"elm", 0, 3));
        assert_ne!(slot(part, 7, 10), slot(part, 18, 21));
    }
}
