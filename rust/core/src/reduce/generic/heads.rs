//! What a line that matters is said of, where that stands above it among lines that are folded: `oak 57:` above
//! `  disk failed`.

use memchr::memchr;

use super::super::fold::Templates;
use super::super::line::{indent, is_ruler};
use super::kind::Kind;
use super::row::Row;
use super::shape::Shape;

/// Lines above a row among which its head is looked for; of those that are not indented less only a few.
const MOST_ABOVE: usize = 40;
const MOST_BYTES_ABOVE: usize = 16_384;
const NEAR: usize = 8;
/// So many heads are told, and of so many rows they are looked for.
const MOST_HEADS: usize = 40;
const MOST_ROWS: usize = 400;

/// `rows` of `text`, which are in their order, with the heads of those that stand out, where these are folded in
/// `templates`.
pub(super) fn with_heads<'a>(
    text: &'a str,
    rows: Vec<Row<'a>>,
    templates: &Templates<'a>,
) -> Vec<Row<'a>> {
    let mut heads: Vec<Row<'a>> = Vec::new();
    for row in rows.iter().filter(|row| has_head(row)).take(MOST_ROWS) {
        let first = |line: &str| {
            let shape = Shape::of(line);
            let may_head = matches!(shape.kind(line), Kind::Plain | Kind::Change | Kind::Verdict);
            templates.folded(shape.key(line)).filter(|_| may_head)
        };
        let Some((number, line)) = head(text, row, first) else {
            continue;
        };
        let is_shown = || {
            let shown = rows.binary_search_by_key(&number, |row| row.number);
            shown.is_ok() || heads.iter().any(|head| head.number == number)
        };
        if first(line).is_some() && !is_shown() {
            heads.push(Row {
                stands_out: row.stands_out || row.kind == Kind::Bad,
                ..Row::new(number, line, Kind::Plain, 1)
            });
        }
        if heads.len() == MOST_HEADS {
            break;
        }
    }
    if heads.is_empty() {
        return rows;
    }
    heads.extend(rows);
    heads.sort_by_key(|row| row.number);
    heads
}

/// Whether what a row says may be said of one thing among others.
fn has_head(row: &Row<'_>) -> bool {
    let is_alone = row.times == 1 && indent(row.line) > 0;
    let told = matches!(row.kind, Kind::Plain | Kind::Verdict | Kind::Warning) && is_alone;
    row.detail == 0 && (row.kind == Kind::Bad || row.stands_out || told)
}

/// The line above `row` of which it is said: one that is indented less; where none is, one that looks like a
/// title, the first of a few behind a blank line, or one of the kind with which such lines began, as `first` tells.
fn head<'a>(
    text: &'a str,
    row: &Row<'_>,
    first: impl Fn(&str) -> Option<usize>,
) -> Option<(usize, &'a str)> {
    let depth = indent(row.line);
    let at = row.line.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let above = last_lines(text.get(..at)?.strip_suffix('\n')?);
    let lines = above.rsplit('\n').map(str::trim_ascii_end);
    let mut near: Vec<(usize, &str)> = Vec::new();
    for (number, line) in (0..row.number).rev().zip(lines).take(MOST_ABOVE) {
        if line.is_empty() {
            if depth == 0 && !near.is_empty() {
                return near.pop();
            }
            continue;
        }
        if is_ruler(line) {
            continue;
        }
        if indent(line) < depth {
            let is_head = indent(line) == 0 || is_title(line);
            return is_head.then_some((number, line));
        }
        if depth == 0 {
            near.push((number, line));
            if indent(line) == 0 && is_title(line) {
                return near.pop();
            }
            if near.len() == NEAR {
                break;
            }
        }
    }
    let kinds = near.iter().filter_map(|(_, line)| first(line));
    let (earliest, latest) = (kinds.clone().min()?, kinds.max()?);
    // Records of one line are said of nothing else.
    let head = near.iter().find(|(_, line)| first(line) == Some(earliest));
    head.copied().filter(|_| earliest < latest)
}

/// The last lines of `text`, as many of them as are looked at.
fn last_lines(text: &str) -> &str {
    let Some(from) = text.len().checked_sub(MOST_BYTES_ABOVE) else {
        return text;
    };
    let newline = text
        .as_bytes()
        .get(from..)
        .and_then(|rest| memchr(b'\n', rest));
    newline
        .and_then(|newline| text.get(from + newline + 1..))
        .unwrap_or_default()
}

/// Whether `line` looks like what others are said of: `oak:`, `>>> oak`, `[3/7] oak`, `- oak`, `grow oak ...`.
fn is_title(line: &str) -> bool {
    let text = line.trim_ascii_start();
    let counted = text.strip_prefix('[').and_then(|rest| rest.split_once('/'));
    line.ends_with([':', '…'])
        || line.ends_with("...")
        || text.starts_with(['=', '>', '#', '*', '-'])
        || counted.is_some_and(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::super::super::input::Exit;
    use super::super::super::terminal;

    #[test]
    fn of_which_of_many_things_a_failure_is_told_stands_above_it() {
        let forms: [fn(usize, bool) -> String; 6] = [
            |oak, fails| {
                let disk = if fails { "FAILED, read-only" } else { "ok" };
                format!(
                    "Host: oak{oak}\n  disk: {disk}\n  load: {}.{}\n",
                    oak % 7,
                    oak % 9
                )
            },
            |oak, fails| {
                let told = if fails { "error: no root" } else { "grown" };
                format!("Growing oak{oak}...\n  {} leaves\n  {told}\n", oak % 7)
            },
            |oak, fails| {
                let told = if fails { "failed to fall" } else { "fell" };
                format!("== oak{oak} ==\nleaves: {}\nbark: {told}\n\n", oak % 7)
            },
            |oak, fails| {
                let told = if fails {
                    "connect: Connection refused"
                } else {
                    "kernel 6.1"
                };
                format!(">>> oak{oak}\nuptime {} days\n{told}\n", oak % 7)
            },
            |oak, fails| {
                let told = if fails { "error: no root" } else { "grown" };
                format!("growing oak{oak}\n{told} with {} leaves\n", oak % 7)
            },
            |oak, odd| {
                let state = u8::from(!odd);
                format!("- name: oak{oak}\n  up: {state}\n  leaves: {}\n", oak % 7)
            },
        ];
        for form in forms {
            let text: String = (0..200).map(|oak| form(oak, oak == 57)).collect();
            let (told, _) = terminal::reduce(&text, None, Exit::Success, usize::MAX).unwrap();
            assert!(told.contains("oak57"), "{told}");
            assert!(told.lines().count() < 60, "{told}");
        }
    }

    #[test]
    fn a_record_of_one_line_needs_no_other() {
        let status = |leaf| if leaf == 57 { 203 } else { 200 };
        let line = |leaf| format!("leaf {leaf} gave {}\n", status(leaf));
        let text: String = (0..200).map(line).collect();
        let (told, _) = terminal::reduce(&text, None, Exit::Success, usize::MAX).unwrap();
        assert!(
            told.contains("leaf 57 gave 203") && !told.contains("leaf 56"),
            "{told}"
        );
    }
}
