//! The lines that are shown: numbered, in groups, within a limit of characters.

use std::borrow::Cow;

/// Of a long line so much precedes its match.
const BEFORE_MATCH_DIVISOR: usize = 3;

/// The text of a search, as far as it has come.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub(super) text: String,
    /// Whether a line did not fit; nothing is added after that.
    pub(super) is_full: bool,
    chars: usize,
    max_chars: usize,
    /// Whether a line is between groups that do not touch.
    parts_groups: bool,
    last_number: u64,
}

impl Output {
    pub(super) fn new(max_chars: usize, parts_groups: bool) -> Self {
        Self {
            text: String::new(),
            is_full: false,
            chars: 0,
            max_chars,
            parts_groups,
            last_number: 0,
        }
    }

    /// Adds line `number`, with `mark` between the number and its text.
    pub(super) fn add(&mut self, number: u64, mark: char, line: &str) {
        if self.is_full {
            return;
        }
        let feed = if self.text.is_empty() { "" } else { "\n" };
        let has_gap = self.parts_groups && !feed.is_empty() && number > self.last_number + 1;
        let parting = if has_gap { "\n--" } else { "" };
        let start = format!("{parting}{feed}{number}{mark}");
        // All of `start` is ASCII but a mark that is not one.
        let chars = self
            .chars
            .saturating_add(start.chars().count())
            .saturating_add(line.chars().count());
        let bytes = start.len().saturating_add(line.len());
        if chars > self.max_chars || self.text.try_reserve(bytes).is_err() {
            self.is_full = true;
            return;
        }
        self.text.push_str(&start);
        self.text.push_str(line);
        self.chars = chars;
        self.last_number = number;
    }
}

/// A line as it is shown: of one over `max_bytes` the part around `focus`, with a note on each side
/// of how much is left out; bytes that are not UTF-8 become U+FFFD.
pub(super) fn clipped(line: &[u8], focus: usize, max_bytes: usize) -> Cow<'_, str> {
    if line.len() <= max_bytes {
        return String::from_utf8_lossy(line);
    }
    let first = focus
        .saturating_sub(max_bytes / BEFORE_MATCH_DIVISOR)
        .min(line.len() - max_bytes);
    let (first, last) = (
        character_start(line, first),
        character_start(line, first + max_bytes),
    );
    let mut text = left_out(first);
    text += &String::from_utf8_lossy(line.get(first..last).unwrap_or_default());
    text += &left_out(line.len() - last);
    Cow::Owned(text)
}

/// The next place where a character of UTF-8 starts.
fn character_start(line: &[u8], at: usize) -> usize {
    let is_inside = |place: &usize| line.get(*place).is_some_and(|byte| byte & 0xC0 == 0x80);
    (at..at + 3).find(|place| !is_inside(place)).unwrap_or(at)
}

fn left_out(bytes: usize) -> String {
    if bytes == 0 {
        String::new()
    } else {
        format!("[... {} bytes ...]", grouped(bytes))
    }
}

/// A number with a comma between every three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_part_around_the_focus_is_shown() {
        let line = "x".repeat(5_000) + "needle" + &"y".repeat(1_234_567);
        let shown = clipped(line.as_bytes(), 5_000, 30);
        assert_eq!(
            shown,
            format!(
                "[... 4,990 bytes ...]{}needle{}[... 1,234,553 bytes ...]",
                "x".repeat(10),
                "y".repeat(14)
            )
        );
        assert_eq!(clipped(b"abcdef", 5, 4), "[... 2 bytes ...]cdef");
        assert_eq!(clipped(b"abcd", 3, 4), "abcd");
    }

    #[test]
    fn no_character_is_split() {
        let line = "é".repeat(100);
        for max_bytes in 3..20 {
            for focus in 0..200 {
                let shown = clipped(line.as_bytes(), focus, max_bytes);
                assert!(!shown.contains('\u{FFFD}'), "{max_bytes} {focus}");
            }
        }
        assert_eq!(clipped(b"\xFFa", 0, 9), "\u{FFFD}a");
    }

    #[test]
    fn a_line_that_does_not_fit_ends_the_text() {
        let mut output = Output::new(9, true);
        output.add(1, ':', "abc");
        output.add(3, '-', "");
        assert_eq!((output.text.as_str(), output.is_full), ("1:abc", true));
        output.add(4, ':', "");
        assert_eq!(output.text, "1:abc");
    }

    #[test]
    fn groups_that_do_not_touch_are_parted() {
        let mut output = Output::new(99, true);
        for number in [2, 3, 7] {
            output.add(number, ':', "a");
        }
        assert_eq!(output.text, "2:a\n3:a\n--\n7:a");
    }
}
