//! Output of `jest`: failed tests, assertions and locations, suites that did not run, totals, coverage.
//!
//! A failure is in the outline of its file, in a block of its own and, in long runs, again in a
//! summary; the first block is kept.

mod shape;

use hashbrown::HashSet;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::shorten;
use crate::output::{Output, Weight};
use crate::rows::report::{
    MAX_NAMES, MESSAGE_CHARS, Names, Places, changed_line, is_coverage_row, is_excerpt,
    is_script_line, javascript_place, squeezed, without_time,
};
use crate::rows::unknown::in_place::UnknownInPlace;
use ethos_registry_core::find_text::FindText as _;
use shape::{
    COMPARISONS, HINTS, blocks, is_console, is_detail, is_frame, is_noise, is_typescript, suite,
};

pub(crate) const FAMILY: Family = Family {
    name: "jest",
    runs,
    marks: Marks::OneOf(&[&["\nTest Suites: "], &["\n  ● "]]),
    recognises,
    reduce,
};

/// How many further lines of a message are shown.
const MORE_LINES: usize = 2;
/// The same for a suite that did not run: its errors come from the tools that read the file.
const SUITE_LINES: usize = 4;
const CHANGED_LINES: usize = 4;
const CHANGED_CHARS: usize = 100;
/// How many messages printed by tests are shown.
const PRINTED: usize = 12;
const PRINTED_CHARS: usize = 120;

static TOTALS: Beginnings<4> =
    Beginnings::new(["Test Suites: ", "Tests: ", "Snapshots: ", "Time: "]);
const SUITE_FAILED: &str = "Test suite failed to run";

fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "jest" | "react-scripts")
}

