//! Very long lines are cut before any family reads them.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::{memchr, memrchr};

use ethos_registry_core::clean::beginning;

/// Longer lines are cut.
const LONG_BYTES: usize = 65_536;
/// How much of the beginning and of the end is kept.
const HEAD_BYTES: usize = 24_000;
const TAIL_BYTES: usize = 12_000;
/// How much is kept around a search hit.
const FOUND_BYTES: usize = 1_024;

pub(crate) const NOTE_HEAD: &str = "...[";
pub(crate) const NOTE_TAIL: &str = " chars]...";

/// `text` with the middle of very long lines replaced by the count of its characters.
///
/// Text around what `find` finds in the middle is kept as well. Lines that begin like JSON are not cut,
/// because some families parse them.
pub(crate) fn cut(text: &str, find: impl Fn(&str) -> Option<usize>) -> Cow<'_, str> {
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
            let hidden = text.get(head..tail).unwrap_or_default();
            let is_shown = find(text.get(at..head).unwrap_or_default()).is_some();
            let found = (!is_shown).then(|| find(hidden)).flatten();
            short.push_str(text.get(kept_from..head).unwrap_or_default());
            match found {
                Some(found) => {
                    let from = beginning(hidden, found.saturating_sub(FOUND_BYTES / 2)).len();
                    let (before, rest) = hidden.split_at(from);
                    let around = beginning(rest, FOUND_BYTES);
                    note(&mut short, before);
                    short.push_str(around);
                    note(&mut short, rest.get(around.len()..).unwrap_or_default());
                }
                None => note(&mut short, hidden),
            }
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

/// Appends to `short` how many characters `hidden` has.
fn note(short: &mut String, hidden: &str) {
    if !hidden.is_empty() {
        // Writing to a `String` cannot fail.
        let _ = write!(short, "{NOTE_HEAD}{}{NOTE_TAIL}", hidden.chars().count());
    }
}

/// How many characters are hidden in `part` of a cut line, in addition to those that its notes count.
pub(crate) fn hidden_chars(part: &str) -> usize {
    if part.len() < TAIL_BYTES {
        return 0;
    }
    let notes = part.split(NOTE_HEAD).skip(1).filter_map(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = rest.split_at(digits);
        let number: usize = digits
            .parse()
            .ok()
            .filter(|_| rest.starts_with(NOTE_TAIL))?;
        Some(number - (NOTE_HEAD.len() + digits.len() + NOTE_TAIL.len()).min(number))
    });
    notes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::shorten;

    #[test]
    fn a_very_long_line_keeps_its_ends() {
        let text = format!(
            "one\n{}\u{e9}{}\nlast",
            "a".repeat(40_000),
            "b".repeat(80_000)
        );
        let short = cut(&text, |_| None);
        assert!(short.starts_with("one\naaa") && short.ends_with("bbb\nlast"));
        assert!(short.contains("a...[84001 chars]...b"), "{short}");
        assert!(matches!(cut(&short, |_| None), Cow::Borrowed(_)));
    }

    #[test]
    fn a_line_that_is_cut_and_shortened_counts_all_that_is_hidden() {
        let text = "a".repeat(100_000);
        let short = cut(&text, |_| None);
        assert_eq!(shorten(&short, 90), shorten(&text, 90));
    }

    #[test]
    fn what_was_searched_for_stays_with_what_stands_around_it() {
        let text = format!("{}oak leaf{}", "a".repeat(50_000), "b".repeat(80_000));
        let short = cut(&text, |part| part.find("oak"));
        assert!(short.contains("...[25488 chars]...aaa"), "{short}");
        assert!(short.contains("aaoak leafbb"), "{short}");
        assert!(short.contains("bb...[67496 chars]...bb"), "{short}");
        assert_eq!(shorten(&short, 90), shorten(&text, 90));
        let early = format!("oak {text}");
        let short = cut(&early, |part| part.find("oak"));
        assert_eq!(short.matches("oak").count(), 1);
    }

    #[test]
    fn json_and_lines_that_are_not_very_long_stay() {
        let line = "a".repeat(10_000) + "\n";
        for text in [line.repeat(9), format!("{{{}", "a".repeat(90_000))] {
            assert!(matches!(cut(&text, |_| None), Cow::Borrowed(_)));
        }
    }
}
