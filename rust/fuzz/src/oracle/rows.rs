//! What may be shown of a line: the line, or less of its indentation, its padding, its rulers or its middle.

const MOST_INDENT: usize = 8;
const RULER: usize = 3;
const LONG_RULER: usize = 8;
const RULERS: &str = "=-_*#~\u{23af}\u{2500}+";
const NAME_DIGITS: usize = 40;
const FIRST_DIGITS: usize = 8;

/// Whether `row` shows `line`.
pub(super) fn shows(row: &str, line: &str) -> bool {
    row == line
        || forms(line)
            .iter()
            .any(|form| row == *form || is_cut(row, form) || is_dense(row, form))
}

/// The line without blanks at its end, much of its indentation, and most of its rulers.
fn forms(line: &str) -> Vec<&str> {
    let text = line.trim_ascii_end();
    let blanks = text.len() - text.trim_ascii_start().len();
    let mut found = vec![text];
    let less = text
        .get(blanks.saturating_sub(MOST_INDENT)..)
        .unwrap_or(text);
    found.push(less);
    let start = unruled_start(less);
    found.push(start);
    let end = ruler_at_end(start);
    found.push(start.get(..start.len() - end).unwrap_or(start));
    if let Some(name) = text.strip_prefix("commit ")
        && name.len() == NAME_DIGITS
        && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        found.extend(text.get(..text.len() - NAME_DIGITS + FIRST_DIGITS));
    }
    found
}

fn unruled_start(text: &str) -> &str {
    let Some(symbol) = text.chars().next().filter(|sign| RULERS.contains(*sign)) else {
        return text;
    };
    let rest = text.trim_start_matches(symbol);
    let count = (text.len() - rest.len()) / symbol.len_utf8();
    if count < LONG_RULER || rest.is_empty() {
        return text;
    }
    text.get((count - RULER) * symbol.len_utf8()..)
        .unwrap_or(text)
}

/// The bytes of a long ruler at the end that go.
fn ruler_at_end(text: &str) -> usize {
    let Some(symbol) = text
        .chars()
        .next_back()
        .filter(|sign| RULERS.contains(*sign))
    else {
        return 0;
    };
    let rest = text.trim_end_matches(symbol);
    let count = (text.len() - rest.len()) / symbol.len_utf8();
    if count < LONG_RULER || rest.is_empty() {
        return 0;
    }
    (count - RULER) * symbol.len_utf8()
}

/// The parts of a row around the mark of its middle, and how many characters that has.
fn cut(row: &str) -> impl Iterator<Item = (&str, usize, &str)> {
    row.match_indices("...[").filter_map(move |(at, mark)| {
        let (chars, tail) = row.get(at + mark.len()..)?.split_once(" chars]...")?;
        Some((row.get(..at)?, chars.parse().ok()?, tail))
    })
}

fn is_cut(row: &str, form: &str) -> bool {
    cut(row).any(|(head, chars, tail)| {
        let Some(rest) = form.strip_prefix(head) else {
            return cut_dense(head, chars, tail, form);
        };
        let is_counted = |rest: &str| rest.chars().count() == chars && chars > 0;
        rest.strip_suffix(tail).is_some_and(is_counted) || cut_dense(head, chars, tail, form)
    })
}

/// The same of a row of a table whose padding goes.
fn cut_dense(head: &str, chars: usize, tail: &str, form: &str) -> bool {
    let dense = dense(form);
    let rest = dense
        .strip_prefix(head)
        .and_then(|rest| rest.strip_suffix(tail));
    rest.is_some_and(|rest| rest.chars().count() == chars)
}

/// Whether `row` is a row of a table that differs in the padding between its cells alone. In a changed line all blanks
/// count.
fn is_dense(row: &str, form: &str) -> bool {
    row.len() < form.len() && row == dense(form)
}

fn dense(form: &str) -> String {
    let (body, bar) = without_bar(form);
    let mut rest = body.trim_start();
    let mut made = body
        .get(..body.len() - rest.len())
        .unwrap_or_default()
        .to_owned();
    while let Some(at) = rest.find("  ") {
        let (cell, padded) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let next = padded.trim_start_matches(' ');
        let is_divided = cell.ends_with(['|', '│']) || next.starts_with(['|', '│']);
        made.push_str(cell);
        made.push_str(if is_divided { " " } else { "  " });
        rest = next;
    }
    made + rest + bar
}

/// A row without the bar of `+` and `-` at its end, and a sign of each kind.
fn without_bar(form: &str) -> (&str, &str) {
    let body = form.trim_end_matches(['+', '-']);
    let bar = form.get(body.len()..).unwrap_or_default();
    let is_counted = body.ends_with(' ')
        && body
            .trim_end()
            .ends_with(|sign: char| sign.is_ascii_digit());
    let removed = bar.trim_start_matches('+');
    if bar.len() < RULER || !is_counted || removed.contains('+') {
        return (form, "");
    }
    let shown = match (removed.len(), bar.len() - removed.len()) {
        (0, _) => "+",
        (_, 0) => "-",
        _ => "+-",
    };
    (body, shown)
}

/// The bytes of the beginning of `rest` that `row` shows as a piece of a line.
pub(super) fn piece_end(row: &str, rest: &str) -> Option<usize> {
    if rest.starts_with(row) {
        return Some(row.len());
    }
    let by_cut = cut(row).find_map(|(head, chars, tail)| {
        let after = rest.strip_prefix(head)?;
        let skipped = after
            .char_indices()
            .map(|(at, _)| at)
            .chain([after.len()])
            .nth(chars)?;
        let is_tail = after.get(skipped..)?.starts_with(tail);
        is_tail.then_some(head.len() + skipped + tail.len())
    });
    by_cut.or_else(|| {
        // A ruler at its beginning or its end.
        let start = unruled_start(rest);
        let cut = rest.len() - start.len();
        if cut > 0 && start.starts_with(row) {
            return Some(cut + row.len());
        }
        let symbol = row
            .chars()
            .next_back()
            .filter(|sign| RULERS.contains(*sign))?;
        let body = row.trim_end_matches(symbol);
        let after = start.strip_prefix(body)?;
        let ruler = after.len() - after.trim_start_matches(symbol).len();
        (ruler >= LONG_RULER).then_some(cut + body.len() + ruler)
    })
}
