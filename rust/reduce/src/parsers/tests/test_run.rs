//! Test runners that have no family of their own: rspec, minitest, phpunit, mix, busted, jasmine,
//! ava, bun, deno, meson, googletest, catch2, dotnet, surefire, behave, robot, playwright, `XCTest`, Dart.
//!
//! They are recognised by their verdicts. Results of passed tests, source excerpts, frames of
//! libraries and rulers are removed; everything else is kept.

mod dart;
mod gherkin;
pub(crate) mod googletest;
pub(crate) mod junit;
mod shape;
mod verdict;
mod xctest;

use hashbrown::HashSet;

use crate::family::{Family, Marks, Match};
use crate::generic::kind::is_library_frame;
use crate::input::Input;
use crate::line::{is_bad, shorten};
use crate::output::{Output, Weight};
use crate::parsers::findings::compiler::compiles;
use crate::rows::report::{
    MAX_NAMES, Names, Places, changed_line, is_excerpt, is_rule, is_script_line, says, squeezed,
    without_time,
};
use crate::rows::unknown::in_place::UnknownInPlace;
use gherkin::{Gherkin, Line};
use shape::{
    Frame, frame, is_drawn, is_failure, is_noise, is_passed, names_failures, numbered_source,
    numbered_title, rerun,
};
use verdict::is_verdict;

