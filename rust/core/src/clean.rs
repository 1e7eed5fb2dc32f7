//! Terminal output as a terminal shows it: no escape sequences, no overwritten characters.

mod bar;
pub(crate) mod escape;
mod overwrite;
mod screen;
mod words;

pub use bar::{is_progress, same_bar};
pub use words::marked_words;

use std::borrow::Cow;

use memchr::{memchr, memchr3};

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

/// `text` as a terminal shows it in the end: without escape sequences, lines ended by `\n` alone, carriage
/// returns, backspaces and cursor movements within a line applied. Lines that had any of these lose the blanks
/// at their ends.
///
/// Lines that were drawn again after the cursor moved up keep their last state.
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

/// Lines without escapes, each as it is drawn in the end.
struct CleanLines {
    text: String,
    ended: bool,
}

impl CleanLines {
    /// None so far, of an input like `text`.
    fn new(text: &str) -> Self {
        Self {
            text: String::with_capacity(text.len() + 1),
            ended: true,
        }
    }

    /// One more line, whose only sequences are those that edit it, and whether a newline ended it.
    fn push(&mut self, line: &str, ended: bool) {
        self.ended = ended;
        let body = line.trim_end_matches('\r');
        if memchr3(b'\r', b'\x08', 0x1b, body.as_bytes()).is_none() && !body.contains('\u{9b}') {
            if !ended && body.len() < line.len() && is_spinner(body.trim()) {
                // The program overwrote it and printed nothing in its place.
                self.ended = true;
            } else {
                push_line(&mut self.text, body);
            }
            return;
        }
        let drawn = overwrite::overwritten(body);
        let last = body.rsplit('\r').next().unwrap_or_default();
        if !ended
            && (without_blanks(&drawn).is_empty() || last.is_empty() && is_spinner(drawn.trim()))
        {
            self.ended = true;
            return;
        }
        // Text that another program wrote behind a progress bar, without a line feed, is a line of its own.
        let state = body.split('\r').rev().find(|part| is_progress(part));
        let at = behind_transfer(&drawn)
            .or_else(|| state.and_then(|state| behind_bar(body, state, &drawn)));
        let (state, rest) = drawn
            .split_at_checked(at.unwrap_or(drawn.len()))
            .unwrap_or_default();
        push_line(&mut self.text, state);
        if !rest.is_empty() {
            push_line(&mut self.text, rest);
        }
    }

    /// One more line, in which a sequence begins at `escape`; `None` when the cursor goes up in it.
    fn push_escaped(&mut self, line: &str, escape: usize, ended: bool) -> Option<()> {
        let start = self.text.len();
        let mut edited = false;
        let rest = each_escape(line, Some(escape), &mut self.text, |sequence, cleaned| {
            if overwrite::edits_line(sequence) {
                edited = true;
                cleaned.push_str(sequence);
            }
            !matches!(movement(sequence), Some(Movement::Up(_)))
        });
        self.text.push_str(rest?);
        let cleaned = self.text.get(start..).unwrap_or_default();
        // Sequences behind the last line are not line.
        if !ended && cleaned.is_empty() {
            return Some(());
        }
        if edited || memchr(b'\r', cleaned.as_bytes()).is_some() {
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

    fn finish(mut self) -> String {
        if !self.ended {
            self.text.pop();
        }
        self.text
    }
}

/// Where the reason of a failed transfer begins behind its last state: `0  0 --:--:--  0curl: (6) no host`.
fn behind_transfer(drawn: &str) -> Option<usize> {
    let at = drawn.find("curl: (").filter(|at| *at > 0)?;
    is_progress(drawn.get(..at)?).then_some(at)
}

/// Where other text begins in `drawn`, the last state of a bar with what was written behind it, if the bar had
/// a state before that shows where it ends.
fn behind_bar(body: &str, state: &str, drawn: &str) -> Option<usize> {
    let mut states = body.split('\r').filter(|part| is_progress(part));
    let first = states.next()?;
    let before = if std::ptr::eq(first, state) {
        return None;
    } else {
        first
    };
    glued(before, drawn).filter(|at| drawn.is_char_boundary(*at))
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
#[must_use]
pub fn beginning(text: &str, bytes: usize) -> &str {
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
    fn shorter_text_behind_a_carriage_return_leaves_the_tail() {
        let raw = "start\n\rload:  1%\rload: 50%\rload: 100%\rdone\nafter\r\n";
        assert_eq!(terminal(raw), "start\ndone: 100%\nafter\n");
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
        let expected = "leaves:  20%|##  | 2/9 [00:00<00:01, 3.2it/s]\nWARN leaf 2 is dry\n\
                    leaves: 100%|####| 9/9 [00:01<00:00, 3.3it/s]\ndone\n";
        assert_eq!(terminal(raw), expected);
        let names = "\r 10% 1/9 oak\r 20% 2/9 oak and elm and ash\r100% 9/9 oak\n";
        assert_eq!(terminal(names), "100% 9/9 oak and elm and ash\n");
    }

    #[test]
    fn what_a_transfer_failed_of_is_a_line_of_its_own() {
        let text = "\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0curl: (6) no host\n";
        assert!(terminal(text).ends_with("0\ncurl: (6) no host\n"));
    }

    #[test]
    fn text_between_carriage_returns_is_overwritten() {
        assert_eq!(
            terminal("> GET /\r> Host: a\r\n<p>\rbody\n"),
            "> Host: a\nbody\n"
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
