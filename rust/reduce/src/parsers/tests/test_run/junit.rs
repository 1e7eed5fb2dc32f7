//! Reports in the XML format of `JUnit` with one tag per line, as reporters of many runners print them.

use super::FAMILY;
use crate::input::Input;
use crate::line::shorten;
use crate::nested;
use crate::output::Output;
use crate::rows::report::{
    MESSAGE_CHARS, Places, changed_line, is_excerpt, javascript_place, says,
};
use crate::rows::unknown::in_place::UnknownInPlace;
use ethos_registry_core::find_text::FindText as _;

/// How many lines are searched for the first tag.
const FIRST_LINES: usize = 20;
/// How many further lines, and changed lines, of one failure are shown.
const MORE_LINES: usize = 2;
const CHANGED_LINES: usize = 4;
/// How many lines that a failed test printed are shown.
const PRINTED_LINES: usize = 6;
/// How many suites are shown with their counts.
const SUITES: usize = 40;

/// Whether the text is such a report; its tags must be on separate lines.
pub(crate) fn is_report(input: &Input<'_>) -> bool {
    let mut lines = input.beginning().take(FIRST_LINES);
    lines.any(|line| {
        let tag = line.trim_ascii_start();
        let opens = tag.starts_with("<testsuites") || tag.starts_with("<testsuite ");
        opens && memchr::memchr_iter(b'<', tag.as_bytes()).count() == 1
    })
}

/// Writes failed tests with their messages and locations, and the counts; long text around the report is reduced
/// separately.
pub(crate) fn reduce(input: &Input<'_>, output: &mut Output) {
    let [before, own, behind] =
        nested::around(input, |line| line.trim_ascii_start().starts_with('<'));
    nested::other(before, &FAMILY, output);
    if let Some(own) = own {
        report(&own, output);
    }
    nested::other(behind, &FAMILY, output);
}

fn report(input: &Input<'_>, output: &mut Output) {
    let mut report = Report {
        state: State::Outside,
        test: None,
        printed: 0,
        suites: 0,
        message: "",
        more: 0,
        changed: 0,
        places: Places::default(),
        unknown: UnknownInPlace::default(),
        output,
    };
    for line in input.lines() {
        report.line(line);
    }
    report.places.flush(report.output);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// In a multi-line message, which the failure repeats.
    Message,
    /// In a failure.
    Failure,
    /// In the output of a test, or in properties.
    Printed,
}

struct Report<'a, 'o> {
    state: State,
    /// The test, until a failure of it is written.
    test: Option<&'a str>,
    /// How many more lines of the output of the failed test are shown.
    printed: usize,
    suites: usize,
    message: &'a str,
    more: usize,
    changed: usize,
    places: Places,
    unknown: UnknownInPlace,
    output: &'o mut Output,
}

