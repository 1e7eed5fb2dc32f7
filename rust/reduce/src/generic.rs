//! Reduces output that no family recognises: noise is removed and repeats are folded. Of long text the beginning, the
//! end, problems and unusual lines are kept.

mod block;
mod cut_json;
mod findings;
mod forms;
mod heads;
pub(crate) mod importance;
pub(crate) mod kind;
mod row;
mod rows;
mod select;
mod shape;
mod signs;
mod table;
mod words;

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line;
use crate::line::annotation::Annotation;
use crate::output::Output;
use kind::Kind;
use row::Row;
use rows::rows;

pub(crate) const FAMILY: Family = Family {
    name: "generic",
    runs: |_| true,
    marks: Marks::Never,
    recognises: |_| Match::Likely,
    reduce,
};

/// How many characters of a line are shown.
const LINE_CHARS: usize = 200;
/// If few lines contain most of an input, up to the first number of characters of each are shown, as long as together
/// they are at most one part in the second number of it.
const MOST_LINE_CHARS: usize = 1_000;
const SHARE_OF_LINES: usize = 6;
/// Lines of an input of at most this length are not cut.
const WHOLE_LINES_BYTES: usize = 8_192;
const BAD_CHARS: usize = 400;
const RECORD_CHARS: usize = 700;
/// After overwritten progress is removed, the rest counts as at least one part in this many of the source.
const OVERWRITTEN_SHARE: usize = 3;
/// Shorter gaps are not marked individually; the account includes them.
const TOLD_GAP: usize = 10;

/// Writes the important lines of any text.
pub(crate) fn reduce(input: &Input<'_>, output: &mut Output) {
    if cut_json::write(input.text, output) {
        return;
    }
    let rows = findings::grouped(&rows(input.text));
    let all = rows.len();
    // If much was overwritten progress, more of the rest may be shown.
    let bytes = input
        .text
        .len()
        .max(output.source_bytes() / OVERWRITTEN_SHARE);
    let rows = select::selected(rows, bytes, input.exit);
    let usual_chars = if input.text.len() <= WHOLE_LINES_BYTES {
        WHOLE_LINES_BYTES
    } else {
        (bytes / SHARE_OF_LINES / rows.len().max(1)).clamp(LINE_CHARS, MOST_LINE_CHARS)
    };
    write(&rows, rows.len() < all, usual_chars, output);
}

/// `line` without a ruler at its end; a finding also without padding, and a pointer into the source above without its
/// indentation.
fn compact(line: &str) -> Cow<'_, str> {
    if let Some(annotation) = Annotation::read(line) {
        // The further lines of an annotation, which are encoded in the same line, show source and advice.
        return Cow::Borrowed(annotation.first_line());
    }
    let line = line.trim_end_matches(['━', '─', '═', '―', '—', ' ', '\t']);
    let line = if line.ends_with("] ***") || line.ends_with("****") {
        line.trim_end_matches(['*', ' '])
    } else {
        line
    };
    let text = line.trim_start();
    if text.starts_with("^ ") {
        return Cow::Borrowed(text);
    }
    let found = kind::place_length(text).is_some();
    if !found || memchr::memmem::find(text.as_bytes(), b"  ").is_none() {
        return Cow::Borrowed(line);
    }
    let mut compact = String::with_capacity(line.len());
    for word in text.split_ascii_whitespace() {
        if !compact.is_empty() {
            compact.push(' ');
        }
        compact.push_str(word);
    }
    Cow::Owned(compact)
}

/// How many characters of a line are shown: `usual` for most. More for failures and problems, because the reason is
/// often at the end, and most of an annotation or of the record of a failed playbook task.
fn line_chars(line: &str, kind: Kind, usual: usize) -> usize {
    let is_record = line.starts_with("fatal: [") || line.starts_with("failed: [");
    if is_record || Annotation::read(line).is_some() {
        RECORD_CHARS
    } else if matches!(kind, Kind::Bad | Kind::Finding | Kind::Warning) {
        BAD_CHARS.max(usual)
    } else {
        usual
    }
}

/// Writes `rows` of up to `usual_chars` characters, with the gaps between them if some were removed.
fn write(rows: &[Row<'_>], cut: bool, usual_chars: usize, output: &mut Output) {
    let mut next = 0;
    for row in rows {
        let gap = row.number.saturating_sub(next);
        if cut && gap >= TOLD_GAP {
            output.gap(gap);
        }
        let line = compact(row.line);
        let line = line::shorten_bad(&line, line_chars(row.line, row.kind, usual_chars));
        if row.alike == 0 {
            output.repeated(&line, row.times);
        } else {
            let hidden = row.alike - row.more.len();
            let mut text = line.into_owned();
            for place in &row.more {
                text.push(' ');
                text.push_str(place);
            }
            if hidden > 0 {
                let _ = write!(text, " ... {hidden} more");
            }
            output.summary(&text, 1 + row.more.len());
        }
        next = row.number + 1;
    }
}

#[cfg(test)]
mod tests;
