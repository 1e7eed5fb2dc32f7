//! The body of an answer.

use memchr::{memchr, memchr_iter, memmem};

use super::{FAMILY, page};
use crate::input::{Exit, Input};
use crate::nested;
use crate::output::Output;
use crate::parsers::data::json;
use crate::parsers::data::json::document::values_end;
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

/// Where a page ends.
const END: &str = "</html>";
const END_OF_COMMENT: &str = "-->";
/// In so much of a body is what distinguishes a page from XML.
const BEGINNING: usize = 1_000;
/// XML of longer lines than these is broken where an element ends.
const LINE_BYTES: usize = 500;
/// Bodies of at most this length stay whole.
const BODY_CHARS: usize = 600;

/// The shape of JSON; of HTML the beginning, the headings and the text. What others printed after it, and a body of
/// another form, goes the way of an output of its own.
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
        // What others printed after it has no mark of its own.
        let ends = values_end(body).and_then(|end| body.split_at_checked(end));
        if let Some((json, rest)) = ends
            && json::write(json, output)
        {
            write_other(rest, output);
            return;
        }
    }
    if is_xml(body) {
        write_xml(body, output);
        return;
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

/// Whether `body` is XML and no page: what it states is in its tags too.
fn is_xml(body: &str) -> bool {
    if !body.starts_with('<') {
        return false;
    }
    let first = memchr(b'>', body.as_bytes()).and_then(|end| body.get(..end));
    let is_told = body.starts_with("<?xml") || first.is_some_and(|tag| tag.has_text(" xmlns"));
    let beginning = body
        .bytes()
        .take(BEGINNING)
        .map(|byte| byte.to_ascii_lowercase());
    let beginning: Vec<u8> = beginning.collect();
    is_told
        && !["<html", "<!doctype html"]
            .iter()
            .any(|page| memmem::find(&beginning, page.as_bytes()).is_some())
}

/// XML by its lines; when it has hardly any, each element is one.
fn write_xml(body: &str, output: &mut Output) {
    let rows = 1 + memchr_iter(b'\n', body.as_bytes()).count();
    if body.len() / rows <= LINE_BYTES {
        write_other(body, output);
    } else {
        write_other(&body.replace("><", ">\n<"), output);
    }
}

/// The end of the comment after the page that ends at `end`, or `end` if there is none: servers put details of an error
/// there.
fn with_comment(body: &str, end: usize) -> usize {
    let rest = body.get(end..).unwrap_or_default();
    let is_comment = rest.trim_start().starts_with("<!--");
    let close = rest.find_text(END_OF_COMMENT).filter(|_| is_comment);
    close.map_or(end, |close| end + close + END_OF_COMMENT.len())
}

/// What is not an answer goes the way of an output of its own.
pub(super) fn write_other(text: &str, output: &mut Output) {
    let input = Input {
        text,
        words: &[],
        exit: Exit::Unknown,
    };
    match nested::reduce(&input, &FAMILY, output) {
        Some(told) if told.failure => output.failed(),
        Some(_) => {}
        None => nested::whole(text, output),
    }
}
