//! Headings of important lines: if the lines above are folded, the line that names the subject is kept, such as `oak
//! 57:` above `  disk failed`.

use std::collections::BTreeMap;

use memchr::memchr;

use super::kind::Kind;
use super::row::Row;
use super::shape::Shape;
use crate::line::{indent, is_ruler};
use crate::rows::fold::Templates;

/// How many lines above a row are searched for its heading; only a few if they are not indented less.
const MOST_ABOVE: usize = 40;
const MOST_BYTES_ABOVE: usize = 16_384;
const NEAR: usize = 8;
/// The most headings of failures and unusual rows, and the most of other rows.
const MOST_HEADS: usize = 200;
const MOST_OTHER_HEADS: usize = 40;
/// Other headings are only shown for up to this many rows, since some may have to be removed.
const FEW_ROWS: usize = 100;
/// For how many rows headings are searched.
const MOST_ROWS: usize = 400;
/// How many nested headings of one row are shown.
const LEVELS: usize = 3;
/// How many consecutive titles are shown.
const TITLES: usize = 3;

/// `rows` of `text` in order, with the headings of important rows added if they are folded in `templates`.
pub(super) fn with_heads<'a>(
    text: &'a str,
    rows: Vec<Row<'a>>,
    templates: &Templates<'a>,
) -> Vec<Row<'a>> {
    let first = |line: &str| {
        let shape = Shape::of(line);
        let may_head = matches!(shape.kind(line), Kind::Plain | Kind::Change | Kind::Verdict);
        templates.folded(shape.key(line)).filter(|_| may_head)
    };
    let mut heads: BTreeMap<usize, Row<'a>> = BTreeMap::new();
    for row in rows.iter().filter(|row| has_head(row)).take(MOST_ROWS) {
        for (number, line) in head(text, row, first) {
            let is_shown = rows.binary_search_by_key(&number, |row| row.number).is_ok();
            if !is_shown && first(line).is_some() {
                let new = || Row::new(number, line, Kind::Plain, 1);
                heads.entry(number).or_insert_with(new).stands_out |= row.matters();
            }
        }
    }
    let (mut heads, others): (Vec<_>, Vec<_>) =
        heads.into_values().partition(|head| head.stands_out);
    // Without its heading a failure would seem to belong to the previous one that is shown.
    if heads.len() > MOST_HEADS {
        return rows;
    }
    if rows.len() <= FEW_ROWS {
        heads.extend(others.into_iter().take(MOST_OTHER_HEADS));
    }
    heads.extend(rows);
    heads.sort_by_key(|row| row.number);
    heads
}

/// Whether what a row reports may be about one of several subjects.
fn has_head(row: &Row<'_>) -> bool {
    let is_alone = row.times == 1 && indent(row.line) > 0;
    let told = matches!(row.kind, Kind::Plain | Kind::Verdict | Kind::Warning) && is_alone;
    row.detail == 0 && (row.matters() || told)
}

/// The lines above `row` that it belongs to: those that are indented less. If there are none, lines that look like
/// titles: the first of a few after a blank line, or one that begins like earlier titles, as `first` shows.
fn head<'a>(
    text: &'a str,
    row: &Row<'_>,
    first: impl Fn(&str) -> Option<usize>,
) -> Vec<(usize, &'a str)> {
    let at = row.line.as_ptr().addr().checked_sub(text.as_ptr().addr());
    let above = at.and_then(|at| text.get(..at)?.strip_suffix('\n'));
    let above = last_lines(above.unwrap_or_default());
    let lines = above.rsplit('\n').map(str::trim_ascii_end);
    let lines = (0..row.number).rev().zip(lines).take(MOST_ABOVE);
    let depth = indent(row.line);
    if depth > 0 {
        return outer(row, depth, lines);
    }
    let mut near: Vec<(usize, &str)> = Vec::new();
    let mut titles: Vec<(usize, &str)> = Vec::new();
    for (number, line) in lines {
        let is_title = indent(line) == 0 && is_title(line);
        if !titles.is_empty() && (!is_title || titles.len() == TITLES) {
            return titles;
        }
        if line.is_empty() && !near.is_empty() {
            return near.pop().into_iter().collect();
        }
        if is_title {
            titles.push((number, line));
        } else if !line.is_empty() && !is_ruler(line) {
            near.push((number, line));
            if near.len() == NEAR {
                break;
            }
        }
    }
    if !titles.is_empty() {
        return titles;
    }
    let kinds = near.iter().filter_map(|(_, line)| first(line));
    let (earliest, latest) = (kinds.clone().min(), kinds.max());
    // Records on one line have no heading.
    let head = near.iter().find(|(_, line)| first(line) == earliest);
    let head = head.filter(|_| earliest < latest);
    head.copied().into_iter().collect()
}

/// Those of `lines`, listed upwards from `row`, that are indented less, each less than the one before.
fn outer<'a>(
    row: &Row<'_>,
    mut depth: usize,
    lines: impl Iterator<Item = (usize, &'a str)>,
) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (number, line) in lines {
        if line.is_empty() || is_ruler(line) || indent(line) >= depth {
            continue;
        }
        depth = indent(line);
        if !row.matters() && depth > 0 && !is_title(line) {
            break;
        }
        found.push((number, line));
        if depth == 0 || found.len() == LEVELS || !row.matters() {
            break;
        }
    }
    found
}

/// The last lines of `text`, as many as are searched.
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

/// Whether `line` looks like a heading: `oak:`, `>>> oak`, `[3/7] oak`, `- oak`, `grow oak ...`.
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

    use crate::input::Exit;
    use crate::pipeline::terminal;

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
}
