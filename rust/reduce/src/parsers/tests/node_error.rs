//! The error of a failed test as Node prints it: message, diff, locations.

use crate::line::beginnings::Beginnings;
use crate::line::shorten;
use crate::output::{Mark, Output};
use crate::rows::report::{
    MESSAGE_CHARS, Places, changed_line, is_excerpt, javascript_place, says,
};

/// How many further lines of a message are shown.
const MORE_LINES: usize = 2;
const CHANGED_LINES: usize = 4;
const CHANGED_CHARS: usize = 100;
/// Longer values are shown by the diff.
const VALUE_CHARS: usize = 80;
/// Prefixes of lines that explain the symbols of a diff.
static LEGENDS: Beginnings<4> = Beginnings::new([
    "+ expected - actual",
    "+ actual - expected",
    "- actual + expected",
    "- expected + actual",
]);
/// The fields of an assertion that Node prints after its stack; the message contains them.
static FIELDS: Beginnings<7> = Beginnings::new([
    "generatedMessage:",
    "code:",
    "actual:",
    "expected:",
    "operator:",
    "diff:",
    "failureType:",
]);

/// The error that is being read.
#[derive(Debug, Default)]
pub(crate) struct NodeError<'a> {
    message_seen: bool,
    message: &'a str,
    /// The position of the message, until the line below it was read.
    told_at: Option<Mark>,
    /// Whether the message contains both values, so that no diff is needed.
    values_told: bool,
    more: usize,
    differences: usize,
    /// Changed lines, until it is known whether the values follow.
    changed: Vec<&'a str>,
    legend: &'a str,
    in_stack: bool,
    places: Places,
}

impl<'a> NodeError<'a> {
    /// Writes the locations; the next line belongs to another error.
    pub(crate) fn close(&mut self, output: &mut Output) {
        self.end_places(output);
        let places = std::mem::take(&mut self.places);
        *self = Self {
            places,
            ..Self::default()
        };
    }

    /// Whether a line of an error was read.
    pub(crate) fn is_open(&self) -> bool {
        self.message_seen
    }

    /// Writes the locations read so far: what follows is from another program.
    pub(crate) fn end_places(&mut self, output: &mut Output) {
        self.difference(output);
        self.places.flush(output);
    }

    /// Adds a location that is not in a stack.
    pub(crate) fn place(&mut self, place: &str) {
        self.places.add(place);
    }

    /// Reads a line that is not blank, without blanks at its ends.
    pub(crate) fn line(&mut self, trimmed: &'a str, output: &mut Output) {
        let told_at = self.told_at.take();
        if let Some(frame) = trimmed.strip_prefix("at ") {
            self.in_stack = true;
            if let Some(place) = javascript_place(frame) {
                self.places.add(place);
            }
        } else if !self.message_seen {
            self.message_seen = true;
            self.told_at = Some(output.mark());
            output.fact(&shorten(trimmed, MESSAGE_CHARS));
            self.message = trimmed;
        } else if let Some(mark) = told_at.filter(|_| names(trimmed, self.message)) {
            output.back_to(mark);
            output.summary(&shorten(trimmed, MESSAGE_CHARS), 2);
            self.message = trimmed;
        } else if LEGENDS.begin(trimmed) {
            self.differences += 1;
            if self.differences == 1 {
                self.legend = trimmed.split(" ... ").next().unwrap_or(trimmed);
            }
        } else if changed_line(trimmed).is_some() {
            if self.differences < 2 && self.changed.len() < CHANGED_LINES {
                self.changed.push(trimmed);
            }
        } else if let Some(cause) = cause(trimmed) {
            self.difference(output);
            self.places.flush(output);
            output.fact(&shorten(cause, MESSAGE_CHARS));
        } else {
            self.more(trimmed, output);
        }
    }

    /// Writes the diff, unless the values were shown.
    fn difference(&mut self, output: &mut Output) {
        let message = self.message;
        let told = |line: &&str| says(message, line.get(1..).unwrap_or_default());
        self.values_told |= self.changed.len() == 2 && self.changed.iter().all(told);
        if !self.values_told && !self.changed.is_empty() {
            if !self.legend.is_empty() {
                output.context(self.legend);
            }
            for line in &self.changed {
                if let Some(line) = changed_line(line) {
                    output.context(&shorten(&line, CHANGED_CHARS));
                }
            }
        }
        self.changed.clear();
    }

    fn more(&mut self, trimmed: &'a str, output: &mut Output) {
        let value = trimmed.starts_with("actual: ") || trimmed.starts_with("expected: ");
        if value && self.differences > 0 && !trimmed.ends_with(['{', '[', '(']) {
            // Parts of a value that Node leaves out are shown by the diff.
            let is_whole = || {
                !["[Object]", "[Array]"]
                    .iter()
                    .any(|part| trimmed.contains(part))
            };
            if trimmed.len() <= VALUE_CHARS && is_whole() {
                self.values_told = true;
                output.context(trimmed.trim_end_matches(','));
            }
            return;
        }
        let form = FIELDS.begin(trimmed)
            || is_excerpt(trimmed)
            || trimmed == "..."
            || trimmed.chars().all(|sign| "{}[](),".contains(sign));
        if form || self.differences > 0 || self.in_stack || self.more >= MORE_LINES {
            return;
        }
        self.more += 1;
        self.values_told |= trimmed.contains(" !== ");
        output.context(&shorten(trimmed, MESSAGE_CHARS));
    }
}

/// Whether `line` is `message` with the error class before it: `TypeError: oak is not a function`.
fn names(line: &str, message: &str) -> bool {
    let name = line
        .strip_suffix(message)
        .and_then(|name| name.strip_suffix(": "));
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The cause of an error: `[cause]: Error: …`, `Caused by: Error: …`.
fn cause(trimmed: &str) -> Option<&str> {
    (trimmed.starts_with("[cause]: ") || trimmed.starts_with("Caused by: ")).then_some(trimmed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_stands_again_below_with_the_name_of_its_error_is_told_once() {
        let (mut error, mut output) = (NodeError::default(), Output::default());
        for line in [
            "expected 3 to equal 4",
            "AssertionError: expected 3 to equal 4",
            "at (test/a.js:3:4)",
        ] {
            error.line(line, &mut output);
        }
        error.close(&mut output);
        assert_eq!(
            output.finish(3, usize::MAX),
            "AssertionError: expected 3 to equal 4\ntest/a.js:3:4\n[0 of 3 lines left out]"
        );
    }
}
