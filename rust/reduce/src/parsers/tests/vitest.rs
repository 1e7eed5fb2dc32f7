//! Output of `vitest`: failed tests, assertions and locations, suites that did not load, totals.
//!
//! A failure is in the outline of its file and again in a block of its own; the block is kept.
//! A line of the outline is kept if no block shows its test, because the report may have been cut.

mod outline;
mod shape;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::shorten;
use crate::output::{Output, Weight};
use crate::parsers::tests::test_run::junit;
use crate::rows::report::{
    MESSAGE_CHARS, Names, Places, changed_line, is_coverage_row, is_excerpt, is_script_line,
    javascript_place,
};
use crate::rows::unknown::in_place::UnknownInPlace;
use ethos_registry_core::find_text::FindText as _;
use shape::{HINTS, ORIGINS, begins_run, blocks, is_bracket, is_error, is_noise, total};

pub(crate) const FAMILY: Family = Family {
    name: "vitest",
    runs,
    marks: Marks::OneOf(&[&["\n RUN  v0"], &["\n DEV  v0"], &[" Test Files  "]]),
    recognises,
    reduce,
};

/// How many further lines of a message are shown.
const MORE_LINES: usize = 2;
const CHANGED_LINES: usize = 4;
const CHANGED_CHARS: usize = 100;
/// The longest dump of the fields of an error.
const DUMP_CHARS: usize = 120;

fn runs(input: &Input<'_>) -> bool {
    input.program() == "vitest"
}

fn recognises(input: &Input<'_>) -> Match {
    let mut likely = false;
    for line in input.beginning() {
        if begins_run(line) {
            return Match::Certain;
        }
        likely |= line.starts_with(" FAIL  ") || line.starts_with(" ❯ ") || line.starts_with(" ✓ ");
    }
    let mut totals = input.ending().filter_map(total);
    if totals.any(|(label, _)| label == "Test Files") {
        return Match::Certain;
    }
    if likely || (runs(input) && junit::is_report(input)) {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if junit::is_report(input) {
        return junit::reduce(input, output);
    }
    let mut report = Report {
        blocks: blocks(input.text),
        counted: input.ending().any(|line| total(line).is_some()),
        heads: Vec::new(),
        said: Vec::new(),
        state: State::Outline,
        outline_shown: false,
        message: "",
        more: 0,
        changed: Vec::new(),
        in_difference: false,
        places: Places::default(),
        unknown: UnknownInPlace::default(),
        output,
    };
    for line in input.lines() {
        report.line(line);
    }
    report.close();
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Files, suites and tests with their symbols.
    Outline,
    /// The message below a failed test in the outline, which may have many lines.
    Outlined,
    /// The output of a test, which may look like totals.
    Printed(Printed),
    /// A failure, before the first line of its message.
    Opened,
    /// A failure, in its message.
    Message,
    /// A failure, after its message: diff, location, excerpt.
    Details,
}

/// The output of one test.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Printed {
    /// Whether the test failed.
    failed: bool,
    /// Whether the next line is the first that it wrote to standard error.
    loud: bool,
    /// How many lines are shown.
    shown: usize,
}

struct Report<'a, 'o> {
    blocks: Names<'a>,
    /// Whether there are totals; without them the counts of the files are kept.
    counted: bool,
    /// Tests with output and without a block: the outline may show that they failed.
    heads: Vec<&'a str>,
    /// The first lines of what passed tests wrote to standard error.
    said: Vec<&'a str>,
    state: State,
    outline_shown: bool,
    message: &'a str,
    more: usize,
    changed: Vec<&'a str>,
    in_difference: bool,
    places: Places,
    unknown: UnknownInPlace,
    output: &'o mut Output,
}

