//! What is shown of a line: spans of it.

use std::borrow::Cow;

use ethos_registry_core::find_text::FindText as _;

use crate::read::LONG_LINE;
use crate::source::{Line, Source, Span};

/// More indentation than this, and rulers longer than three symbols, are cut.
const MOST_INDENT: usize = 8;
const RULER: usize = 3;
const LONG_RULER: usize = 8;
/// Of a line that is cut, the share of its beginning and of its end.
const HEAD_PERCENT: usize = 65;
const TAIL_PERCENT: usize = 30;
const SHORTEST_CUT: usize = 240;
const TARGET_SHARE: usize = 8;

/// A line with more characters is cut.
pub(crate) fn longest(target_chars: usize) -> usize {
    (target_chars / TARGET_SHARE).clamp(SHORTEST_CUT, LONG_LINE)
}

/// A row of the reduced text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Whether its middle is left out.
    pub(crate) is_cut: bool,
}

/// The row of a line of at most about `most` characters.
pub(crate) fn row<'a>(source: &Source<'a>, line: &Line, most: usize) -> Row<'a> {
    let span = trimmed(source, line);
    let text = source.slice(span);
    if text.len() > most && text.char_count() > most {
        return Row {
            text: Cow::Owned(cut(text, most)),
            is_cut: true,
        };
    }
    Row {
        text: Cow::Borrowed(text),
        is_cut: false,
    }
}

/// A line without most of its indentation and its rulers.
fn trimmed(source: &Source<'_>, line: &Line) -> Span {
    let Span { mut start, mut end } = line.span;
    if line.kind.is_verbatim() {
        return line.span;
    }
    if !line.is_piece && line.indent > MOST_INDENT {
        start += line.indent - MOST_INDENT;
    }
    let text = source.slice(Span::new(start, end));
    start += text.len() - unruled(text, true).len();
    let text = source.slice(Span::new(start, end));
    end -= text.len() - unruled(text, false).len();
    Span::new(start, end)
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
    let kept = RULER * symbol.len_utf8();
    if ruler < LONG_RULER || rest.is_empty() {
        text
    } else if at_start {
        text.get(text.len() - rest.len() - kept..).unwrap_or(text)
    } else {
        text.get(..rest.len() + kept).unwrap_or(text)
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
