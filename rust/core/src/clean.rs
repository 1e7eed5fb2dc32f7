//! What a terminal would show of an output: no escape sequences, no overwritten progress.

mod bar;
mod escape;
mod screen;
mod words;

pub(crate) use bar::{is_progress, same_bar};
pub(crate) use words::marked_words;

use std::borrow::Cow;

use memchr::memchr;

use bar::{glued, is_spinner};
use escape::{Movement, each_escape, movement, next_escape};

/// `text` without escape sequences: CSI (7 and 8 bit, colons in it too), OSC, DCS, SOS, PM and APC
/// (ended or not), character sets and single shifts.
///
/// An unended OSC, DCS, SOS, PM or APC reaches to the end of its line.
#[must_use]
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    let first = next_escape(text, 0);
    if first.is_none() {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    let rest = each_escape(text, first, &mut cleaned, |_, _| true);
    cleaned.push_str(rest.unwrap_or_default());
    Cow::Owned(cleaned)
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
    let mut escape = next_escape(text, 0).unwrap_or(text.len());
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let newline = memchr(b'\n', rest.as_bytes());
        let line = rest.get(..newline.unwrap_or(rest.len()))?;
        let end = start + line.len();
        if escape >= end {
            lines.push(line, newline.is_some());
        } else {
            lines.push_escaped(line, escape - start, newline.is_some())?;
            escape = next_escape(text, end).unwrap_or(text.len());
        }
        start = end + 1;
    }
    Some(lines)
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
        let returned = memchr(b'\r', line.as_bytes());
        let (body, rest) = line
            .split_at_checked(returned.unwrap_or(line.len()))
            .unwrap_or_default();
        if rest.bytes().all(|byte| byte == b'\r') {
            if !ended && returned.is_some() && is_spinner(body.trim()) {
                // It was wiped away, and nothing came.
                self.ended = true;
            } else {
                self.line(body);
            }
            return;
        }
        let body = line.trim_end_matches('\r');
        for segment in body.split('\r').filter(|part| !part.trim_end().is_empty()) {
            self.segment(segment);
        }
    }

    /// One more line, in which a sequence begins at `escape`; `None` when the cursor goes up in it.
    fn push_escaped(&mut self, line: &str, escape: usize, ended: bool) -> Option<()> {
        let start = self.text.len();
        let rest = each_escape(line, Some(escape), &mut self.text, |sequence, cleaned| {
            let found = movement(sequence);
            if found == Some(Movement::LineStart) {
                cleaned.push('\r');
            }
            !matches!(found, Some(Movement::Up(_)))
        });
        self.text.push_str(rest?);
        let cleaned = self.text.get(start..).unwrap_or_default();
        // Sequences behind the last line are no line.
        if !ended && cleaned.is_empty() {
            return Some(());
        }
        if self.has_bar || memchr(b'\r', cleaned.as_bytes()).is_some() {
            let cleaned = cleaned.to_owned();
            self.text.truncate(start);
            self.push(&cleaned, ended);
        } else {
            let end = start + without_blanks(cleaned).len();
            self.text.truncate(end);
            self.text.push('\n');
            self.ended = ended;
        }
        Some(())
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
        // Why a transfer failed is said behind its last state.
        if let Some(at) = segment.find("curl: (").filter(|at| *at > 0) {
            let (state, failure) = segment.split_at_checked(at).unwrap_or_default();
            self.draw(state);
            self.flush();
            push_line(&mut self.text, failure);
            return;
        }
        if let Some(at) = Some(&self.bar)
            .filter(|_| self.has_bar)
            .and_then(|state| glued(state, segment))
        {
            let (state, said) = segment.split_at_checked(at).unwrap_or_default();
            self.draw(state);
            self.flush();
            push_line(&mut self.text, said);
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
    cleaned.push_str(without_blanks(line));
    cleaned.push('\n');
}

/// `line` without the blanks and tabs at its end.
fn without_blanks(line: &str) -> &str {
    let end = line.bytes().rev();
    let blanks = end.take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    line.get(..line.len() - blanks).unwrap_or_default()
}

/// The first `bytes` of `text`, or fewer up to the end of a character.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
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
    fn a_sign_that_turned_last_leaves_nothing() {
        assert_eq!(terminal("done\r\n\u{1b}[?25h⠙\u{1b}[1G\u{1b}[0K"), "done\n");
        assert_eq!(terminal("a\r\n\u{1b}[1Ab\r\n⠙\u{1b}[1G\u{1b}[0K"), "a\nb\n");
        assert_eq!(terminal("a\r\n-\r\n"), "a\n-\n");
    }

    #[test]
    fn what_was_said_in_the_middle_of_a_bar_is_a_line_of_its_own() {
        let raw = "\rleaves:  10%|#   | 1/9 [00:00<00:01, 3.1it/s]\rleaves:  20%|##  | 2/9 [00:00<00:01, 3.2it/s]WARN leaf 2 is dry\n\
                   \rleaves:  30%|##  | 3/9 [00:00<00:01, 3.2it/s]\rleaves: 100%|####| 9/9 [00:01<00:00, 3.3it/s]\ndone\n";
        let told = "leaves:  20%|##  | 2/9 [00:00<00:01, 3.2it/s]\nWARN leaf 2 is dry\n\
                    leaves: 100%|####| 9/9 [00:01<00:00, 3.3it/s]\ndone\n";
        assert_eq!(terminal(raw), told);
        let names = "\r 10% 1/9 oak\r 20% 2/9 oak and elm and ash\r100% 9/9 oak\n";
        assert_eq!(terminal(names), "100% 9/9 oak\n");
    }

    #[test]
    fn what_a_transfer_failed_of_is_a_line_of_its_own() {
        let text = "\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0curl: (6) no host\n";
        assert!(terminal(text).ends_with("0\ncurl: (6) no host\n"));
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
