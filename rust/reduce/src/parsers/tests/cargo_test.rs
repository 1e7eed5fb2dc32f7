//! Output of `cargo test`: failed tests, panics and places, results; errors of the build before it.

mod difference;
mod known;
mod line;
mod list;
mod panic;
mod results;
mod section;

use hashbrown::HashSet;

use self::difference::Difference;
use self::known::{RESULT, recognises, runs};
use self::line::{
    Next, Outcome, failure_header, is_announcement, is_listed, is_marks, is_passed, is_ruled,
    is_shown, name, nextest, outcome, without_binary,
};
use crate::family::{Family, Marks};
use crate::input::Input;
use crate::line::{is_bad, shorten};
use crate::output::Output;
use crate::parsers::findings::rustc::{Reader, is_beside};
use crate::parsers::logs::traceback::Folder;
use panic::show;
use results::Results;
use section::Section;

pub(crate) const FAMILY: Family = Family {
    name: "cargo test",
    runs,
    marks: Marks::OneOf(&[
        &["\nrunning 0", " test"],
        &["\ntest result: "],
        &["\nerror: test failed, "],
        &[": test", " benchmark"],
        &["Summary ["],
        &["FAIL", "] "],
        &["TIMEOUT", "] "],
        &["ABORT", "] "],
        &["SIG", "] "],
        &["TRY", "] "],
    ]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 240;
/// How many lines that a failed test printed are kept.
const PRINTED: usize = 6;
/// How many failed tests are remembered.
const TESTS: usize = 4_096;

fn reduce(input: &Input<'_>, output: &mut Output) {
    if list::is_list(input) {
        return list::reduce(input, output);
    }
    let mut tests = Tests {
        output,
        section: Section::Build,
        build: Reader::default(),
        folder: Folder::default(),
        header: None,
        named: HashSet::new(),
        failed: Vec::new(),
        target: None,
        closing: false,
        last_failed: None,
        last: None,
        assertion: "",
        difference: Difference::default(),
        some_failed: false,
        results: Results::default(),
        running: None,
    };
    for line in input.lines() {
        tests.line(line);
    }
    tests.end();
}

/// The lines below the report that the tests of a target failed.
const CAUSES: [&str; 2] = [
    "Caused by:",
    "note: test exited abnormally; to see the full output pass --no-capture to the harness.",
];

/// A reader of the output of tests.
struct Tests<'a, 'o> {
    output: &'o mut Output,
    section: Section,
    build: Reader<'a>,
    folder: Folder<'a>,
    /// The test whose output is read, until it is known whether its panic shows its name.
    header: Option<&'a str>,
    /// Failed tests that were written.
    named: HashSet<&'a str>,
    /// Lines that report a failed test; written if nothing else shows its name.
    failed: Vec<&'a str>,
    /// The target that runs; written if it fails.
    target: Option<&'a str>,
    /// Whether the previous line reported that the tests of a target failed, or the reason.
    closing: bool,
    /// The last failed test in the output of nextest.
    last_failed: Option<&'a str>,
    /// The last passed test; written if the output ends without a result.
    last: Option<&'a str>,
    /// The last assertion without a message: its values show the next such assertion.
    assertion: &'a str,
    difference: Difference,
    /// Whether a target had tests that failed.
    some_failed: bool,
    results: Results<'a>,
    /// The number of tests of a target, until their result is shown.
    running: Option<&'a str>,
}

impl<'a> Tests<'a, '_> {
    fn line(&mut self, line: &'a str) {
        if self.section == Section::Tests && is_passed(line) {
            self.last = Some(line);
            return;
        }
        let body = line.trim_start();
        if body.starts_with(RESULT) {
            self.result(line, body);
        } else if is_announcement(body) {
            self.announced();
            self.running = Some(body);
        } else if let Some(name) = failure_header(body) {
            if self.section != Section::Successes {
                self.end_failure();
                self.output.failed();
                self.results.write(true, self.output);
                self.header = Some(name);
                self.section = Section::Failure { printed: 0 };
            }
        } else if body == "failures:" || body == "successes:" {
            self.end_failure();
            self.section = match (body, self.section) {
                ("successes:", Section::Successes) => Section::Passed,
                ("successes:", _) => Section::Successes,
                _ => Section::Names,
            };
        } else if let Some(next) = nextest(line) {
            self.end_failure();
            self.nextest(next, body);
        } else {
            self.content(line, body);
        }
    }

    fn content(&mut self, line: &'a str, body: &'a str) {
        match self.section {
            // The harness of a single test repeats the row of nextest.
            Section::Failure { .. } if self.last_failed.is_some() && outcome(body).is_some() => {}
            Section::Failure { printed } => self.failure_line(line, body, printed),
            Section::Successes => self.build.unknown.push(line),
            Section::Passed if line.starts_with("    ") => {}
            Section::Names if line.starts_with("    ") => self.name(body.trim_end()),
            Section::Names if body.is_empty() => {}
            // The header of the list was cut off.
            Section::Tests | Section::Build if is_listed(line) => {
                self.section = Section::Names;
                self.name(body.trim_end());
            }
            // Nextest shows the output of the harness of the failed test.
            Section::Tests if self.last_failed.is_some() && is_shown(line, body) => {
                self.failure_line(line, body, 0);
            }
            Section::Names | Section::Passed | Section::Tests | Section::Build => {
                self.outside(line, body);
            }
        }
    }

    /// A line that is not a part of a failure.
    fn outside(&mut self, line: &'a str, body: &'a str) {
        let indented = body.len() < line.len();
        if indented && (body.starts_with("Running ") || body.starts_with("Doc-tests ")) {
            self.stopped();
            self.target = Some(without_binary(body));
        }
        match outcome(body) {
            Some(Outcome::Measured) => self.output.fact(line),
            Some(Outcome::Failed) if self.failed.len() < TESTS => self.failed.push(body),
            Some(_) => self.last = Some(line),
            None if is_ruled(body) || is_marks(body) => {}
            None if self.closes(line, body) => {}
            None => self.build.line(line, self.output),
        }
    }

    /// Whether `line` reports that the tests of a target failed, or the reason below that: it stays after them.
    fn closes(&mut self, line: &'a str, body: &'a str) -> bool {
        let fails =
            line.starts_with("error: test failed") || line.starts_with("error: doctest failed");
        let why = self.closing
            && (body.is_empty() || body.len() + 2 == line.len() || CAUSES.contains(&body));
        if fails {
            self.output.failed();
            self.running = None;
            self.results.write(true, self.output);
        }
        if fails || why && !body.is_empty() && !body.starts_with("note: ") {
            self.output.fact(&shorten(line, LINE_CHARS));
        }
        self.closing = fails || why;
        self.closing
    }

    /// A target without a result is shown.
    fn stopped(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        if let Some(target) = self.target.take() {
            self.results.write(self.some_failed, self.output);
            self.output.fact(target);
            self.output.fact(running);
        }
    }

    fn announced(&mut self) {
        self.end_failure();
        if self.section == Section::Build {
            self.build.forget_result();
            self.build.write(self.output);
        }
        self.section = Section::Tests;
    }

    fn result(&mut self, line: &'a str, body: &'a str) {
        self.end_failure();
        self.output.end_failures();
        self.section = Section::Tests;
        self.last = None;
        self.running = None;
        let failed = body.starts_with("test result: FAILED");
        if failed {
            self.output.failed();
        }
        if body.len() < line.len() {
            // Nextest shows the harness of each failed test: this is not the verdict of the run, and the output of the
            // test follows.
            self.failed.clear();
            if self.last_failed.is_some() {
                self.section = Section::Failure { printed: 0 };
            }
            return;
        }
        if failed {
            self.write_failed();
            if let Some(target) = self.target.take() {
                self.output.fact(target);
            }
            self.output.fact(line);
            self.some_failed = true;
            return;
        }
        self.results.add(line);
    }

    /// Reads a line of the output of a failed test: panics and a few other lines are kept.
    fn failure_line(&mut self, line: &'a str, body: &'a str, printed: usize) {
        let note = body.starts_with("note: ") && !is_about_panic(body);
        let note = note || body == "stack backtrace:";
        if body.starts_with("panic message: ") {
            // The panic contains it.
            return;
        }
        if body.is_empty() || note || is_ruled(body) || is_beside(line, body) {
            let test = self.last_failed.unwrap_or_default();
            self.folder
                .line(line, &mut |line| show(test, line, self.output));
            return;
        }
        if let Some(header) = self.header.take() {
            self.remember(header);
            // The thread of a panic has the name of the test, except for a documentation test, which runs in `main`.
            let named = self.last_failed.is_some_and(|name| name.ends_with(header));
            let panic = body.starts_with("thread '") && body.contains(header);
            if !(named || panic) {
                self.output.open_failure(header, 1);
            }
        }
        if self.difference.takes(line, body, self.output) {
            return;
        }
        if body.starts_with("assertion `left ") && body.ends_with("` failed") {
            if self.assertion == body {
                return;
            }
            self.assertion = body;
        }
        let test = self.last_failed.unwrap_or_default();
        let mut keep = |line: &'a str| show(test, line, self.output);
        if self.folder.line(line, &mut keep) {
            return;
        }
        if line.starts_with("error: ") && !line.starts_with("error: aborting") {
            // Cargo continues with the next target.
            self.section = Section::Tests;
            self.build.line(line, self.output);
        } else if printed < PRINTED && (printed < PRINTED / 2 || is_bad(line)) {
            self.output.context(&shorten(body.trim_end(), LINE_CHARS));
            self.section = Section::Failure {
                printed: printed + 1,
            };
        }
    }

    fn nextest(&mut self, next: Next<'a>, body: &'a str) {
        self.section = Section::Tests;
        match next {
            Next::Other => self.last_failed = None,
            Next::Summary => {
                self.build.write(self.output);
                self.output.fact(body);
            }
            Next::Failed(how, name) => {
                self.output.failed();
                self.last_failed = Some(name);
                if self.named.len() >= TESTS || self.named.insert(name) {
                    self.output.open_failure(&format!("{how} {name}"), 1);
                }
                self.section = Section::Failure { printed: 0 };
            }
        }
    }

    /// The name of a failed test in the list at the end.
    fn name(&mut self, name: &'a str) {
        self.output.failed();
        self.results.write(true, self.output);
        let shown = self.last_failed.is_some_and(|last| last.ends_with(name));
        if !shown && !self.named.contains(name) {
            self.remember(name);
            self.output.fact(name);
        }
    }

    fn remember(&mut self, name: &'a str) {
        if self.named.len() < TESTS {
            self.named.insert(name);
        }
    }

    fn end_failure(&mut self) {
        let test = self.last_failed.unwrap_or_default();
        self.folder
            .finish(&mut |line| show(test, line, self.output));
        if let Some(header) = self.header.take() {
            self.remember(header);
            self.output.fact(header);
        }
        self.output.close_failure();
        self.difference = Difference::default();
    }

    /// Writes tests that are reported as failed but not shown otherwise.
    fn write_failed(&mut self) {
        for line in self.failed.drain(..) {
            if !self.named.contains(name(line)) {
                self.output.failed();
                self.output.fact(line);
            }
        }
    }

    fn end(mut self) {
        self.end_failure();
        self.write_failed();
        self.results.write(self.some_failed, self.output);
        self.stopped();
        self.build.write(self.output);
        if let Some(last) = self.last {
            self.output.context(last);
        }
    }
}

/// Whether a test that should panic reports that it did not, or not with the text that it should have.
fn is_about_panic(note: &str) -> bool {
    note.starts_with("note: test did not panic") || note.starts_with("note: panic did not contain")
}
