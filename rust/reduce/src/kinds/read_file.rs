//! A file that was read without a range: its first 200 lines with a hint that gives the number of lines. Of a very long
//! line, as in minified files, both ends with a hint how to read all of it.

use crate::piece::Piece;
use ethos_registry_core::text::{Source, count_lines, end_of_lines};

const SHOWN_LINES: usize = 200;
/// Text of this length cannot have more lines than are shown.
pub(crate) const WHOLE_CHARS: usize = SHOWN_LINES;
/// Longer lines are shortened.
const LONG_CHARS: usize = 10_000;
/// How much of the beginning and of the end is kept.
const HEAD_CHARS: usize = 6_000;
const TAIL_CHARS: usize = 2_000;
/// The most positions that a character occupies.
const MOST_WIDTH: usize = 4;
const HINT_HEAD: &str = "File is ";
const HINT_MIDDLE: &str = " lines. Showing lines 1-";
const HINT_END: &str = ". Call read_file with lineStart/lineEnd for more.";
const HINT_TAIL: &str =
    " lines. Showing lines 1-200. Call read_file with lineStart/lineEnd for more.";
/// The longest hint.
const HINT_MAX_CHARS: usize = 128;

/// The hint and the first 200 lines. Of lines longer than 10,000 characters, the ends with the number of characters
/// between them. `None` when there are no more lines and no such line, or when the hint already precedes
/// exactly 200 lines.
///
/// # Errors
/// Errors of the source.
pub(crate) fn reduce<S: Source + ?Sized>(source: &S) -> Result<Option<Vec<Piece>>, S::Error> {
    let end = source.end();
    let (lines, _) = count_lines(source, 0, end)?;
    let mut pieces = Vec::new();
    if lines <= SHOWN_LINES || (lines == SHOWN_LINES + 1 && begins_with_hint(source)?) {
        push_lines(source, end, &mut pieces)?;
        return Ok((pieces.len() > 1).then_some(pieces));
    }
    let shown_end = end_of_lines(source, 0, end, SHOWN_LINES)?;
    pieces.push(Piece::Text(format!("{HINT_HEAD}{lines}{HINT_TAIL}\n")));
    push_lines(source, shown_end, &mut pieces)?;
    Ok(Some(pieces))
}

/// The hint and the first lines that fit into `target_chars` characters with it. The result of [`reduce`] when
/// there are no more than 200 lines, or when the first line does not fit.
///
/// # Errors
/// Errors of the source.
pub(crate) fn reduce_within<S: Source + ?Sized>(
    source: &S,
    target_chars: usize,
) -> Result<Option<Vec<Piece>>, S::Error> {
    let end = source.end();
    let (lines, _) = count_lines(source, 0, end)?;
    let room = target_chars.saturating_sub(HINT_MAX_CHARS);
    let shown = source.position(room)?.unwrap_or(end);
    let (true, Some(shown_end)) = (lines > SHOWN_LINES, source.last_newline(0, shown)?) else {
        return reduce(source);
    };
    let (shown_lines, _) = count_lines(source, 0, shown_end)?;
    let hint = format!("{HINT_HEAD}{lines}{HINT_MIDDLE}{shown_lines}{HINT_END}\n");
    let mut pieces = vec![Piece::Text(hint)];
    push_lines(source, shown_end, &mut pieces)?;
    Ok(Some(pieces))
}

/// Appends the lines up to `end`; long ones are shortened in the middle.
fn push_lines<S: Source + ?Sized>(
    source: &S,
    end: usize,
    pieces: &mut Vec<Piece>,
) -> Result<(), S::Error> {
    let (mut kept_from, mut start, mut number) = (0, 0, 1);
    while end.saturating_sub(start) > LONG_CHARS {
        let line_end = source.first_newline(start, end)?.unwrap_or(end);
        // A position is at most one character.
        let chars = if line_end - start > LONG_CHARS {
            source.characters(start, line_end)?
        } else {
            0
        };
        if chars > LONG_CHARS {
            let (from, to) = middle(source, start, line_end)?;
            pieces.push(Piece::Source {
                start: kept_from,
                end: from,
            });
            let hidden = chars - HEAD_CHARS - TAIL_CHARS;
            pieces.push(Piece::Text(format!(
                "...[{hidden} characters left out; call read_file with lineStart {number} and lineEnd {number} for all]..."
            )));
            kept_from = to;
        }
        start = line_end + 1;
        number += 1;
    }
    pieces.push(Piece::Source {
        start: kept_from,
        end,
    });
    Ok(())
}

