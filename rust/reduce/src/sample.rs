//! Chooses the lines of a very long text that may matter, in little more time than it takes to find its line ends.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
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
const SLOTS: usize = 1 << 12;
/// A shape is rare up to this number of lines.
const RARE: u32 = 2;
/// That many bytes of a line make its shape.
const SHAPE_BYTES: usize = 16;

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
    let mut shapes = vec![0_u32; SLOTS];
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
    static WORDS: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let Some(words) = WORDS.get_or_init(|| AhoCorasick::new(BAD).ok()) else {
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
    let line = part
        .get(start..end.min(start + SHAPE_BYTES))
        .unwrap_or_default();
    let hash = line.iter().fold(0_u32, |hash, byte| {
        let sign = if byte.is_ascii_digit() { b'0' } else { *byte };
        (hash.rotate_left(5) ^ u32::from(sign)).wrapping_mul(0x9E37_79B9)
    });
    usize::try_from(hash >> 20).unwrap_or_default()
}
