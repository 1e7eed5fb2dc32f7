//! What is shown of a line: spans of it.

use std::borrow::Cow;

use ethos_registry_core::find_text::FindText as _;

use crate::read::LONG_LINE;
use crate::source::{Kind, Line, Source, Span};

/// What states how to see lines that are cut.
pub(crate) const HINT: &str =
    "[lines with \"...[N chars]...\" are cut; pipe the command into \"fold\" to see them]";
/// More indentation than this, and rulers longer than three symbols, are cut.
const MOST_INDENT: usize = 8;
const RULER: usize = 3;
const LONG_RULER: usize = 8;
/// Of that many commits, the names are shown by their first digits.
const MANY_COMMITS: usize = 12;
const NAME_DIGITS: usize = 40;
const FIRST_DIGITS: usize = 8;
/// Of a line that is cut, the share of its beginning and of its end.
const HEAD_PERCENT: usize = 65;
const TAIL_PERCENT: usize = 30;
/// Where tables are more of the output than this, the padding between their cells goes.
const CELLS_PERCENT: usize = 50;

/// How wide rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width {
    /// A line with more characters is cut.
    most: usize,
    /// Whether the padding between the cells of tables goes.
    is_dense: bool,
    /// Whether commits are shown by the first digits of their names.
    is_brief: bool,
}

impl Width {
    /// Rows that are lines as they are.
    pub(crate) const WHOLE: Self = Self {
        most: usize::MAX,
        is_dense: false,
        is_brief: false,
    };

    /// The width of the rows of an output that is longer than its target.
    pub(crate) fn of(source: &Source<'_>) -> Self {
        let cells = source.lines.iter().filter(|line| line.has_cells);
        let bytes: usize = cells.map(|line| line.span.end - line.span.start).sum();
        let commits = source
            .lines
            .iter()
            .filter(|line| line.kind == Kind::Heading);
        let commits = commits.filter(|line| commit(source.slice(line.span)).is_some());
        Self {
            is_brief: commits.take(MANY_COMMITS).count() == MANY_COMMITS,
            most: LONG_LINE,
            is_dense: bytes * 100 > CELLS_PERCENT * source.text.len(),
        }
    }

    /// What is shown of `text`, all or a part of `line`.
    pub(crate) fn dense<'a>(self, line: &Line, text: &'a str) -> Cow<'a, str> {
        if self.is_dense && line.has_cells && !line.kind.is_verbatim() {
            unpadded(text)
        } else {
            Cow::Borrowed(text)
        }
    }
}

/// A row of the reduced text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Whether its middle is left out.
    pub(crate) is_cut: bool,
}

/// The row of a line.
pub(crate) fn row<'a>(source: &Source<'a>, line: &Line, width: Width) -> Row<'a> {
    let most = width.most;
    if most == usize::MAX {
        return Row {
            text: Cow::Borrowed(source.raw(line)),
            is_cut: false,
        };
    }
    let span = trimmed(source, line);
    let text = match commit(source.slice(span)).filter(|_| width.is_brief) {
        Some(brief) => Cow::Borrowed(brief),
        None => width.dense(line, source.slice(span)),
    };
    if text.len() > most && text.char_count() > most {
        return Row {
            text: Cow::Owned(cut(&text, most)),
            is_cut: true,
        };
    }
    Row {
        text,
        is_cut: false,
    }
}

/// The beginning of `commit 1cf7314…` with the first digits of the name, if the line has nothing else.
fn commit(text: &str) -> Option<&str> {
    let name = text.strip_prefix("commit ")?;
    let is_name = name.len() == NAME_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let brief = || text.get(..text.len() - NAME_DIGITS + FIRST_DIGITS);
    is_name.then(brief).flatten()
}

/// A line without most of its indentation and its rulers.
fn trimmed(source: &Source<'_>, line: &Line) -> Span {
    let Span { mut start, mut end } = line.span;
    if line.kind.is_verbatim() {
        return line.span;
    }
    if !line.is_piece && line.blanks > MOST_INDENT {
        start += line.blanks - MOST_INDENT;
    }
    let text = source.slice(Span::new(start, end));
    start += text.len() - unruled(text, true).len();
    let text = source.slice(Span::new(start, end));
    end -= text.len() - unruled(text, false).len();
    Span::new(start, end)
}

/// A row of a table without most of the padding between its cells and of a bar of `+` and `-` at its end.
fn unpadded(text: &str) -> Cow<'_, str> {
    let (row, sign) = without_bar(text);
    let mut rest = row.trim_start();
    if !rest.contains("  ") && sign.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut made = row
        .get(..row.len() - rest.len())
        .unwrap_or_default()
        .to_owned();
    while let Some((cell, padded)) = rest.find("  ").and_then(|at| rest.split_at_checked(at)) {
        let next = padded.trim_start_matches(' ');
        let is_divided = cell.ends_with(['|', '│']) || next.starts_with(['|', '│']);
        made.push_str(cell);
        made.push_str(if is_divided { " " } else { "  " });
        rest = next;
    }
    made.push_str(rest);
    made.push_str(sign);
    Cow::Owned(made)
}

/// A row that ends with `12 ++++++-----` without the bar, and a sign of each kind in it.
fn without_bar(text: &str) -> (&str, &str) {
    let counted = text.trim_end_matches(['+', '-']);
    let number = counted.trim_end();
    let is_counted =
        number.len() < counted.len() && number.ends_with(|sign: char| sign.is_ascii_digit());
    let bar = text.get(counted.len()..).unwrap_or_default();
    let removed = bar.trim_start_matches('+');
    if !is_counted || bar.len() < 3 || removed.contains('+') {
        return (text, "");
    }
    let added = bar.len() - removed.len();
    let from = added.saturating_sub(1);
    let to = (added + 1).min(bar.len());
    (counted, bar.get(from..to).unwrap_or_default())
}

/// `text` with a long ruler at one of its ends cut to three symbols.
fn unruled(text: &str, at_start: bool) -> &str {
    let is_ruler = |sign: char| "=-_*#~⎯─+".contains(sign);
    let first = if at_start {
        text.chars().next()
    } else {
        text.chars().next_back()
    };
    let Some(symbol) = first.filter(|sign| is_ruler(*sign)) else {
        return text;
    };
    let rest = if at_start {
        text.trim_start_matches(symbol)
    } else {
        text.trim_end_matches(symbol)
    };
    let ruler = (text.len() - rest.len()) / symbol.len_utf8();
    let left = RULER * symbol.len_utf8();
    if ruler < LONG_RULER || rest.is_empty() {
        text
    } else if at_start {
        text.get(text.len() - rest.len() - left..).unwrap_or(text)
    } else {
        text.get(..rest.len() + left).unwrap_or(text)
    }
}

/// The beginning and the end of `text` with the number of characters between them.
fn cut(text: &str, most: usize) -> String {
    let chars = text.char_count();
    let head = most * HEAD_PERCENT / 100;
    let tail = most * TAIL_PERCENT / 100;
    let offset = |place: usize| {
        text.char_indices()
            .nth(place)
            .map_or(text.len(), |(at, _)| at)
    };
    let start = text.get(..offset(head)).unwrap_or_default();
    let end = text
        .get(offset(chars.saturating_sub(tail))..)
        .unwrap_or_default();
    format!(
        "{start}...[{} chars]...{end}",
        chars.saturating_sub(head + tail)
    )
}
