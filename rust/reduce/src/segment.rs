//! Divides an output into the parts of its commands, and finds the formats of each.

use std::sync::Arc;

use crate::format::{Format, built_in, registered};
use crate::lexicon::lexicon;
use crate::source::{Part, Source};

/// More headings than this, and than one in `HEADING_SHARE` lines, are rows of something else.
const MOST_HEADINGS: usize = 40;
const HEADING_SHARE: usize = 6;
/// Of a longer part, only these numbers of lines at the beginning and the end are searched for signatures.
const FIRST_LINES: usize = 600;
const LAST_LINES: usize = 200;

/// A format that was found in a part.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    BuiltIn(&'static Format),
    Registered(Arc<Format>),
}

impl Found {
    pub(crate) fn format(&self) -> &Format {
        match self {
            Self::BuiltIn(format) => format,
            Self::Registered(format) => format,
        }
    }
}

/// The parts of an output, each of one command.
pub(crate) fn parts(source: &Source<'_>) -> Vec<Part> {
    let count = source.lines.len();
    // In a diff, `+ x` is a change and not a traced command.
    let is_diff = (0..count).any(|number| {
        let line = source.at(number);
        line.starts_with("@@ -") || line.starts_with("- ") || line.starts_with("--- ")
    });
    let is_heading = |number: &usize| {
        let line = source.at(*number);
        source.lines[*number].indent == 0
            && !source.lines[*number].is_piece
            && line.starts_with(['+', '$', '=', '>', '#', '-']) | line.ends_with([']', 'd'])
            && !(is_diff && line.starts_with('+'))
            && lexicon().is_segment(line)
    };
    let mut headings: Vec<usize> = (0..count).filter(is_heading).collect();
    if headings.len() > MOST_HEADINGS.max(count / HEADING_SHARE) {
        headings.clear();
    }
    let mut parts = Vec::new();
    let mut start = 0;
    let mut is_headed = false;
    for heading in headings.into_iter().chain([count]) {
        if heading > start {
            parts.push(Part {
                start,
                end: heading,
                is_headed,
            });
        }
        (start, is_headed) = (heading, true);
    }
    parts
}

/// The formats of a part, in the order in which their rules decide. Several may be found: they only classify.
pub(crate) fn formats(source: &Source<'_>, part: Part, commands: &[Vec<String>]) -> Vec<Found> {
    let searched = || {
        let last = part
            .end
            .saturating_sub(LAST_LINES)
            .max(part.start + FIRST_LINES);
        let first = part.start..part.end.min(part.start + FIRST_LINES);
        first.chain(last..part.end).map(|number| source.at(number))
    };
    let mut found: Vec<Found> = Vec::new();
    for format in registered() {
        let runs = format.runs(commands);
        if runs && format.is_signed(searched(), true)
            || format.is_marked(source.text)
            || !format.signature().is_empty() && format.is_signed(searched(), runs)
        {
            found.push(Found::Registered(format));
        }
    }
    let known = built_in();
    let mut matches = vec![0_usize; known.formats.len()];
    for line in searched().filter(|line| !line.is_empty()) {
        for format in known.signed(line) {
            if let Some(count) = matches.get_mut(format) {
                *count += 1;
            }
        }
    }
    let numbered = known
        .formats
        .iter()
        .zip(matches)
        .filter(|(_, count)| *count > 0);
    let mut claimed: Vec<(bool, &Format)> = numbered
        .map(|(format, count)| (format.runs(commands), count, format))
        .filter(|(runs, count, format)| *runs || *count >= format.least_lines())
        .map(|(runs, _, format)| (runs, format))
        .collect();
    // Formats of the command come first.
    claimed.sort_by_key(|(runs, _)| !runs);
    found.extend(
        claimed
            .into_iter()
            .map(|(_, format)| Found::BuiltIn(format)),
    );
    found
}
