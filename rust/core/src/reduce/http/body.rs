//! The body of an answer.

use memchr::memmem;

use super::{FAMILY, page};
use crate::find_text::FindText as _;
use crate::lines::lines;
use crate::reduce::input::{Exit, Input};
use crate::reduce::json;
use crate::reduce::json::document::values_end;
use crate::reduce::output::Output;
use crate::reduce::part;

/// Where a page ends.
const END: &str = "</html>";
const END_OF_COMMENT: &str = "-->";
/// Bodies of at most this length stay whole.
const BODY_CHARS: usize = 600;

/// The shape of JSON; of HTML the beginning, the headings and the text. What others printed behind it, and a
/// body of another form, goes the way of an output of its own.
pub(super) fn write(body: &str, output: &mut Output) {
    let body = body.trim();
    if body.len() <= BODY_CHARS {
        lines(body).for_each(|line| output.context(line));
        return;
    }
    if body.starts_with(['{', '[']) {
        if json::write(body, output) {
            return;
        }
        // What others printed behind it has no mark of its own.
        let ends = values_end(body).and_then(|end| body.split_at_checked(end));
        if let Some((json, rest)) = ends
            && json::write(json, output)
        {
            write_other(rest, output);
            return;
        }
    }
    if !body.starts_with('<') {
        write_other(body, output);
        return;
    }
    if let Some(end) = memmem::find(body.as_bytes(), END.as_bytes())
        && let Some((page, rest)) = body.split_at_checked(with_comment(body, end + END.len()))
        && !rest.is_empty()
    {
        write(page, output);
        write_other(rest, output);
        return;
    }
    page::write(body, output);
}

/// Where the comment ends that stands behind the page that ends at `end`, or `end`: servers tell there for programs
/// what went wrong.
fn with_comment(body: &str, end: usize) -> usize {
    let rest = body.get(end..).unwrap_or_default();
    let is_comment = rest.trim_start().starts_with("<!--");
    let close = rest.find_text(END_OF_COMMENT).filter(|_| is_comment);
    close.map_or(end, |close| end + close + END_OF_COMMENT.len())
}

/// What is no answer goes the way of an output of its own.
pub(super) fn write_other(text: &str, output: &mut Output) {
    let input = Input {
        text,
        words: &[],
        exit: Exit::Unknown,
    };
    match part::reduce(&input, &FAMILY, output) {
        Some(told) if told.failure => output.failed(),
        Some(_) => {}
        None => part::whole(text, output),
    }
}
