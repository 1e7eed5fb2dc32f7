//! Output of `go test` (plain, verbose and `-json`), `go vet` and `go build`.
//!
//! The log of a test comes before its verdict in verbose runs, and after it otherwise; it is
//! kept below the verdict if the test failed. Of stacks, locations in the user's code are kept.

mod coverage;
mod event;
mod frames;
mod json;
mod line;
mod listed;
mod logged;
mod loose;
mod packages;
mod unfinished;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::shorten;
use crate::output::{Output, Weight};
use crate::rows::report::{MAX_NAMES, MESSAGE_CHARS, Names, is_rule, squeezed};
use crate::rows::unknown::in_place::UnknownInPlace;
use ethos_registry_core::lines::lines;
use frames::Stack;
use line::{GO_NOTES, NOISE, is_diagnostic, is_seconds, verdict};
use listed::Listed;
use logged::{LOG_NOISE, Logged, is_placed};
use loose::Loose;
use packages::{Failed, packages};

pub(crate) const FAMILY: Family = Family {
    name: "go test",
    runs,
    marks: Marks::OneOf(&[
        &["\n=== RUN   "],
        &["\n--- FAIL: "],
        &["\nok  \t"],
        &["\nFAIL\t"],
        &["\n{\"Time\":"],
        &["\n{\"Action\":"],
        &["\n{\"ImportPath\":"],
        &[".go:0"],
    ]),
    recognises,
    reduce,
};

/// Longer output is treated as long.
const SHORT_BYTES: usize = 8_192;
/// How many passed packages and rows of coverage are listed at most.
const PASSED_LINES: usize = 30;
const BENCHMARK_LINES: usize = 200;
const COVERED_LINES: usize = 400;
const VERDICT: &str = "--- FAIL: ";

fn runs(input: &Input<'_>) -> bool {
    match input.program() {
        // The log of a program that `go run` starts is a log.
        "go" if input.subcommand() == "run" => !crate::parsers::logs::log::is_log(input),
        "go" if input.subcommand() == "tool" => input.has("cover"),
        "go" => matches!(input.subcommand(), "test" | "vet" | "build" | "install"),
        "gotestsum" => true,
        _ => false,
    }
}

fn recognises(input: &Input<'_>) -> Match {
    let mut likely = false;
    let mut header = false;
    for line in input.beginning().chain(input.ending()) {
        let certain = line.starts_with("=== RUN   ")
            || (line.starts_with(VERDICT) && line.ends_with("s)"))
            || (line.starts_with("ok  \t") || line.starts_with("FAIL\t"))
            || (line.starts_with("{\"") && json::Event::read(line).is_some())
            || (header && is_diagnostic(line));
        if certain {
            return Match::Certain;
        }
        header = line.starts_with("# ") || (header && line.starts_with('\t'));
        likely |= coverage::is_row(line)
            || is_diagnostic(line)
            || line.starts_with("panic: ")
            || line == "WARNING: DATA RACE"
            || line.starts_with("go: ");
    }
    if likely { Match::Likely } else { Match::No }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut report = Report {
        failed: Failed::default(),
        part: "",
        package: None,
        shown: Names::default(),
        parents: Names::default(),
        told: Names::default(),
        owner: None,
        logged: Logged::default(),
        loose: Loose::of(input.text),
        listed: Listed::default(),
        is_long: input.text.len() >= SHORT_BYTES,
        passed: 0,
        benchmarks: 0,
        covered: 0,
        after_diagnostic: false,
        any_failure: false,
        stack: Stack::new(input.text),
        unknown: UnknownInPlace::default(),
        open: None,
        output,
    };
    let mut buffer = String::new();
    for package in packages(input.text) {
        report.failed = Failed::of(package);
        report.part = package;
        report.begin();
        for line in lines(package) {
            if let Some(event) = json::Event::read(line) {
                report.event(&event, &mut buffer);
            } else {
                report.close(&mut buffer);
                report.line(line);
            }
        }
        report.close(&mut buffer);
    }
    report.listed.write(report.output);
    report.stack.flush(report.output);
    unfinished::write(input.text, output);
}

