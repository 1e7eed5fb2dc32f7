//! Reads a clean text into lines; a long line of JSON into its members.

use memchr::memchr;

use crate::cells::Cells;
use crate::sample;
use crate::source::{Line, Source, Span};

/// A longer line is divided into pieces, or its middle is left out.
pub(crate) const LONG_LINE: usize = 600;
/// A container of JSON of at most this many bytes is one piece.
const SMALL_CONTAINER: usize = 100;
/// A part of a string before an escaped line end is a piece of its own from this length.
const LEAST_STRING: usize = 20;
/// At most this many pieces are made of one line.
const MOST_PIECES: usize = 60_000;

/// The lines of `text`. Of a very long text only those that may matter are read, and all are counted.
pub(crate) fn read(text: &str) -> Source<'_> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut source = Source {
        text,
        lines: Cells::default(),
        bundles: Cells::default(),
        total: 0,
    };
    if sample::is_needed(body) {
        source.total = sample::each(body, |number, span| {
            push(&mut source.lines, text, number, span);
        });
        return source;
    }
    let mut start = 0;
    loop {
        let rest = body.as_bytes().get(start..).unwrap_or_default();
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        let span = Span::new(start, start + length);
        push(&mut source.lines, text, source.total, span);
        source.total += 1;
        start += length + 1;
        if start > body.len() {
            return source;
        }
    }
}

fn push(lines: &mut Cells<Line>, text: &str, number: usize, span: Span) {
    let raw = text.get(span.start..span.end).unwrap_or_default();
    let blanks = raw.len() - raw.trim_ascii_start().len();
    let indent = if raw.is_ascii() {
        blanks
    } else {
        drawn_indent(raw)
    };
    let end = span.start + raw.trim_ascii_end().len().max(blanks.min(raw.len()));
    let line = Line {
        span: Span::new(span.start, end),
        number,
        indent,
        blanks,
        ..Line::default()
    };
    let is_json = end - span.start > LONG_LINE
        && raw
            .as_bytes()
            .get(blanks)
            .is_some_and(|byte| b"{[".contains(byte))
        && raw.trim_ascii_end().ends_with(['}', ']', ',']);
    if !is_json {
        lines.push(line);
        return;
    }
    for (span, depth) in members(text, Span::new(span.start + blanks, end)) {
        lines.push(Line {
            span,
            indent: indent + 2 * depth,
            is_piece: true,
            ..line.clone()
        });
    }
}

/// The columns before the first sign that is neither white space nor a line of a drawn tree.
fn drawn_indent(line: &str) -> usize {
    let is_drawn =
        |sign: &char| sign.is_ascii_whitespace() || ('\u{2500}'..='\u{257f}').contains(sign);
    line.chars().take_while(is_drawn).count()
}

/// The members of JSON on one line with their depths; small containers are in one piece.
fn members(text: &str, line: Span) -> Vec<(Span, usize)> {
    let bytes = text.as_bytes();
    let byte = |at: usize| {
        if at < line.end {
            bytes.get(at).copied().unwrap_or_default()
        } else {
            0
        }
    };
    let mut pieces = Pieces {
        spans: Vec::new(),
        opened: Vec::new(),
        at: line.start,
        in_string: false,
    };
    let (mut at, mut is_quoted) = (line.start, false);
    while at < line.end && pieces.spans.len() < MOST_PIECES {
        let sign = byte(at);
        if is_quoted {
            match sign {
                b'\\' => {
                    if byte(at + 1) == b'n' && at > pieces.at + LEAST_STRING {
                        pieces.close(bytes, at);
                        (pieces.at, pieces.in_string) = (at + 2, true);
                    }
                    at += 1;
                }
                b'"' => is_quoted = false,
                _ => {}
            }
        } else if pieces.in_string && matches!(sign, b',' | b'}' | b']') {
            pieces.close(bytes, at);
            pieces.in_string = false;
            continue;
        } else {
            match sign {
                b'"' => is_quoted = true,
                b'{' | b'[' => {
                    let start = pieces.at;
                    let before = pieces.spans.len();
                    pieces.close(bytes, at + 1);
                    pieces.opened.push((start, before));
                }
                b'}' | b']' => {
                    pieces.close(bytes, at);
                    let mut end = at + 1;
                    if byte(end) == b',' {
                        end += 1;
                    }
                    if let Some((start, before)) = pieces.opened.pop()
                        && end - start <= SMALL_CONTAINER
                    {
                        pieces.spans.truncate(before);
                        pieces.at = start;
                    }
                    pieces.close(bytes, end);
                    at = end - 1;
                }
                b',' => pieces.close(bytes, at + 1),
                _ => {}
            }
        }
        at += 1;
    }
    pieces.close(bytes, line.end);
    pieces.spans
}

struct Pieces {
    spans: Vec<(Span, usize)>,
    /// Where each open container starts, and how many pieces are before it.
    opened: Vec<(usize, usize)>,
    /// Where the next piece starts.
    at: usize,
    /// Whether it is inside of a string.
    in_string: bool,
}

impl Pieces {
    fn close(&mut self, bytes: &[u8], end: usize) {
        let piece = bytes.get(self.at..end).unwrap_or_default();
        let blanks = piece.len() - piece.trim_ascii_start().len();
        if blanks < piece.len() {
            let depth = self.opened.len() + usize::from(self.in_string);
            self.spans.push((Span::new(self.at + blanks, end), depth));
        }
        self.at = end;
    }
}