fn recognises(input: &Input<'_>) -> Match {
    let totals = input
        .ending()
        .any(|line| line.starts_with("Test Suites: ") && line.ends_with(" total"));
    if totals {
        return Match::Certain;
    }
    let mut headed = false;
    for line in input.beginning() {
        headed |= suite(line).is_some();
        // A title below a suite is specific to jest, also if no suite precedes it.
        if line.starts_with("  ● ") && (headed || line.contains(" › ")) {
            return Match::Certain;
        }
    }
    if headed { Match::Likely } else { Match::No }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut report = Report {
        blocks: blocks(input.text),
        suites: Names::default(),
        seen: HashSet::default(),
        suite: "",
        state: State::Top,
        repeated: false,
        message: 0,
        more: 0,
        changed: 0,
        in_difference: false,
        diagnosed: false,
        printed: [0; 2],
        last_place: "",
        said: Vec::new(),
        passed: "",
        printing: "",
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
    /// Between suites.
    Top,
    /// Suites and tests with their symbols.
    Outline,
    /// What a test printed.
    Printed,
    /// A failure or a message that was already shown.
    Repeated,
    /// A failure.
    Block { suite_failed: bool },
}

struct Report<'a, 'o> {
    blocks: Names<'a>,
    suites: Names<'a>,
    /// Suites and titles of the blocks that are shown, to recognise them in the summary.
    seen: HashSet<(&'a str, &'a str)>,
    suite: &'a str,
    /// The header of a suite that passed below one that failed; shown before what its tests print.
    passed: &'a str,
    state: State,
    /// Whether this is the summary, which repeats the blocks.
    repeated: bool,
    message: usize,
    more: usize,
    changed: usize,
    in_difference: bool,
    /// Whether a compiler reported errors in the suite that did not run.
    diagnosed: bool,
    /// How many messages were printed; errors and warnings are counted separately.
    printed: [usize; 2],
    /// The location of the last message.
    last_place: &'a str,
    /// The messages that were shown.
    said: Vec<&'a str>,
    printing: &'a str,
    places: Places,
    unknown: UnknownInPlace,
    output: &'o mut Output,
}

impl<'a> Report<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trimmed();
        if trimmed.is_empty() {
            return;
        }
        if let Some(title) = line.strip_prefix("  ● ") {
            self.title(title.trim(), trimmed);
            return;
        }
        if is_coverage_row(line) {
            self.close();
            self.output.fact(line.trim_end());
            return;
        }
        if !line.starts_with("  ") && self.top(line, trimmed) {
            return;
        }
        if trimmed.starts_with("console.") && is_console(trimmed) {
            self.close();
            self.state = State::Printed;
            self.printing = trimmed;
            return;
        }
        match self.state {
            State::Top | State::Outline if is_detail(line, trimmed) => {
                self.state = State::Block {
                    suite_failed: false,
                };
                self.message = 1;
                self.failure(trimmed, false);
            }
            // A frame of a failure whose header was cut off.
            State::Top if is_frame(line, trimmed) => {
                if let Some(place) = trimmed.strip_prefix("at ").and_then(javascript_place) {
                    self.places.add(place);
                }
            }
            State::Top => self.other(line),
            State::Repeated => {}
            State::Outline => self.outline(line, trimmed),
            State::Printed => self.print(trimmed),
            State::Block { suite_failed } => self.failure(trimmed, suite_failed),
        }
    }

    fn close(&mut self) {
        self.places.flush(self.output);
        self.output.close_failure();
        self.message = 0;
        self.more = 0;
        self.changed = 0;
        self.in_difference = false;
        self.diagnosed = false;
        self.printing = "";
    }

    /// Reads an unindented line; returns whether it was recognised.
    fn top(&mut self, line: &'a str, trimmed: &'a str) -> bool {
        if line.starts_with(" RUNS  ") {
            // The current test is redrawn between all other lines.
            return true;
        }
        if let Some((failed, file)) = suite(line) {
            self.close();
            // A title does not show its file.
            self.output.end_failures();
            self.state = State::Outline;
            self.suite = file;
            let is_below = !failed && !self.suites.is_empty();
            self.passed = if is_below { trimmed } else { "" };
            if failed {
                self.output.failed();
                if self.suites.len() >= MAX_NAMES || self.suites.insert(file) {
                    self.output.fact(trimmed);
                }
            }
            return true;
        }
        if TOTALS.begin(line) {
            self.close();
            self.output.end_failures();
            self.state = State::Top;
            if line.contains(" failed") {
                self.output.failed();
            }
            self.output.fact(&squeezed(line));
            return true;
        }
        if line.starts_with("Summary of all failing tests") {
            self.close();
            self.state = State::Top;
            self.repeated = true;
            return true;
        }
        if let Some(note) = line.strip_prefix(" › ") {
            self.close();
            self.state = State::Top;
            let note = note.split(". ").next().unwrap_or(note);
            self.output.fact(note.trim_end_matches('.'));
            return true;
        }
        if is_noise(line) || is_script_line(line) {
            self.close();
            self.state = State::Top;
            return true;
        }
        // Other unindented text does not end a failure or a message of a test, which are indented: a concurrent program
        // may have written it, or it is the reason why the run stopped.
        let is_inside = matches!(self.state, State::Block { .. } | State::Printed);
        if is_inside && !line.starts_with(' ') {
            self.other(line);
            return true;
        }
        false
    }

    fn title(&mut self, title: &'a str, trimmed: &'a str) {
        self.close();
        if title == "Console" {
            self.state = State::Printed;
            return;
        }
        let suite_failed = title == SUITE_FAILED;
        let shown = self.repeated
            && if suite_failed {
                self.suites.contains(self.suite)
            } else {
                // If the header of a suite was cut off, the title must be enough.
                self.seen.contains(&(self.suite, title)) || self.seen.contains(&("", title))
            };
        if shown {
            self.state = State::Repeated;
            return;
        }
        if self.seen.len() < MAX_NAMES {
            self.seen.insert((self.suite, title));
        }
        self.output.open_failure(trimmed, 1);
        self.output.failed();
        self.state = State::Block { suite_failed };
    }

    fn outline(&mut self, line: &'a str, trimmed: &'a str) {
        if let Some(title) = trimmed.strip_prefix(['✕', '×', '✗']) {
            if !self.blocks.contains(without_time(title.trim())) {
                self.output.fact(trimmed);
            }
            self.output.failed();
        } else if !line.starts_with(' ') {
            self.other(line);
        }
    }

    fn print(&mut self, trimmed: &'a str) {
        if let Some(place) = trimmed.strip_prefix("at ").and_then(javascript_place) {
            if place != self.last_place {
                self.places.add(place);
            }
            self.last_place = place;
            return;
        }
        if !self.printing.is_empty() && !trimmed.starts_with("at ") && !is_excerpt(trimmed) {
            // Errors and warnings are shown before all else that tests print.
            let loud = ["console.error", "console.warn"].contains(&self.printing);
            self.printing = "";
            if self.said.contains(&trimmed) {
                self.state = State::Repeated;
                return;
            }
            let Some(printed) = self.printed.get_mut(usize::from(loud)) else {
                return;
            };
            *printed += 1;
            if *printed > PRINTED {
                self.state = State::Repeated;
            } else {
                self.said.push(trimmed);
                let passed = std::mem::take(&mut self.passed);
                if !passed.is_empty() {
                    self.output.context(passed);
                }
                self.output.context(&shorten(trimmed, PRINTED_CHARS));
            }
        }
    }

    fn failure(&mut self, trimmed: &'a str, suite_failed: bool) {
        if let Some(frame) = trimmed.strip_prefix("at ") {
            if let Some(place) = javascript_place(frame) {
                self.places.add(place);
            }
        } else if is_excerpt(trimmed) || trimmed.starts_with("• ") {
            // Source code, or advice.
        } else if COMPARISONS.begin(trimmed) {
            self.output.compared(trimmed, MESSAGE_CHARS, Weight::Fact);
        } else if trimmed.starts_with("- Expected") || trimmed.starts_with("- Snapshot") {
            self.in_difference = true;
        } else if self.message > 0 && trimmed.starts_with(['-', '+']) || trimmed.starts_with("@@ ")
        {
            if let Some(line) = changed_line(trimmed).filter(|_| self.changed < CHANGED_LINES) {
                self.changed += 1;
                self.output.compared(&line, CHANGED_CHARS, Weight::Context);
            }
        } else if !self.in_difference {
            self.message(trimmed, suite_failed);
        }
    }

    fn message(&mut self, trimmed: &str, suite_failed: bool) {
        if HINTS.begin(trimmed) {
            return;
        }
        if suite_failed && is_typescript(trimmed) {
            self.message += 1;
            self.diagnosed = true;
            self.output.fact(&shorten(trimmed, MESSAGE_CHARS));
            return;
        }
        if self.diagnosed && trimmed.starts_with(|sign: char| sign.is_ascii_digit() || sign == '~')
        {
            // The source line that the compiler shows.
            return;
        }
        self.message += 1;
        // `expect(received)` is left out.
        let call = trimmed.strip_prefix("expect(received)").unwrap_or(trimmed);
        let call = call.split_text(" // ").map_or(call, |(call, _)| call);
        if self.message == 1 {
            self.output.fact(&shorten(call, MESSAGE_CHARS));
            return;
        }
        let named = trimmed
            .split_text(": ")
            .is_some_and(|(name, _)| name.ends_with("Error"));
        let most = if suite_failed {
            SUITE_LINES
        } else {
            MORE_LINES
        };
        if named {
            self.output.fact(&shorten(trimmed, MESSAGE_CHARS));
        } else if self.more < most {
            self.more += 1;
            self.output
                .compared(trimmed, MESSAGE_CHARS, Weight::Context);
        }
    }

    fn other(&mut self, line: &str) {
        if line.starts_with("Jest: ") && line.contains(" not met") {
            self.output.fact(line);
            self.output.failed();
        } else {
            self.unknown.show(line, self.output);
        }
    }
}