pub(crate) const FAMILY: Family = Family {
    name: "test run",
    runs,
    marks: Marks::OneOf(&[
        &["<testsuite"],
        &[" example", ", ", " failure"],
        &[" runs, ", " failures, "],
        &["Assertions: ", "Tests: "],
        &["OK (", " assertion"],
        &[" tests, ", " failure"],
        &[" test, ", " failure"],
        &["bun test v"],
        &["Executed ", " test", ", with "],
        &[" Test run with "],
        &[" +0", ": All tests "],
        &[" +0", ": All other tests passed!"],
        &[" +0", ": Some tests failed."],
        &["ok | "],
        &["FAILED | "],
        &[" tests failed"],
        &[" test failed"],
        &[" spec", ", ", " failure"],
        &[" success", " / ", " failure"],
        &["Summary of Failures:"],
        &["[==========] "],
        &["test cases: "],
        &["All tests passed ("],
        &["Passed!  - Failed: "],
        &["Failed!  - Failed: "],
        &["Tests run: ", "Failures: "],
        &[" scenarios passed, "],
        &[" scenarios ("],
        &[" tests, ", " passed, "],
        &[" tests using "],
        &[" tests completed, "],
        &[" tests across "],
        &["meson-logs/testlog"],
    ]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 200;
/// How many lines are shown without conditions; after that only problems and verdicts.
const LINES: usize = 400;
const CHANGED_LINES: usize = 6;

const PROGRAMS: [&str; 17] = [
    "rspec",
    "minitest",
    "phpunit",
    "pest",
    "paratest",
    "mix",
    "busted",
    "jasmine",
    "ava",
    "bun",
    "deno",
    "meson",
    "behave",
    "cucumber",
    "robot",
    "playwright",
    "cypress",
];

fn runs(input: &Input<'_>) -> bool {
    PROGRAMS.contains(&input.program())
}

fn recognises(input: &Input<'_>) -> Match {
    if junit::is_report(input) {
        return Match::Certain;
    }
    let closes = |line: &str| is_verdict(line.trim());
    let at_end = || !input.is_beginning() && input.ending().any(closes);
    if at_end() || input.beginning().any(closes) {
        return Match::Certain;
    }
    Match::No
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if junit::is_report(input) {
        return junit::reduce(input, output);
    }
    let mut report = Report {
        shown: Names::default(),
        held: None,
        lines: 0,
        changed: 0,
        message: "",
        section: if has_line(input.text, "Failures:") {
            Section::Outline
        } else {
            Section::Report
        },
        listed: has_line(input.text, " ERRORS "),
        gherkin: Gherkin::default(),
        in_library: false,
        pointed: None,
        failed_at: "",
        written: HashSet::new(),
        places: Places::default(),
        unknown: UnknownInPlace::default(),
        output,
    };
    for line in input.lines() {
        report.line(line);
    }
    report.flush();
}

/// Whether one line of `text` is `line`.
fn has_line(text: &str, line: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, line).any(|at| {
        let begins = at
            .checked_sub(1)
            .is_none_or(|at| bytes.get(at) == Some(&b'\n'));
        let ends = matches!(bytes.get(at + line.len()), None | Some(b'\n' | b'\r'));
        begins && ends
    })
}

struct Report<'a, 'o> {
    /// Failures that were shown: runners list them again at the end.
    shown: Names<'a>,
    /// A line that is not written yet: a caret may follow source code.
    held: Option<&'a str>,
    lines: usize,
    changed: usize,
    /// The line before the changed lines, which may contain the values.
    message: &'a str,
    section: Section,
    /// Whether failures of the outline are shown again in more detail.
    listed: bool,
    gherkin: Gherkin<'a>,
    /// A Python frame in a library precedes: its source follows.
    in_library: bool,
    /// The number of the line that failed, until the line was shown.
    pointed: Option<&'a str>,
    /// The location of the last failed check of googletest.
    failed_at: &'a str,
    /// Locations of the last failure that are written.
    written: HashSet<&'a str>,
    places: Places,
    unknown: UnknownInPlace,
    output: &'o mut Output,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Report,
    /// Suites and tests with their verdicts, before the failures.
    Outline,
    /// Tests that were not run.
    Pending,
    /// Names of failures that were shown before.
    Repeated,
}

impl<'a> Report<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim();
        if trimmed.is_empty() || (trimmed.starts_with('[') && googletest::is_passed(trimmed)) {
            return;
        }
        if googletest::is_start(trimmed) {
            // The tests of another program may have the same names.
            self.shown.clear();
        }
        if is_verdict(trimmed) {
            self.section = Section::Report;
            self.flush();
            self.output.end_failures();
            if names_failures(trimmed) || dart::fails(trimmed) || trimmed == "Summary of Failures:"
            {
                self.output.failed();
            }
            if !is_noise(trimmed) {
                self.output.fact(&squeezed(trimmed));
            }
            return;
        }
        if trimmed.bytes().all(|byte| matches!(byte, b'^' | b'~')) {
            self.held = None;
            return;
        }
        if self.pointed.is_some() && numbered_source(trimmed) == self.pointed {
            self.pointed = None;
            self.flush();
            self.output.context(&shorten(trimmed, LINE_CHARS));
            return;
        }
        let form =
            is_passed(trimmed) || is_drawn(trimmed) || is_rule(trimmed) || is_excerpt(trimmed);
        if form || is_script_line(line) || self.is_elsewhere(line, trimmed) || is_noise(trimmed) {
            return;
        }
        let after_failure = !self.failed_at.is_empty();
        if self.is_library_frame(trimmed) || googletest::is_noise(trimmed, after_failure) {
            return;
        }
        if let Some(place) = googletest::place(trimmed) {
            // Further failures on one line of one test.
            if std::mem::replace(&mut self.failed_at, place) == place {
                return;
            }
        }
        if let Some(frame) = frame(trimmed) {
            self.release();
            if let Frame::User(place) = frame
                && self.written.len() < MAX_NAMES
                && self.written.insert(place)
            {
                self.pointed = trimmed.rsplit_once(':').map(|(_, number)| number);
                self.places.add(place);
            }
            return;
        }
        match self.gherkin.line(trimmed) {
            Line::Held => return,
            Line::Shown => return self.waiting(),
            Line::Other => self.waiting(),
        }
        self.other(line, trimmed);
    }

    /// Writes the scenario and the step that the next line belongs to.
    fn waiting(&mut self) {
        for line in self.gherkin.take() {
            self.flush();
            self.output.fact(&shorten(&squeezed(line), LINE_CHARS));
        }
    }

    /// Whether a line is a Python frame in a library, or the source below one.
    fn is_library_frame(&mut self, trimmed: &str) -> bool {
        let frame = trimmed.starts_with("File \"");
        let source = std::mem::take(&mut self.in_library) && !frame;
        self.in_library = frame && is_library_frame(trimmed);
        self.in_library || source
    }

    /// Whether a line is in a section that is not shown.
    fn is_elsewhere(&mut self, line: &str, trimmed: &str) -> bool {
        match trimmed.as_bytes().first() {
            Some(b'P') if trimmed.starts_with("Pending: (") => self.section = Section::Pending,
            Some(b'F') if trimmed == "Failures:" => self.section = Section::Report,
            Some(b'F') if matches!(trimmed, "Failed examples:" | "FAILURES") => {
                self.section = Section::Repeated;
            }
            _ => {}
        }
        match self.section {
            Section::Report => false,
            Section::Outline => {
                if !is_noise(trimmed)
                    && !trimmed.contains("(FAILED - ")
                    && (is_bad(trimmed) || !line.starts_with(' '))
                {
                    self.unknown.show(line, self.output);
                }
                true
            }
            Section::Pending => true,
            Section::Repeated => {
                if let Some((command, title)) = rerun(trimmed) {
                    // The location of an example distinguishes it from others unless a loop created them.
                    if command.contains('[') || !self.shown.contains(title) {
                        self.flush();
                        self.output.fact(&shorten(trimmed, LINE_CHARS));
                    }
                    return true;
                }
                let repeated = trimmed.contains(" => ")
                    || trimmed == "Failed examples:"
                    || trimmed == "FAILURES";
                if !repeated {
                    self.section = Section::Report;
                }
                repeated
            }
        }
    }

    fn flush(&mut self) {
        self.release();
        self.places.flush(self.output);
    }

    /// Writes the held line.
    fn release(&mut self) {
        if let Some(line) = self.held.take() {
            let row = squeezed(line);
            self.output.context(&shorten(&row, LINE_CHARS));
        }
    }

    fn other(&mut self, line: &'a str, trimmed: &'a str) {
        if trimmed.starts_with("@@") {
            return;
        }
        self.flush();
        if trimmed.starts_with(['-', '+']) {
            let shown = changed_line(trimmed).filter(|_| self.changed < CHANGED_LINES);
            let told = says(self.message, trimmed.get(1..).unwrap_or_default());
            if let Some(shown) = shown.filter(|_| !told) {
                self.changed += 1;
                self.output.compared(&shown, LINE_CHARS, Weight::Context);
            }
            return;
        }
        self.changed = 0;
        self.message = trimmed;
        if is_failure(trimmed) {
            self.failure(trimmed);
        } else if compiles(trimmed) {
            // The build of the tests contains no results.
        } else if self.lines >= LINES {
            self.unknown.show(line, self.output);
        } else {
            self.lines += 1;
            if is_bad(trimmed) {
                self.output.fact(&shorten(&squeezed(trimmed), LINE_CHARS));
            } else {
                self.held = Some(trimmed);
            }
        }
    }

    fn failure(&mut self, trimmed: &'a str) {
        self.output.failed();
        self.written.clear();
        let outline = self.listed && trimmed.contains("... FAILED");
        let known = self.shown.len() < MAX_NAMES && !self.shown.insert(without_time(trimmed));
        if self.shown.len() < MAX_NAMES {
            self.shown.extend(numbered_title(trimmed));
        }
        self.failed_at = "";
        if !outline && !known {
            let title = if trimmed.starts_with("[  FAILED  ]") {
                without_time(trimmed)
            } else {
                trimmed
            };
            self.output
                .open_failure(&shorten(&squeezed(title), LINE_CHARS), 1);
        }
    }
}