/// Where the left-out middle of a long line begins and ends.
fn middle<S: Source + ?Sized>(
    source: &S,
    start: usize,
    end: usize,
) -> Result<(usize, usize), S::Error> {
    let (_, head) = source.window(start, end.min(start + HEAD_CHARS * MOST_WIDTH))?;
    let behind = head.char_indices().nth(HEAD_CHARS);
    let head = behind.and_then(|(at, _)| head.get(..at)).unwrap_or(&head);
    let (_, tail) = source.window(end.saturating_sub(TAIL_CHARS * MOST_WIDTH).max(start), end)?;
    let first = tail.char_indices().rev().nth(TAIL_CHARS - 1);
    let tail = first.and_then(|(at, _)| tail.get(at..)).unwrap_or(&tail);
    Ok((start + source.width(head), end - source.width(tail)))
}

fn begins_with_hint<S: Source + ?Sized>(source: &S) -> Result<bool, S::Error> {
    let (_, window) = source.window(0, source.end().min(HINT_MAX_CHARS))?;
    let lines = window
        .lines()
        .next()
        .and_then(|line| line.strip_prefix(HINT_HEAD))
        .and_then(|line| line.strip_suffix(HINT_TAIL));
    Ok(lines.is_some_and(|lines| {
        !lines.is_empty() && lines.bytes().all(|digit| digit.is_ascii_digit())
    }))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::piece::join;

    fn reduced(text: &str) -> Option<String> {
        let Ok(pieces) = reduce(text);
        Some(join(text, &pieces?).unwrap())
    }

    #[test]
    fn a_target_bounds_the_first_lines() {
        let text = "one line of text\n".repeat(2_000);
        let within = |target_chars| {
            let Ok(pieces) = reduce_within(text.as_str(), target_chars);
            join(&text, &pieces?)
        };
        for (target_chars, lines) in [(1_000, 51), (16_000, 933)] {
            let reduced = within(target_chars).unwrap();
            let hint = format!("File is 2000 lines. Showing lines 1-{lines}. Call read_file ");
            assert!(reduced.starts_with(&hint), "{reduced}");
            assert!(reduced.len() <= target_chars);
            assert_eq!(reduced.lines().count(), lines + 1);
        }
    }

    #[test]
    fn two_hundred_lines_stay_with_and_without_a_closing_line_feed() {
        let text = "a line\n".repeat(200);
        assert_eq!(reduced(&text), None);
        assert_eq!(reduced(text.trim_end()), None);
    }

    #[test]
    fn the_hint_counts_the_lines_of_the_file() {
        let text = "a line\n".repeat(1_240);
        let expected = "File is 1240 lines. Showing lines 1-200. Call read_file with \
                        lineStart/lineEnd for more.\n"
            .to_owned()
            + "a line\n".repeat(200).trim_end();
        assert_eq!(reduced(&text).unwrap(), expected);
        assert_eq!(reduced(text.trim_end()).unwrap(), expected);
        assert_eq!(reduced(&expected), None);
    }

    #[test]
    fn a_long_line_keeps_its_ends() {
        for letter in ["a", "\u{e9}", "\u{6f22}", "\u{1f600}"] {
            let line = letter.repeat(1_000_000);
            let ends = (letter.repeat(6_000), letter.repeat(2_000));
            let short = |number| {
                let range = format!("lineStart {number} and lineEnd {number}");
                let hint =
                    format!("992000 characters left out; call read_file with {range} for all");
                format!("{}...[{hint}]...{}", ends.0, ends.1)
            };
            assert_eq!(reduced(&line), Some(short(1)));
            let text = format!("one\n{line}\ntwo\n{line}\n");
            let once = reduced(&text).unwrap();
            assert_eq!(once, format!("one\n{}\ntwo\n{}\n", short(2), short(4)));
            assert_eq!(reduced(&once), None);
            assert_eq!(reduced(&letter.repeat(10_000)), None);
        }
    }

    #[test]
    fn long_lines_below_the_hint_are_shortened_too() {
        let text = format!("{}\n", "x".repeat(13_000)).repeat(300);
        let once = reduced(&text).unwrap();
        assert!(once.starts_with("File is 300 lines. "));
        assert_eq!(
            once.matches("...[5000 characters left out; call").count(),
            200
        );
        assert_eq!(reduced(&once), None);
    }
}
