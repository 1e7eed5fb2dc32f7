//! Progress bars: what is a state of one, and which states are of one bar.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::beginning;
use crate::find_text::any_of;

/// What is in states of progress bars.
const PROGRESS_MARKS: [&str; 11] = [
    "%", "B/s", "it/s", "s/it", "--:--", "eta ", "━", "█", "▏", "#####", "=====",
];
static PROGRESS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(PROGRESS_MARKS));
/// The dots that programs turn while they work.
const SPINNERS: std::ops::RangeInclusive<char> = '\u{2800}'..='\u{28ff}';
/// Only this much of a segment is looked at to tell progress from text.
const PROGRESS_WINDOW_BYTES: usize = 240;
/// Only this much of a segment distinguishes one progress bar from another.
const KEY_BYTES: usize = 40;

/// Whether a part of a line is a state of a progress bar.
pub fn is_progress(part: &str) -> bool {
    let part = beginning(part, PROGRESS_WINDOW_BYTES);
    PROGRESS.as_ref().is_some_and(|marks| marks.is_match(part))
        || part
            .trim_start()
            .starts_with(|sign| SPINNERS.contains(&sign))
}

/// Whether a trimmed part of a line is nothing but a turning sign.
pub(super) fn is_spinner(part: &str) -> bool {
    let mut characters = part.chars();
    characters
        .next()
        .is_some_and(|sign| SPINNERS.contains(&sign) || matches!(sign, '|' | '/' | '-' | '\\'))
        && characters.next().is_none()
}

/// Whether two states are states of one bar.
#[must_use]
pub fn same_bar(one: &str, other: &str) -> bool {
    key(one).eq(key(other))
}

/// What stays the same while one bar moves: the letters of its label.
fn key(part: &str) -> impl Iterator<Item = &u8> {
    let label = beginning(part.trim_start(), KEY_BYTES).as_bytes();
    let place = |sign| label.iter().position(|byte| *byte == sign);
    let end = place(b'%').or_else(|| place(b':')).unwrap_or(label.len());
    let letters = label.iter().take(end);
    letters.filter(|byte| byte.is_ascii_alphabetic())
}

/// Text of fewer characters behind a bar is a part of it.
const GLUED_CHARS: usize = 8;

/// Where in `segment`, the next state of the bar `state`, another text begins that was written behind
/// it without a line feed: `40% 4/10` and `50% 5/10cannot open leaf.txt`.
pub(super) fn glued(state: &str, segment: &str) -> Option<usize> {
    if segment.len() < state.len() + GLUED_CHARS - 2 || ends_in_word(state) {
        return None;
    }
    let mut drawn = state.chars().peekable();
    let mut read = segment.char_indices().peekable();
    while let Some(expected) = drawn.next() {
        let (_, found) = read.next()?;
        if is_moving(expected) != is_moving(found) || !is_moving(found) && expected != found {
            return None;
        }
        if is_moving(found) {
            while drawn.next_if(|sign| is_moving(*sign)).is_some() {}
            while read.next_if(|(_, sign)| is_moving(*sign)).is_some() {}
        }
    }
    let (at, first) = read.next()?;
    let text = segment.get(at..)?;
    let is_message = text.chars().count() >= GLUED_CHARS && text.trim_end().contains(' ');
    (is_message && (first.is_alphabetic() || first == '[')).then_some(at)
}

/// Characters that form a bar and its numbers.
fn is_moving(sign: char) -> bool {
    matches!(sign, '0'..='9' | ' ' | '.' | ':' | '?' | '#' | '=' | '>' | '-' | '\u{2500}'..='\u{25ff}')
}

/// Whether a bar ends with words, which may change, and not with numbers or a rate.
fn ends_in_word(state: &str) -> bool {
    let state = state.trim_end();
    state.ends_with(char::is_alphabetic) && !state.ends_with("/s")
}
