//! The first lines of a file that was read without a range, and a hint that says how many it has.

use super::Piece;
use crate::text::{Source, count_lines, end_of_lines};

const SHOWN_LINES: usize = 200;
/// So many characters hold no more lines than are shown.
pub(super) const WHOLE_CHARS: usize = SHOWN_LINES;
const HINT_HEAD: &str = "File is ";
const HINT_TAIL: &str =
    " lines. Showing lines 1-200. Call read_file with lineStart/lineEnd for more.";
/// No hint has more characters than this.
const HINT_MAX_CHARS: usize = 128;

/// The hint and the first 200 lines; `None` when there are no more of them, or the hint already
/// stands before exactly 200 lines.
///
/// # Errors
/// What the source reports.
pub(super) fn reduce<S: Source + ?Sized>(source: &S) -> Result<Option<Vec<Piece>>, S::Error> {
    let end = source.end();
    let (lines, _) = count_lines(source, 0, end)?;
    if lines <= SHOWN_LINES || (lines == SHOWN_LINES + 1 && begins_with_hint(source)?) {
        return Ok(None);
    }
    let shown_end = end_of_lines(source, 0, end, SHOWN_LINES)?;
    Ok(Some(vec![
        Piece::Text(format!("{HINT_HEAD}{lines}{HINT_TAIL}\n")),
        Piece::Source {
            start: 0,
            end: shown_end,
        },
    ]))
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
    use crate::reduce::join;

    fn reduced(text: &str) -> Option<String> {
        let Ok(pieces) = reduce(text);
        Some(join(text, &pieces?).unwrap())
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
}
