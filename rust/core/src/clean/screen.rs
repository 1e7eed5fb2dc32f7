//! Lines that a program drew again after it moved the cursor up: several bars, a table of tests.

use memchr::memchr3;

use super::CleanLines;
use super::bar::{is_progress, is_spinner};
use super::escape::{Movement, each_escape, movement, next_escape};
use super::overwrite;

/// Only this many lines can be on a screen; what is above them is not drawn again.
const SCREEN_LINES: usize = 256;
/// Only this much of a line states what it is about.
const LABEL_CHARS: usize = 60;
/// The label of an empty line.
const BLANK: u64 = 0;

/// The lines of `text` without escape sequences, each in its last state.
///
/// A line with other content than the one it overwrites does not replace it: both stay.
pub(super) fn redrawn(text: &str) -> CleanLines {
    let mut screen = Screen {
        lines: Vec::new(),
        labels: Vec::new(),
        cursor: 0,
        drawn: String::new(),
        above: CleanLines::new(text),
    };
    let mut part = String::new();
    let first = next_escape(text, 0);
    let rest = each_escape(text, first, &mut part, |sequence, part| {
        screen.text(part);
        part.clear();
        if overwrite::edits_line(sequence) && movement(sequence).is_none() {
            screen.drawn.push_str(sequence);
        }
        match movement(sequence) {
            Some(Movement::LineStart) => screen.line_start(),
            Some(Movement::Up(lines)) => screen.up(lines),
            Some(Movement::Down(lines)) => screen.down(lines),
            None => {}
        }
        true
    });
    screen.text(rest.unwrap_or_default());
    screen.line_start();
    screen.close(text.ends_with('\n'))
}

struct Screen {
    lines: Vec<String>,
    /// What each line is about.
    labels: Vec<u64>,
    /// The line that is drawn next; beyond the last one when it is new.
    cursor: usize,
    /// What was drawn in it since the cursor came to its beginning.
    drawn: String,
    /// The lines that are above the screen.
    above: CleanLines,
}

impl Screen {
    fn text(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            let line = part.strip_suffix('\n');
            self.drawn.push_str(line.unwrap_or(part));
            if line.is_some() {
                self.draw();
                let empty = self.drawn.trim().is_empty();
                if empty && self.cursor >= self.lines.len() {
                    self.push(String::new(), BLANK);
                    self.cursor = self.lines.len();
                    self.drawn.clear();
                } else if empty {
                    self.cursor += 1;
                    self.drawn.clear();
                } else {
                    self.line_start();
                    self.cursor += 1;
                }
                self.scroll();
            }
        }
    }

    /// Gives away the lines that are above the screen, many at once.
    fn scroll(&mut self) {
        let top = self.lines.len().saturating_sub(SCREEN_LINES);
        let top = top.min(self.cursor);
        if top >= SCREEN_LINES {
            for line in self.lines.drain(..top) {
                self.above.push(&line, true);
            }
            self.labels.drain(..top);
            self.cursor -= top;
        }
    }

    /// All lines; whether a newline ended the last of them.
    fn close(mut self, ended: bool) -> CleanLines {
        let last = self.lines.pop();
        for line in self.lines {
            self.above.push(&line, true);
        }
        // A sign that turned last was wiped away.
        if let Some(last) = last.filter(|last| ended || !is_spinner(last.trim())) {
            self.above.push(&last, ended);
        }
        self.above
    }

    /// Applies the carriage returns, backspaces and sequences of what was drawn.
    fn draw(&mut self) {
        if memchr3(b'\r', b'\x08', 0x1b, self.drawn.as_bytes()).is_some()
            || self.drawn.contains('\u{9b}')
        {
            self.drawn = overwrite::overwritten(&self.drawn);
        }
    }

    /// Puts what was drawn into its line; the cursor stays there.
    fn line_start(&mut self) {
        self.draw();
        let drawn = std::mem::take(&mut self.drawn);
        if drawn.trim().is_empty() {
            return;
        }
        let label = label(&drawn);
        let top = self.lines.len().saturating_sub(SCREEN_LINES);
        let from = top.max(self.cursor);
        let below = self.labels.get(from..).unwrap_or_default();
        let found = below.iter().position(|other| *other == label);
        let own = self.lines.get(self.cursor);
        let own_goes = own.is_some_and(|own| is_progress(own))
            || below.first().is_some_and(|other| *other == BLANK);
        let index = match found {
            Some(offset) if offset == 0 || !own_goes => from + offset,
            _ if own_goes => self.cursor,
            _ => self.lines.len(),
        };
        self.cursor = index;
        match (self.lines.get_mut(index), self.labels.get_mut(index)) {
            (Some(line), Some(known)) => {
                *line = drawn;
                *known = label;
            }
            _ => self.push(drawn, label),
        }
    }

    fn push(&mut self, line: String, label: u64) {
        self.lines.push(line);
        self.labels.push(label);
    }

    fn up(&mut self, lines: usize) {
        self.line_start();
        let top = self.lines.len().saturating_sub(SCREEN_LINES);
        self.cursor = self.cursor.saturating_sub(lines).max(top);
    }

    fn down(&mut self, lines: usize) {
        self.line_start();
        self.cursor = self.cursor.saturating_add(lines).min(self.lines.len());
    }
}

/// What stays the same while a line changes: what precedes a colon, without signs, and without
/// digits where there is no colon.
fn label(line: &str) -> u64 {
    let line = line.trim_start();
    let beginning: &str = line
        .char_indices()
        .nth(LABEL_CHARS)
        .and_then(|(at, _)| line.get(..at))
        .unwrap_or(line);
    let named = beginning.split_once(':').map(|(name, _)| name);
    let name = named.unwrap_or(beginning);
    name.chars()
        .filter(|sign| sign.is_alphabetic() || named.is_some() && sign.is_ascii_digit())
        .fold(BLANK + 1, |hash, sign| {
            (hash.rotate_left(5) ^ u64::from(sign)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        })
}

#[cfg(test)]
mod tests {
    use super::super::terminal;

    #[test]
    fn several_bars_end_in_their_last_state() {
        let raw = "pull oak\na1b2: Waiting\nc3d4: Waiting\n\u{1b}[2A\u{1b}[2K\ra1b2: Downloading 1MB\n\
            \u{1b}[1B\u{1b}[1A\u{1b}[2K\rc3d4: Pull complete\n\u{1b}[2A\u{1b}[2K\ra1b2: Pull complete\n\u{1b}[1Bdone\n";
        assert_eq!(
            terminal(raw),
            "pull oak\na1b2: Pull complete\nc3d4: Pull complete\ndone\n"
        );
    }

    #[test]
    fn text_that_says_something_else_stays() {
        let raw = "error: oak is ill\n\u{1b}[1A\u{1b}[2Kall is well\n";
        assert_eq!(terminal(raw), "error: oak is ill\nall is well\n");
    }

    #[test]
    fn a_spinner_leaves_the_text_after_it() {
        let raw = "\u{1b}[1G\u{1b}[0K⠙\u{1b}[1G\u{1b}[0K⠹\u{1b}[1G\u{1b}[0Kadded 2 packages\n";
        assert_eq!(terminal(raw), "added 2 packages\n");
    }
}
