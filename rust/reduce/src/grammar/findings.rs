//! Messages with places: `path:1:2: message`, or the message on one line and its place on the next.

use crate::source::{Kind, Part, Source, Span};

/// How far behind the indentation a place may begin.
const MOST_BEFORE: usize = 4;

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    for number in part.start..part.end {
        let line = &source.lines[number];
        let is_finding = matches!(
            line.kind,
            Kind::Failure | Kind::Warning | Kind::Location | Kind::Title | Kind::Hint
        );
        let is_titled = line.detail > 0
            && line
                .unit
                .is_some_and(|unit| source.lines[unit].kind == Kind::Title);
        if !is_finding || is_titled || !line.message.is_empty() {
            continue;
        }
        if !line.place.is_empty() {
            if line.file != 0 && line.place.start - line.span.start <= line.indent + MOST_BEFORE {
                let message = trimmed(source, Span::new(line.place.end, line.span.end));
                source.lines[number].message = message;
            }
            continue;
        }
        let below = &source.lines[number + 1];
        let has_place = number + 1 < part.end
            && below.kind == Kind::Location
            && !below.place.is_empty()
            && below.place.start - below.span.start <= below.indent + MOST_BEFORE + 2;
        if has_place {
            let place = below.place;
            let message = trimmed(source, line.span);
            let line = &mut source.lines[number];
            (line.message, line.place) = (message, place);
            let below = &mut source.lines[number + 1];
            (below.unit, below.detail, below.heading) = (Some(number), 1, Some(number));
            source.bundle(vec![number, number + 1]);
        }
    }
}

/// A span without blanks, colons and hyphens around it.
fn trimmed(source: &Source<'_>, span: Span) -> Span {
    let text = source.slice(span);
    let is_sign = |sign: char| matches!(sign, ' ' | ':' | '-' | '\t');
    let start = text.len() - text.trim_start_matches(is_sign).len();
    let end = text.trim_end_matches(is_sign).len();
    Span::new(span.start + start.min(end), span.start + end)
}
