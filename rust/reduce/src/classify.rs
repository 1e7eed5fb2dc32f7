//! Gives each line one kind, by the formats of its part and by the lexicon.

use crate::format::Classified;
use crate::lexicon::lexicon;
use crate::location::{code, location};
use crate::segment::Found;
use crate::source::{Kind, Line, Part, Source, Span};
use crate::template::hashed;

/// A line with that many symbols in a row and little else is a ruler.
const LONG_RULER: usize = 20;
const LEAST_RULER: usize = 3;
/// A block of a format that does not end is closed after this number of lines.
const MOST_BLOCK_LINES: usize = 400;

/// Sets the kind, the location and the code of the lines of a part.
pub(crate) fn classify(source: &mut Source<'_>, part: Part, formats: &[Found]) {
    let mut open: Option<(usize, usize, usize)> = None;
    for number in part.start..part.end {
        let text = source.at(number);
        if let Some(kind) = empty(text) {
            source.lines[number].kind = kind;
        }
        let line = &mut source.lines[number];
        if line.kind == Kind::Blank {
            continue;
        }
        let by_format = formats
            .iter()
            .find_map(|found| found.format().classify(text));
        if line.kind == Kind::Ruler {
            continue;
        }
        let found = location(text);
        if let Some(found) = found {
            let path = text
                .get(found.path.start..found.path.end)
                .unwrap_or_default();
            line.file = hashed(path.as_bytes());
            line.place = shifted(line.span.start, found.path.start, found.end);
        }
        if let Some(code) = code(text) {
            line.code = hashed(
                text.get(code.start..code.end)
                    .unwrap_or_default()
                    .as_bytes(),
            );
        }
        line.kind = match by_format {
            Some(stated) => {
                apply(line, text, &stated);
                stated.kind
            }
            None => {
                in_block(formats, &mut open, number, text).unwrap_or_else(|| lexicon().kind(text))
            }
        };
        if matches!(line.kind, Kind::Plain | Kind::Heading)
            && found.is_some_and(|found| !found.is_quoted)
        {
            line.kind = Kind::Location;
        }
        if open.is_none() {
            let mut numbered = formats.iter().enumerate();
            open = numbered
                .find_map(|(index, found)| Some((index, found.format().begins(text)?, number)));
        }
    }
}

/// The kind of a line inside of a block of a format.
fn in_block(
    formats: &[Found],
    open: &mut Option<(usize, usize, usize)>,
    number: usize,
    text: &str,
) -> Option<Kind> {
    let (format, block, first) = (*open)?;
    let (ends, kind) = formats.get(format)?.format().block(block, text);
    if ends || number - first > MOST_BLOCK_LINES {
        *open = None;
        return None;
    }
    Some(kind)
}

/// Sets what the groups of a pattern name: the path, the code, the message and the name.
fn apply(line: &mut Line, text: &str, stated: &Classified) {
    let [path, code, message, name] = stated.groups;
    let start = line.span.start;
    let hash =
        |(from, to): (usize, usize)| hashed(text.get(from..to).unwrap_or_default().as_bytes());
    if let Some(path) = path {
        line.file = hash(path);
        if line.place.is_empty() {
            line.place = shifted(start, path.0, path.1);
        }
    }
    if let Some(code) = code {
        line.code = hash(code);
    }
    if let Some(message) = message {
        line.message = shifted(start, message.0, message.1);
    }
    if let Some(name) = name.filter(|_| line.place.is_empty()) {
        line.place = shifted(start, name.0, name.1);
    }
}

fn shifted(start: usize, from: usize, to: usize) -> Span {
    Span::new(start + from, start + to)
}

/// Whether a line is blank or a ruler.
fn empty(text: &str) -> Option<Kind> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Kind::Blank);
    }
    let is_symbol = |sign: char| !sign.is_alphanumeric();
    if text.len() >= LEAST_RULER && text.chars().all(is_symbol) {
        let first = text.chars().next();
        let is_uniform = text
            .chars()
            .all(|sign| Some(sign) == first || sign == ' ' || "+|-=_:┼─│".contains(sign));
        return is_uniform.then_some(Kind::Ruler);
    }
    let body = text.trim_matches(is_symbol);
    let is_long = body.len() <= 6
        && text.len() >= LONG_RULER + 10
        && text.chars().take_while(|sign| is_symbol(*sign)).count() >= LONG_RULER;
    is_long.then_some(Kind::Ruler)
}