struct Report<'a, 'o> {
    failed: Failed<'a>,
    /// The output of the current package, until it is known which of its tests timed out.
    part: &'a str,
    /// The package of the last event.
    package: Option<&'a str>,
    /// Failed tests whose verdicts are written.
    shown: Names<'a>,
    /// Tests whose failed subtests have verdicts that are written.
    parents: Names<'a>,
    /// Failed tests of all packages of this run whose verdicts are written.
    told: Names<'a>,
    /// The failed test that the next lines belong to.
    owner: Option<&'a str>,
    logged: Logged,
    loose: Loose<'a>,
    listed: Listed,
    is_long: bool,
    passed: usize,
    benchmarks: usize,
    covered: usize,
    after_diagnostic: bool,
    any_failure: bool,
    stack: Stack<'a>,
    unknown: UnknownInPlace,
    /// The package and the test of an incomplete line: long ones arrive in several events.
    open: Option<(Option<&'a str>, Option<&'a str>)>,
    output: &'o mut Output,
}

impl<'a> Report<'a, '_> {
    /// Tests of different packages may have the same names.
    fn begin(&mut self) {
        self.shown.clear();
        self.parents.clear();
    }

    fn line(&mut self, line: &'a str) {
        self.text(line, Some(line));
    }

    fn own(&mut self, owner: Option<&'a str>) {
        self.owner = owner;
        self.logged.clear();
    }

    /// Handles `line`; `source` is the same line if it is a part of the input, so that names can be borrowed.
    fn text(&mut self, line: &str, source: Option<&'a str>) {
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() {
            return;
        }
        if let Some(verdict) = verdict(trimmed) {
            self.stack.flush(self.output);
            for line in self.loose.take_headless() {
                if self.owner.is_none() {
                    self.own(Some(""));
                }
                self.message(line, line.trim_ascii());
            }
            self.verdict(verdict, trimmed, source.map(str::trim));
            if !line.starts_with(' ') {
                self.told_before(verdict);
            }
            return;
        }
        if let Some(rest) = line.strip_prefix("=== ") {
            self.stack.flush(self.output);
            self.running(rest, source);
            return;
        }
        if line.starts_with("FAIL") && (line.starts_with("FAIL\t") || trimmed == "FAIL") {
            self.stack.flush(self.output);
            self.own(None);
            for line in self.loose.take() {
                self.unknown.show(line, self.output);
            }
            self.output.failed();
            if trimmed != "FAIL" || !std::mem::replace(&mut self.any_failure, true) {
                self.any_failure = true;
                let line = squeezed(line);
                // `FAIL package 2.005s`: the time is left out.
                let timed = line.rsplit_once(' ').filter(|(_, time)| is_seconds(time));
                self.output
                    .fact(timed.map_or(&line, |(package, _)| package));
            }
            return;
        }
        let named = self.owner.is_some();
        if self.stack.takes(line, named, self.output) {
            if line.starts_with(frames::LATE) {
                unfinished::write_late(std::mem::take(&mut self.part), self.output);
            }
            return;
        }
        if self.package(line) {
            return;
        }
        if !source.is_some_and(|source| self.loose.holds(source)) {
            self.message(line, trimmed);
        }
    }

    /// Writes the log of a test before its verdict, if it `failed`.
    fn told_before(&mut self, failed: bool) {
        for line in self.loose.take() {
            if failed {
                self.message(line, line.trim_ascii());
            }
        }
    }

    /// Reads the rest of a line about a running test: `RUN   name`, `CONT  name`, `NAME  name`.
    fn running(&mut self, rest: &str, source: Option<&'a str>) {
        self.loose.take_headless();
        self.loose.take();
        if let Some(name) = rest.strip_prefix("FAIL: ") {
            self.output.failed();
            // At the end, a run may list its failed tests again: `package name (0.00s)`.
            let test = name.split(' ').nth(1);
            if test.is_some_and(|test| self.told.contains(test)) {
                return self.own(None);
            }
            self.output.fact(name);
            self.own(Some(""));
            return;
        }
        let Some(source) = source else {
            return;
        };
        if self.failed.is_empty() {
            return self.own(None);
        }
        let name = source.get("=== RUN   ".len()..).unwrap_or_default().trim();
        if !rest.starts_with("PAUSE") {
            self.own(self.failed.named(name));
        }
    }

    fn verdict(&mut self, failed: bool, trimmed: &str, source: Option<&'a str>) {
        if !failed {
            self.own(None);
            return;
        }
        self.output.failed();
        self.any_failure = true;
        let name = |line: &'a str| line.strip_prefix(VERDICT)?.split(" (").next();
        let Some(name) = source.and_then(name).or(self.owner) else {
            self.output.fact(trimmed);
            return;
        };
        self.own(Some(name));
        if !self.parents.contains(name) {
            self.head(name);
        }
    }

    /// Writes the verdict of the failed test `name`, once.
    fn head(&mut self, name: &'a str) {
        if !name.is_empty() && (self.shown.len() >= MAX_NAMES || self.shown.insert(name)) {
            self.output.failed();
            let parents = name
                .match_indices('/')
                .filter_map(|(slash, _)| name.get(..slash));
            if self.parents.len() < MAX_NAMES {
                self.parents.extend(parents);
            }
            if self.told.len() < MAX_NAMES {
                self.told.insert(name);
            }
            let word = self.failed.word(name);
            let name = json::unescaped(name);
            self.output.summary(&format!("{word}{name}"), 1);
        }
    }

    /// Reads a line about a package; returns whether it was one.
    fn package(&mut self, line: &str) -> bool {
        if self.listed.take(line, self.output) || NOISE.begin(line) || line.starts_with("?   \t") {
            return true;
        }
        if line.starts_with("ok  \t") || line.starts_with('\t') && line.contains("coverage: ") {
            self.own(None);
            self.passed += 1;
            if self.passed <= PASSED_LINES {
                self.output.fact(&squeezed(line));
            }
            return true;
        }
        if coverage::is_row(line) {
            self.own(None);
            let is_told = !coverage::is_whole(line);
            self.covered += usize::from(is_told);
            if is_told && (self.covered <= COVERED_LINES || line.starts_with("total:")) {
                self.output.fact(&squeezed(line));
            }
            return true;
        }
        if line.starts_with("coverage: ") || line.starts_with("DONE ") {
            if line.starts_with('D') {
                self.told.clear();
            }
            self.output.fact(line);
            return true;
        }
        if line.starts_with("Benchmark") && line.contains("/op") {
            self.benchmarks += 1;
            if self.benchmarks <= BENCHMARK_LINES {
                self.output.fact(&squeezed(line));
            }
            return true;
        }
        false
    }

    fn message(&mut self, line: &str, trimmed: &str) {
        let indented = line.starts_with([' ', '\t']);
        if is_diagnostic(line) {
            self.after_diagnostic = true;
            self.output.failed();
            self.output.fact(&shorten(line, MESSAGE_CHARS));
            return;
        }
        if std::mem::take(&mut self.after_diagnostic) && line.starts_with('\t') {
            self.after_diagnostic = true;
            self.output
                .context(&shorten(&squeezed(line), MESSAGE_CHARS));
            return;
        }
        // `a imports`, below it `b: no such module`: the import path to a missing package.
        if !indented && (line.ends_with(" imports") || line.ends_with(" tested by")) {
            self.after_diagnostic = true;
            self.output.failed();
            self.output.fact(line);
            return;
        }
        if line.starts_with("# ") || trimmed == "too many errors" {
            self.output.fact(line);
            return;
        }
        if let Some(note) = line.strip_prefix("go: ") {
            if !GO_NOTES.begin(note) {
                self.output.failed();
            }
            self.output.fact(&shorten(line, MESSAGE_CHARS));
            return;
        }
        let Some(owner) = self.owner else {
            // The log of a passed test is indented, or begins with its location.
            if !indented && !is_placed(line) {
                self.unknown.show(line, self.output);
            }
            return;
        };
        if is_rule(line) || LOG_NOISE.begin(trimmed) || self.logged.repeats_place(trimmed) {
            return;
        }
        if self.logged.tells(trimmed, self.is_long) {
            self.head(owner);
            // Indentation inside a message belongs to the message; that of a frame around values does not.
            let own = is_placed(trimmed).then(|| trimmed.into());
            let said = own.unwrap_or_else(|| squeezed(line));
            self.output.compared(&said, MESSAGE_CHARS, Weight::Fact);
        }
    }
}

#[cfg(test)]
mod tests;
