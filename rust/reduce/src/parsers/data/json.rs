//! JSON inputs: their shape, and the records that differ from the others.

pub(crate) mod document;
mod frame;
mod kind;
mod lexer;
mod names;
mod notebook;
mod odd;
mod reader;
mod records;
mod render;
mod seen;
mod shape;
#[cfg(test)]
mod tests;
mod values;

use document::{Document, said};
use reader::FEW_TEXTS;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::nested;
use crate::output::Output;
use crate::parsers::logs::log::is_record;
use ethos_registry_core::lines::lines;

pub(crate) const FAMILY: Family = Family {
    name: "json",
    runs,
    marks: Marks::Any,
    recognises,
    reduce,
};

/// Objects of a line each up to this size, or up to this many, are shown as lines.
const LINES_BYTES: usize = 8_000;
const MANY_LINES: usize = 20;
/// This many lines around a document are shown as they are.
const FEW_AROUND: usize = 8;

/// Any command may print JSON when it is asked to.
fn runs(input: &Input<'_>) -> bool {
    recognises(input) == Match::Certain
}

/// Certain when the text, except for a few lines around it, is one object with a key or one list: it begins and ends
/// like that.
fn recognises(input: &Input<'_>) -> Match {
    let Some(document) = Document::find(input.text) else {
        return Match::No;
    };
    let mut rows = lines(document.text);
    let closed = rows.next().is_some_and(|line| line.ends_with('}'));
    let by_line = closed && rows.next().is_some_and(|line| line.starts_with('{'));
    if by_line && !are_many_answers(document.text) {
        Match::No
    } else {
        Match::Certain
    }
}

/// Whether `text`, an object a line, holds more of them than anybody reads, and no records of a log, which
/// are read as lines.
fn are_many_answers(text: &str) -> bool {
    text.len() > LINES_BYTES
        && lines(text).nth(MANY_LINES).is_some()
        && !lines(text).take(MANY_LINES).any(is_record)
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    for find in [Document::find, Document::balanced] {
        let Some(document) = find(input.text) else {
            continue;
        };
        let mut shape = Output::default();
        if write(document.text, &mut shape) {
            around(document.before, input, output);
            output.append(shape);
            around(document.after, input, output);
            // A shape gives no verdict, so that it cannot hide one.
            output.failed();
            return;
        }
    }
}

/// Writes what precedes or after a document: a few lines as they are, more of them as an output of its own.
fn around(text: &str, input: &Input<'_>, output: &mut Output) {
    let part = Input { text, ..*input };
    if said(text).nth(FEW_AROUND).is_none() || nested::reduce(&part, &FAMILY, output).is_none() {
        said(text).for_each(|line| output.fact(line));
    }
}

/// The cells of `text` if it is a notebook, else its shape as rows of the output, that of each of a few values that
/// stand one after the other; whether it is JSON.
pub(crate) fn write(text: &str, output: &mut Output) -> bool {
    let Some(shape) = reader::read(text) else {
        return false;
    };
    if notebook::write(text, output) {
        return true;
    }
    if !(2..=FEW_TEXTS).contains(&shape.texts) {
        render::write(&shape, output);
        return true;
    }
    let mut start = 0;
    for end in shape.ends {
        let value = text.get(start..end).unwrap_or_default();
        if let Some(shape) = reader::read(value) {
            render::write(&shape, output);
        }
        start = end;
    }
    true
}
