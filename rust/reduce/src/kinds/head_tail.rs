//! The first and the last lines of a long text.

use crate::piece::Piece;
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::text::{Source, count_lines, end_of_lines, start_of_last_lines};
use ethos_registry_core::trim;

/// Text up to this length is not shortened.
pub(crate) const WHOLE_CHARS: usize = 8_192;
const HEAD_LINES: usize = 40;
const TAIL_LINES: usize = 20;
/// One part in this many of the space is for the last lines.
const TAIL_SHARE: usize = 3;

const NOTICE_HEAD: &str = "... [reduced from ";
const NOTICE_TAIL: &str = " chars to head+tail] ...";
/// The longest notice.
const NOTICE_MAX_CHARS: usize = 96;

/// The text between `start` and `end`, reduced to its first 40 and last 20 lines.
///
/// `None` when it does not change: it is short, has no lines between head and tail, or was
/// reduced before. A few very long lines are left to trimming.
///
/// # Errors
/// Errors of the source.
pub(crate) fn reduce<S: Source + ?Sized>(
    source: &S,
    start: usize,
    end: usize,
) -> Result<Option<Vec<Piece>>, S::Error> {
    let chars = source.characters(start, end)?;
    if chars <= WHOLE_CHARS {
        return Ok(None);
    }
    let (lines, _) = count_lines(source, start, end)?;
    if lines <= HEAD_LINES + TAIL_LINES {
        return Ok(None);
    }
    let head_end = end_of_lines(source, start, end, HEAD_LINES)?;
    let tail_start = start_of_last_lines(source, start, end, TAIL_LINES)?;
    let between = (head_end.saturating_add(1), tail_start.saturating_sub(1));
    if lines == HEAD_LINES + TAIL_LINES + 1 && is_notice(source, between)? {
        return Ok(None);
    }
    let notice = format!("\n{NOTICE_HEAD}{lines} lines / {chars}{NOTICE_TAIL}\n");
    let dropped = source.characters(head_end, tail_start)?;
    if notice.len() >= dropped {
        return Ok(None);
    }
    Ok(Some(vec![
        Piece::Source {
            start,
            end: head_end,
        },
        Piece::Text(notice),
        Piece::Source {
            start: tail_start,
            end,
        },
    ]))
}

/// The text between `start` and `end`, reduced to the first and last lines that fit into `target_chars`
/// characters with the notice: two thirds of the space are for the first ones.
///
/// `None` when it does not change because it fits, or is short enough for any target.
///
/// # Errors
/// Errors of the source.
pub(crate) fn reduce_within<S: Source + ?Sized>(
    source: &S,
    target_chars: usize,
) -> Result<Option<Vec<Piece>>, S::Error> {
    let end = source.end();
    let chars = source.characters(0, end)?;
    if chars <= WHOLE_CHARS || chars <= target_chars {
        return Ok(None);
    }
    let room = target_chars.saturating_sub(NOTICE_MAX_CHARS);
    let tail_chars = room / TAIL_SHARE;
    let head = source.position(room - tail_chars)?.unwrap_or(end);
    let head_end = match source.last_newline(0, head)? {
        Some(newline) => newline,
        None => trim::keep(source, head)?,
    };
    let tail = source.position(chars - tail_chars)?.unwrap_or(end);
    let tail_start = source
        .first_newline(tail, end)?
        .map_or(end, |newline| newline + 1)
        .max(head_end);
    let (lines, _) = count_lines(source, 0, end)?;
    let notice = format!("\n{NOTICE_HEAD}{lines} lines / {chars}{NOTICE_TAIL}\n");
    if notice.len() >= source.characters(head_end, tail_start)? {
        return Ok(None);
    }
    Ok(Some(vec![
        Piece::Source {
            start: 0,
            end: head_end,
        },
        Piece::Text(notice),
        Piece::Source {
            start: tail_start,
            end,
        },
    ]))
}

fn is_notice<S: Source + ?Sized>(
    source: &S,
    (start, end): (usize, usize),
) -> Result<bool, S::Error> {
    if source.characters(start, end)? > NOTICE_MAX_CHARS {
        return Ok(false);
    }
    let (_, line) = source.window(start, end)?;
    let numbers = line
        .strip_prefix(NOTICE_HEAD)
        .and_then(|rest| rest.strip_suffix(NOTICE_TAIL));
    let Some((lines, chars)) = numbers.and_then(|numbers| numbers.split_text(" lines / ")) else {
        return Ok(false);
    };
    Ok([lines, chars]
        .iter()
        .all(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::piece::join;

    fn reduced(text: &str) -> Option<String> {
        let Ok(pieces) = reduce(text, 0, text.len());
        Some(join(text, &pieces?).unwrap())
    }

    fn numbered(lines: usize, width: usize) -> String {
        (0..lines).fold(String::new(), |text, line| {
            text + &format!("{line:0width$}\n")
        })
    }

    #[test]
    fn a_target_bounds_the_first_and_last_lines() {
        let text = "one line of text\n".repeat(2_000);
        let within = |target_chars| {
            let Ok(pieces) = reduce_within(text.as_str(), target_chars);
            pieces.map(|pieces| join(&text, &pieces).unwrap())
        };
        for target_chars in [0, 100, 1_000, 9_000, 30_000] {
            let reduced = within(target_chars).unwrap();
            assert!(reduced.len() <= target_chars.max(NOTICE_MAX_CHARS));
            assert!(reduced.contains("[reduced from 2000 lines / 34000 chars"));
            assert!(reduced.len() + 200 > target_chars);
        }
        assert_eq!(within(34_000), None);
    }

    #[test]
    fn the_middle_of_many_lines_goes() {
        let text = numbered(1_000, 9);
        let reduced = reduced(&text).unwrap();
        assert!(reduced.contains(
            "000000039\n... [reduced from 1000 lines / 10000 chars to head+tail] ...\n000000980\n"
        ));
        assert_eq!(reduced.lines().count(), 61);
        assert!(reduced.ends_with("000000999\n"));
    }

    #[test]
    fn sixty_lines_stay_however_long() {
        assert_eq!(reduced(&numbered(60, 900)), None);
        assert_eq!(reduced(&numbered(60, 900).replace("59\n", "59")), None);
        assert!(reduced(&numbered(61, 900)).is_some());
    }

    #[test]
    fn reducing_twice_is_reducing_once() {
        let once = reduced(&numbered(100, 900)).unwrap();
        assert!(once.len() > WHOLE_CHARS);
        assert_eq!(reduced(&once), None);
    }

    #[test]
    fn a_text_does_not_grow() {
        let long = "x".repeat(300) + "\n";
        let text = long.repeat(40) + "\n" + &long.repeat(20);
        assert_eq!(reduced(&text), None);
    }
}