impl<'a> Report<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return;
        }
        let Some(tag) = trimmed.strip_prefix('<') else {
            return self.text(line, trimmed);
        };
        let name = tag.split([' ', '>', '/']).next().unwrap_or(tag);
        match name {
            "testsuites" | "testsuite" => {
                self.output.end_failures();
                self.suite(trimmed);
            }
            "testcase" => {
                self.output.close_failure();
                self.state = State::Outside;
                self.test = Some(trimmed);
                self.printed = 0;
            }
            "failure" | "error" => self.failure(trimmed),
            "system-out" | "system-err" | "properties" => {
                let closed = trimmed.ends_with("/>") || trimmed.contains("</");
                if name != "properties" {
                    self.printed(trimmed.split_once('>').map_or("", |(_, text)| text));
                }
                self.state = if closed {
                    State::Outside
                } else {
                    State::Printed
                };
            }
            _ if tag.starts_with('/') => self.closed(),
            "?xml" | "skipped" | "property" | "![CDATA[" => {}
            _ => self.text(line, trimmed),
        }
    }

    /// The counts of all suites are a verdict.
    fn suite(&mut self, trimmed: &str) {
        let nonzero = |name: &str| {
            attribute(trimmed, name).is_some_and(|value| !value.trim_matches('0').is_empty())
        };
        if nonzero(" failures=\"") || nonzero(" errors=\"") {
            self.output.failed();
        }
        if trimmed.starts_with("<testsuites ") {
            self.output.fact(&shorten(trimmed, MESSAGE_CHARS));
        } else if self.suites < SUITES {
            self.suites += 1;
            let times = [" timestamp=\"", " hostname=\"", " id=\"", " package=\""];
            let name = times.iter().find_map(|name| trimmed.find_text(name));
            let name = trimmed.get("<testsuite ".len()..name.unwrap_or(trimmed.len()));
            let counts = trimmed.find_text(" tests=\"").unwrap_or(trimmed.len());
            let end = trimmed.find_text(" time=\"").unwrap_or(trimmed.len());
            let mut row = name.unwrap_or_default().to_owned();
            if !row.contains(" tests=\"") {
                row.push_str(trimmed.get(counts..end).unwrap_or_default());
            }
            self.output.summary(&shorten(&row, MESSAGE_CHARS), 1);
        }
    }

    fn failure(&mut self, trimmed: &'a str) {
        self.closed();
        self.state = State::Failure;
        self.printed = PRINTED_LINES;
        self.output.failed();
        if let Some(test) = self.test.take() {
            let end = test.find_text(" time=\"").unwrap_or(test.len());
            let named = test.get("<testcase ".len()..end).unwrap_or(test);
            self.output.open_failure(&shorten(named, MESSAGE_CHARS), 1);
        }
        self.message = attribute(trimmed, " message=\"").unwrap_or_default();
        let row = if self.message.is_empty() {
            trimmed
        } else {
            self.message
        };
        self.output.fact(&shorten(row, MESSAGE_CHARS));
        if trimmed.ends_with("/>") {
            self.state = State::Outside;
        } else if !trimmed.ends_with('>') {
            self.state = State::Message;
        }
    }

    /// Reads a line of the output of a test: if it failed, the first ones are shown.
    fn printed(&mut self, text: &str) {
        let text = text.split("</system-").next().unwrap_or(text).trim();
        if self.printed > 0 && !text.is_empty() && !text.starts_with("<![CDATA[") {
            self.printed -= 1;
            self.output.context(&shorten(text, MESSAGE_CHARS));
        }
    }

    fn closed(&mut self) {
        self.places.flush(self.output);
        self.state = State::Outside;
        (self.message, self.more, self.changed) = ("", 0, 0);
    }

    fn text(&mut self, line: &'a str, trimmed: &'a str) {
        match self.state {
            State::Message if trimmed.ends_with('>') => self.state = State::Failure,
            State::Printed => {
                self.printed(trimmed);
                if trimmed.contains("</system-") {
                    self.state = State::Outside;
                }
            }
            State::Message => {}
            State::Outside => self.unknown.show(line, self.output),
            State::Failure => self.detail(trimmed),
        }
    }

    /// Reads a line of a failure: most of it repeats the message.
    fn detail(&mut self, trimmed: &'a str) {
        let frame = trimmed
            .strip_prefix("❯ ")
            .or_else(|| trimmed.strip_prefix("at "));
        if let Some(frame) = frame {
            if let Some(place) = javascript_place(frame) {
                self.places.add(place);
            }
            return;
        }
        if let Some(changed) = changed_line(trimmed) {
            let told = says(self.message, trimmed.get(1..).unwrap_or_default());
            if !told && self.changed < CHANGED_LINES {
                self.changed += 1;
                self.output.context(&shorten(&changed, MESSAGE_CHARS));
            }
            return;
        }
        let repeated = !self.message.is_empty() && trimmed.ends_with(self.message);
        let form = trimmed.starts_with(['-', '+']) || is_excerpt(trimmed);
        if !(repeated || form) && self.more < MORE_LINES {
            self.more += 1;
            self.output.context(&shorten(trimmed, MESSAGE_CHARS));
        }
    }
}

/// The value of an attribute; if it has several lines, up to the end of the first.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let start = tag.find_text(name)? + name.len();
    let value = tag.get(start..)?;
    let end = memchr::memchr(b'"', value.as_bytes()).unwrap_or(value.len());
    value.get(..end)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use crate::pipeline::terminal;

    fn report(failures: usize) -> String {
        let failure = "<testcase classname=\"oak.test.js\" name=\"oak &gt; falls\" time=\"0.01\">\n<failure \
                       message=\"expected 3.5 to be 3\" type=\"AssertionError\">\nAssertionError: expected 3.5 to \
                       be 3\n\n- Expected\n+ Received\n\n- 3\n+ 3.5\n\n ❯ oak.test.js:4:84\n</failure>\n</testcase>\n";
        let passed = "<testcase classname=\"oak.test.js\" name=\"oak &gt; stands\" time=\"0.01\">\n<system-out>\nit \
                      stands\n</system-out>\n</testcase>\n";
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<testsuites name=\"oak\" tests=\"41\" \
             failures=\"{failures}\" errors=\"0\" time=\"6.28\">\n<testsuite name=\"oak.test.js\" tests=\"41\" \
             failures=\"{failures}\" errors=\"0\">\n{}{}</testsuite>\n</testsuites>\n",
            failure.repeat(failures),
            passed.repeat(40)
        )
    }

    #[test]
    fn a_report_in_one_line_is_left_to_others() {
        let text = report(3).replace('\n', " ");
        let text = text.split_once("?> ").unwrap().1;
        assert_eq!(
            terminal::family_name(text, Some("npx vitest run --reporter=junit")),
            "generic"
        );
    }
}
