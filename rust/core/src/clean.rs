//! What a terminal would show of an output: no escape sequences, no overwritten progress.

mod screen;

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::find_text::any_of;
use aho_corasick::AhoCorasick;
use memchr::{memchr, memchr3};

const ESCAPE: u8 = 0x1B;
/// How a C1 control (U+0080 to U+009F) begins in UTF-8.
const C1_LEAD: u8 = 0xC2;
/// What stands in states of progress bars.
const PROGRESS_MARKS: [&str; 11] = [
    "%", "B/s", "it/s", "s/it", "--:--", "eta ", "━", "█", "▏", "#####", "=====",
];
static PROGRESS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(PROGRESS_MARKS));
/// The dots that programs turn while they work.
const SPINNERS: std::ops::RangeInclusive<char> = '\u{2800}'..='\u{28ff}';
/// Only this much of a segment is looked at to tell progress from text.
const PROGRESS_WINDOW_BYTES: usize = 240;
/// Only this much of a segment tells one progress bar from another.
const KEY_BYTES: usize = 40;

/// `text` without escape sequences: CSI (7 and 8 bit, colons in it too), OSC, DCS, SOS, PM and APC
/// (ended or not), character sets and single shifts.
///
/// An unended OSC, DCS, SOS, PM or APC reaches to the end of its line.
#[must_use]
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    if next_escape(text, 0).is_none() {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    let rest = each_escape(text, &mut cleaned, |_, _| true);
    cleaned.push_str(rest.unwrap_or_default());
    Cow::Owned(cleaned)
}

/// Adds `text` up to the last escape sequence to `cleaned`, without any; `found` gets each with the text
/// so far, and says whether to go on. What follows the last, if it always did.
fn each_escape<'a>(
    text: &'a str,
    cleaned: &mut String,
    mut found: impl FnMut(&str, &mut String) -> bool,
) -> Option<&'a str> {
    let mut kept_from = 0;
    while let Some(start) = next_escape(text, kept_from) {
        cleaned.push_str(text.get(kept_from..start).unwrap_or_default());
        kept_from = escape_end(text.as_bytes(), start).min(text.len());
        while !text.is_char_boundary(kept_from) {
            kept_from += 1;
        }
        if !found(text.get(start..kept_from).unwrap_or_default(), cleaned) {
            return None;
        }
    }
    text.get(kept_from..)
}

/// `text` as a reader of lines wants it: without escapes, lines ended by `\n` alone, of progress
/// that overwrote itself only the last state. Where something of this is there, no blanks end lines.
///
/// Segments between carriage returns that are no progress stay, each a line of its own. Of lines that
/// were drawn again after the cursor went up, the last state stays.
#[must_use]
pub fn terminal(text: &str) -> Cow<'_, str> {
    if memchr(b'\r', text.as_bytes()).is_none() && next_escape(text, 0).is_none() {
        return Cow::Borrowed(text);
    }
    let lines = flat(text).unwrap_or_else(|| screen::redrawn(text));
    Cow::Owned(lines.finish())
}

/// The lines of `text`; `None` when the cursor goes up in it.
fn flat(text: &str) -> Option<CleanLines> {
    let mut lines = CleanLines::new(text);
    let mut buffer = String::new();
    for line in text.split_inclusive('\n') {
        let ended = line.strip_suffix('\n');
        let body = ended.unwrap_or(line);
        if next_escape(body, 0).is_none() {
            lines.push(body, ended.is_some());
            continue;
        }
        buffer.clear();
        let rest = each_escape(body, &mut buffer, |sequence, cleaned| {
            let found = movement(sequence);
            if found == Some(Movement::LineStart) {
                cleaned.push('\r');
            }
            !matches!(found, Some(Movement::Up(_)))
        });
        buffer.push_str(rest?);
        // Sequences behind the last line are no line.
        if ended.is_some() || !buffer.is_empty() {
            lines.push(&buffer, ended.is_some());
        }
    }
    Some(lines)
}

/// Where a sequence moves the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Movement {
    /// To the first column, or the line is emptied.
    LineStart,
    /// Up so many lines.
    Up(usize),
    /// Down so many lines.
    Down(usize),
}