impl<'a> Report<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim_ascii();
        if self.state == State::Outline && trimmed.starts_with('✓') {
            return;
        }
        if trimmed.is_empty() {
            match self.state {
                State::Printed(_) => self.state = State::Outline,
                State::Message => self.state = State::Details,
                _ => {}
            }
            return;
        }
        if begins_run(line) {
            // Another run begins, whatever was open.
            self.close();
            self.output.end_failures();
            self.state = State::Outline;
            return;
        }
        if line.starts_with(" FAIL  ") {
            // If there are several in sequence, the message follows the last.
            self.flush();
            self.output.open_failure(trimmed, 1);
            self.output.failed();
            self.state = State::Opened;
            return;
        }
        if trimmed.starts_with('⎯') {
            self.ruler(trimmed);
            return;
        }
        let prints = matches!(self.state, State::Printed(_));
        if let Some((label, value)) = total(line).filter(|_| !prints) {
            self.close();
            self.output.end_failures();
            self.state = State::Outline;
            self.total(label, value, trimmed);
            return;
        }
        match self.state {
            State::Outline | State::Outlined => self.outline(line, trimmed),
            State::Printed(printed) => self.printed(line, printed),
            State::Opened | State::Message | State::Details => self.failure(trimmed),
        }
    }

    fn close(&mut self) {
        self.flush();
        self.output.close_failure();
    }

    fn flush(&mut self) {
        self.difference();
        self.places.flush(self.output);
        self.message = "";
        self.more = 0;
        self.in_difference = false;
    }

    /// A line drawn across the terminal, perhaps with the title of what follows.
    fn ruler(&mut self, trimmed: &str) {
        let name = trimmed.trim_matches(['⎯', ' ']);
        if name.is_empty() || name.starts_with('[') || name.starts_with("Failed ") {
            if name.starts_with("Failed ") {
                self.close();
                self.state = State::Details;
            }
            return;
        }
        self.close();
        self.output.fact(name);
        if name.starts_with("Un") {
            self.output.failed();
        }
        self.state = State::Opened;
    }

    /// Writes the changed lines, unless they are the two values in the message.
    fn difference(&mut self) {
        let message = self.message;
        let told = |line: &&str| message.contains(line.trim_matches(['-', '+', ' ', '"']));
        if self.changed.len() > 2 || !self.changed.iter().all(told) {
            for line in self.changed.iter().take(CHANGED_LINES) {
                if let Some(line) = changed_line(line) {
                    self.output.compared(&line, CHANGED_CHARS, Weight::Context);
                }
            }
        }
        self.changed.clear();
    }

    fn total(&mut self, label: &str, value: &str, trimmed: &str) {
        if label == "Duration" {
            let time = trimmed.split(" (").next().unwrap_or(trimmed);
            self.output.fact(time);
            return;
        }
        if value.contains("failed") || label.ends_with("Errors") && !value.starts_with("no ") {
            self.output.failed();
        }
        self.output.fact(trimmed);
    }

    fn failure(&mut self, trimmed: &'a str) {
        if let Some(frame) = trimmed.strip_prefix("❯ ") {
            self.state = State::Details;
            if let Some(place) = javascript_place(frame) {
                self.places.add(place);
            }
            return;
        }
        if is_excerpt(trimmed) || HINTS.begin(trimmed) {
            return;
        }
        match self.state {
            State::Opened => {
                self.output.fact(&shorten(trimmed, MESSAGE_CHARS));
                self.message = trimmed;
                self.state = State::Message;
            }
            State::Message => self.more(trimmed),
            _ => self.detail(trimmed),
        }
    }

    fn more(&mut self, trimmed: &str) {
        if is_bracket(trimmed) {
            return;
        }
        // The text of a JSON message comes last.
        let says = trimmed.starts_with("\"message\": ");
        if says && self.more >= MORE_LINES {
            self.output.context(&shorten(trimmed, MESSAGE_CHARS));
        }
        if self.more < MORE_LINES {
            self.more += 1;
            self.output.context(&shorten(trimmed, MESSAGE_CHARS));
        }
    }

    fn detail(&mut self, trimmed: &'a str) {
        if trimmed.starts_with("- Expected") || trimmed.starts_with("- Snapshot") {
            self.in_difference = true;
            return;
        }
        if changed_line(trimmed).is_some() {
            if self.changed.len() <= CHANGED_LINES {
                self.changed.push(trimmed);
            }
            return;
        }
        if trimmed.starts_with('+') || trimmed.starts_with('-') || trimmed.starts_with("@@") {
            return;
        }
        let value = trimmed
            .strip_prefix("Expected: ")
            .or_else(|| trimmed.strip_prefix("Received: "));
        if let Some(value) = value {
            if !self.message.contains(value.trim_matches('"')) {
                self.output.compared(trimmed, MESSAGE_CHARS, Weight::Fact);
            }
        } else if is_error(trimmed) {
            self.difference();
            self.places.flush(self.output);
            let is_dump = trimmed.starts_with("Serialized Error: ");
            let chars = if is_dump { DUMP_CHARS } else { MESSAGE_CHARS };
            self.output.fact(&shorten(trimmed, chars));
        } else if let Some(origin) = ORIGINS.iter().find(|origin| trimmed.starts_with(*origin)) {
            self.places.flush(self.output);
            let end = trimmed.find_text(". ").filter(|end| *end > origin.len());
            let told = end.and_then(|end| trimmed.get(..end));
            self.output.context(told.unwrap_or(trimmed));
        } else if is_coverage_row(trimmed) {
            self.output.fact(trimmed);
        } else if !self.in_difference
            && !is_noise(trimmed, trimmed, false)
            && !is_script_line(trimmed)
        {
            self.more(trimmed);
        }
    }
}

#[cfg(test)]
mod tests;
