//! Failures own what follows them: the details up to a ruler, a new failure or a line of less indentation.

use crate::source::{Kind, Part, Source};

/// Lines below a failure that may explain it.
const MOST_DETAILS: usize = 14;
/// Blank lines that end a failure.
const MOST_BLANKS: usize = 2;
/// A ruler of this length ends a failure.
const DIVIDER: usize = 10;

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let mut owner: Option<usize> = None;
    let (mut distance, mut blanks) = (0, 0);
    for number in part.start..part.end {
        let kind = source.lines[number].kind;
        if kind.is_empty() {
            blanks += 1;
            if blanks > MOST_BLANKS || is_divider(source.at(number)) {
                owner = None;
            }
            continue;
        }
        let indent = source.lines[number].indent;
        let is_member = source.lines[number].is_piece
            || matches!(
                source.at(number).trim_start().as_bytes().first(),
                Some(b'"' | b'{' | b'}' | b']')
            );
        if let Some(above) = owner
            && is_member
            && indent <= source.lines[above].indent
        {
            // The next member of JSON.
            owner = None;
        }
        if matches!(
            kind,
            Kind::Failure | Kind::Location | Kind::Title | Kind::Warning
        ) {
            let explains = owner.is_some_and(|above| {
                let above = &source.lines[above];
                let is_titled = above.kind == Kind::Title && kind != Kind::Title;
                is_titled || kind == Kind::Location && indent > above.indent
            });
            if !explains {
                (owner, distance, blanks) = (Some(number), 1, 0);
                continue;
            }
        } else if owner.is_none()
            || matches!(
                kind,
                Kind::Verdict | Kind::Heading | Kind::Passed | Kind::Progress | Kind::Noise
            )
        {
            if matches!(kind, Kind::Verdict | Kind::Passed | Kind::Heading) {
                owner = None;
            }
            continue;
        } else if blanks > 0
            && kind == Kind::Plain
            && owner.is_some_and(|above| indent <= source.lines[above].indent)
        {
            owner = None;
            continue;
        }
        blanks = 0;
        let line = &mut source.lines[number];
        line.detail = distance;
        line.unit = owner;
        line.heading = owner;
        if !matches!(kind, Kind::Code | Kind::Context | Kind::Frame | Kind::Hint) {
            distance += 1;
        }
        if distance > MOST_DETAILS {
            owner = None;
        }
    }
}

/// Whether a ruler is long enough to divide sections.
fn is_divider(text: &str) -> bool {
    let text = text.trim();
    let mut symbols = text.chars();
    let first = symbols.next();
    let is_uniform = symbols.all(|sign| Some(sign) == first);
    is_uniform && text.chars().count() >= DIVIDER
}