/// The movement that `sequence` asks for; none for colours and most others.
fn movement(sequence: &str) -> Option<Movement> {
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

/// Lines without escapes as they come, of bars that overwrite themselves only the last state.
struct CleanLines {
    text: String,
    /// The state of the bar that is drawn at present; it is written when another text follows.
    bar: String,
    has_bar: bool,
    ended: bool,
}

impl CleanLines {
    /// None so far, of a text like `text`.
    fn new(text: &str) -> Self {
        Self {
            text: String::with_capacity(text.len() + 1),
            bar: String::new(),
            has_bar: false,
            ended: true,
        }
    }

    /// One more line, and whether a newline ended it.
    fn push(&mut self, line: &str, ended: bool) {
        self.ended = ended;
        let body = line.trim_end_matches('\r');
        if memchr(b'\r', body.as_bytes()).is_none() {
            self.line(body);
            return;
        }
        for segment in body.split('\r').filter(|part| !part.trim_end().is_empty()) {
            self.segment(segment);
        }
    }

    fn line(&mut self, line: &str) {
        if self.has_bar && is_progress(line) && same_bar(&self.bar, line) {
            self.draw(line);
            return;
        }
        self.flush();
        push_line(&mut self.text, line);
    }

    fn segment(&mut self, segment: &str) {
        if is_spinner(segment.trim()) {
            return;
        }
        if !is_progress(segment) {
            self.flush();
            push_line(&mut self.text, segment);
            return;
        }
        if self.has_bar && !same_bar(&self.bar, segment) {
            self.flush();
        }
        self.draw(segment);
    }

    fn draw(&mut self, state: &str) {
        self.bar.clear();
        self.bar.push_str(state);
        self.has_bar = true;
    }

    fn flush(&mut self) {
        if std::mem::take(&mut self.has_bar) {
            push_line(&mut self.text, &self.bar);
        }
    }

    fn finish(mut self) -> String {
        self.flush();
        if !self.ended {
            self.text.pop();
        }
        self.text
    }
}

fn push_line(cleaned: &mut String, line: &str) {
    cleaned.push_str(line.trim_end_matches([' ', '\t']));
    cleaned.push('\n');
}

/// Whether a part of a line is a state of a progress bar.
pub(crate) fn is_progress(part: &str) -> bool {
    let part = beginning(part, PROGRESS_WINDOW_BYTES);
    PROGRESS.as_ref().is_some_and(|marks| marks.is_match(part))
        || part
            .trim_start()
            .starts_with(|sign| SPINNERS.contains(&sign))
}

/// Whether a trimmed part of a line is nothing but a turning sign.
fn is_spinner(part: &str) -> bool {
    let mut signs = part.chars();
    signs
        .next()
        .is_some_and(|sign| SPINNERS.contains(&sign) || matches!(sign, '|' | '/' | '-' | '\\'))
        && signs.next().is_none()
}

/// Whether two states are states of one bar.
pub(crate) fn same_bar(one: &str, other: &str) -> bool {
    key(one).eq(key(other))
}

/// What stays the same while one bar moves: the letters of its label.
fn key(part: &str) -> impl Iterator<Item = u8> + '_ {
    let label = beginning(part.trim_start(), KEY_BYTES);
    let end = label
        .find('%')
        .or_else(|| label.find(':'))
        .unwrap_or(label.len());
    label.bytes().take(end).filter(u8::is_ascii_alphabetic)
}

/// The first `bytes` of `text`, or fewer up to the end of a character.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Where the next escape sequence begins.
fn next_escape(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = from;
    loop {
        let rest = bytes.get(from..)?;
        let found = from + memchr3(ESCAPE, C1_LEAD, 0x08, rest)?;
        match bytes.get(found) {
            Some(&C1_LEAD) if !is_c1(bytes.get(found + 1)) => from = found + 1,
            _ => return Some(found),
        }
    }
}

/// Whether the byte after [`C1_LEAD`] makes a control that opens a sequence or is one.
fn is_c1(second: Option<&u8>) -> bool {
    second.is_some_and(|second| (0x80..=0x9F).contains(second) && *second != 0x85)
}

/// Where the sequence that begins at `start` ends.
fn escape_end(bytes: &[u8], start: usize) -> usize {
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

/// Parameters, intermediates and one final byte; a byte that is none of these ends it unfinished.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_sequence_goes() {
        for (raw, clean) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}[38:2::1:2:3mx\u{1b}[m", "x"),
            ("\u{9b}31mred\u{9b}0m", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;unended title\nnext", "\nnext"),
            (
                "a\u{1b}P1$r0m\u{1b}\\b\u{1b}_x\u{1b}\\c\u{1b}^y\u{1b}\\d",
                "abcd",
            ),
            ("a\u{1b}(Bb\u{1b}=c\u{1b}7d\u{1b}", "abcd"),
            ("é\u{1b}[31é", "éé"),
            ("caf\u{c3a9}\u{1b}[", "caf\u{c3a9}"),
            ("a\u{8}b", "ab"),
            ("\u{1b}\u{1b}[1mx", "x"),
        ] {
            assert_eq!(without_escapes(raw), clean, "{raw:?}");
        }
    }

    #[test]
    fn a_text_without_sequences_is_not_copied() {
        assert!(matches!(terminal("plain é £ ½\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn of_a_bar_only_the_last_state_stays() {
        let raw = "start\n\rload:  1%\rload: 50%\rload: 100%\rdone\nafter\r\n";
        assert_eq!(terminal(raw), "start\nload: 100%\ndone\nafter\n");
    }

    #[test]
    fn text_between_carriage_returns_stays() {
        assert_eq!(
            terminal("> GET /\r> Host: a\r\n<p>\rbody\n"),
            "> GET /\n> Host: a\n<p>\nbody\n"
        );
    }

    #[test]
    fn cleaning_twice_is_cleaning_once() {
        for raw in [
            "\u{1b}[1m\rload: 1%\rload: 2%\n",
            "a\r\n\r\nb\r",
            "x\u{1b}]\u{1b}[m",
        ] {
            let once = terminal(raw).into_owned();
            assert_eq!(terminal(&once), once, "{raw:?}");
        }
    }
}
