//! Very long lines: what no reader looks at goes before any family reads it.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::{memchr, memrchr};

use crate::clean::beginning;

/// Longer lines are cut.
const LONG_BYTES: usize = 65_536;
/// What stays of them.
const HEAD_BYTES: usize = 24_000;
const TAIL_BYTES: usize = 12_000;

pub(super) const NOTE_HEAD: &str = "...[";
pub(super) const NOTE_TAIL: &str = " chars]...";

/// `text` with the middle of very long lines replaced by the count of its characters.
///
/// Lines that begin as JSON stay whole: some families read them as such.
pub(super) fn cut(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut short = String::new();
    let mut kept_from = 0;
    let mut at = 0;
    while let Some(window) = bytes.get(at..at + LONG_BYTES) {
        if let Some(newline) = memrchr(b'\n', window) {
            at += newline + 1;
            continue;
        }
        let rest = bytes.get(at + LONG_BYTES..).unwrap_or_default();
        let end = memchr(b'\n', rest).map_or(bytes.len(), |newline| at + LONG_BYTES + newline);
        let line = text.get(at..end).unwrap_or_default();
        if !line.trim_start().starts_with(['{', '[']) {
            let head = at + beginning(line, HEAD_BYTES).len();
            let tail = at + beginning(line, line.len() - TAIL_BYTES).len();
            let hidden = text.get(head..tail).unwrap_or_default().chars().count();
            short.push_str(text.get(kept_from..head).unwrap_or_default());
            // Writing to a `String` cannot fail.
            let _ = write!(short, "{NOTE_HEAD}{hidden}{NOTE_TAIL}");
            kept_from = tail;
        }
        at = end + 1;
    }
    if kept_from == 0 {
        return Cow::Borrowed(text);
    }
    short.push_str(text.get(kept_from..).unwrap_or_default());
    Cow::Owned(short)
}

/// How many characters of a line that was cut are hidden in `part` of it, beyond those of its note.
pub(super) fn hidden_chars(part: &str) -> usize {
    if part.len() < HEAD_BYTES {
        return 0;
    }
    let note = part.split_once(NOTE_HEAD).and_then(|(_, rest)| {
        let (digits, _) = rest.split_once(NOTE_TAIL)?;
        let number: usize = digits.parse().ok()?;
        Some(number - (NOTE_HEAD.len() + digits.len() + NOTE_TAIL.len()).min(number))
    });
    note.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::line::shorten;
    use super::*;

    #[test]
    fn a_very_long_line_keeps_its_ends() {
        let text = format!(
            "one\n{}\u{e9}{}\nlast",
            "a".repeat(40_000),
            "b".repeat(80_000)
        );
        let short = cut(&text);
        assert!(short.starts_with("one\naaa") && short.ends_with("bbb\nlast"));
        assert!(short.contains("a...[84001 chars]...b"), "{short}");
        assert!(matches!(cut(&short), Cow::Borrowed(_)));
    }

    #[test]
    fn a_line_that_is_cut_and_shortened_counts_all_that_is_hidden() {
        let text = "a".repeat(100_000);
        let short = cut(&text);
        assert_eq!(shorten(&short, 90), shorten(&text, 90));
    }

    #[test]
    fn json_and_lines_that_are_not_very_long_stay() {
        let line = "a".repeat(10_000) + "\n";
        for text in [line.repeat(9), format!("{{{}", "a".repeat(90_000))] {
            assert!(matches!(cut(&text), Cow::Borrowed(_)));
        }
    }
}
