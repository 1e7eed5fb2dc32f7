//! The body of an answer.

use memchr::memmem;

use super::FAMILY;
use crate::lines::lines;
use crate::reduce::input::{Exit, Input};
use crate::reduce::json;
use crate::reduce::json::document::values_end;
use crate::reduce::output::Output;
use crate::reduce::part;

const HEADING_CHARS: usize = 200;
/// Where a page ends.
const END: &str = "</html>";
/// Bodies of at most this length stay whole.
const BODY_CHARS: usize = 600;
/// Of longer ones this much of the beginning, as it stands.
const BODY_START_CHARS: usize = 300;
/// Of their text, without tags, this share, within a bound.
const TEXT_SHARE: usize = 20;
const MAX_TEXT_BYTES: usize = 2_000;
const MAX_HEADINGS: usize = 20;
const HEADINGS: [(&str, &str); 4] = [
    ("<title", "</title>"),
    ("<h1", "</h1>"),
    ("<h2", "</h2>"),
    ("<h3", "</h3>"),
];

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
        && let Some((page, rest)) = body.split_at_checked(end + END.len())
        && !rest.is_empty()
    {
        write(page, output);
        write_other(rest, output);
        return;
    }
    let start = body
        .char_indices()
        .nth(BODY_START_CHARS)
        .map_or(body.len(), |(at, _)| at);
    body.get(..start)
        .unwrap_or_default()
        .lines()
        .for_each(|line| output.context(line));
    let rest = body.get(start..).unwrap_or_default();
    headings(rest, output);
    let bytes = (body.len() / TEXT_SHARE).min(MAX_TEXT_BYTES);
    let in_tag = body
        .get(..start)
        .is_some_and(|head| head.rfind('<') > head.rfind('>'));
    let text = without_tags(rest, in_tag, bytes);
    // Half of a word or of a number would say another thing.
    let is_cut = text.len() >= bytes;
    let end = text.rfind(char::is_whitespace).filter(|_| is_cut);
    lines(text.get(..end.unwrap_or(text.len())).unwrap_or_default())
        .filter(|line| !line.trim().is_empty())
        .for_each(|line| output.summary(line, 0));
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

/// The headings of `html` as they stand.
fn headings(html: &str, output: &mut Output) {
    let find = |from: usize, text: &str| {
        let rest = html.as_bytes().get(from..)?;
        Some(from + memmem::find(rest, text.as_bytes())?)
    };
    let next = |(open, close): (&str, &str), from| {
        let start = find(from, open)?;
        Some((start, find(start, close)? + close.len()))
    };
    // What was found stays the next one of its kind until it is passed: nothing is read twice.
    let mut all = HEADINGS.map(|kind| (kind, next(kind, 0)));
    for _ in 0..MAX_HEADINGS {
        let found = all.iter().filter_map(|(_, found)| *found).min();
        let Some((start, end)) = found else { return };
        let heading = html.get(start..end).unwrap_or_default();
        if heading.len() <= HEADING_CHARS && !heading.contains('\n') {
            output.summary(heading, 0);
        }
        for (kind, found) in &mut all {
            if found.is_some_and(|(start, _)| start < end) {
                *found = next(*kind, end);
            }
        }
    }
}

/// At most `max_bytes` of the text of `html`, blanks folded.
fn without_tags(html: &str, begins_in_tag: bool, max_bytes: usize) -> String {
    let mut text = String::new();
    let mut in_tag = begins_in_tag;
    for sign in html.chars() {
        match sign {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                if !text.ends_with([' ', '\n']) {
                    text.push(' ');
                }
            }
            _ if in_tag => {}
            ' ' | '\t' | '\n' => {
                if !text.ends_with([' ', '\n']) {
                    text.push(if sign == '\n' { '\n' } else { ' ' });
                }
            }
            _ => text.push(sign),
        }
        if text.len() >= max_bytes {
            break;
        }
    }
    text
}
