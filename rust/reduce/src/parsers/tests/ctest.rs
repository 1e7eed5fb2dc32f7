//! What `ctest` states: tests that did not pass, what they printed, the summary.
//!
//! With `-V` each line of a test begins with its number; otherwise what a test printed follows the
//! line of its verdict.

mod verdict;

use self::verdict::Verdict;
use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::mask::mask;
use crate::line::{is_bad, shorten};
use crate::output::Output;
use crate::parsers::tests::test_run::googletest;
use crate::rows::report::{MAX_NAMES, MESSAGE_CHARS, Names, is_rule, squeezed};
use crate::rows::unknown::in_place::UnknownInPlace;
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

pub(crate) const FAMILY: Family = Family {
    name: "ctest",
    runs,
    marks: Marks::OneOf(&[&["% tests passed, "], &["\nTest project "]]),
    recognises,
    reduce,
};

/// Lines that one failed test printed; of bad lines this many more.
const PRINTED_LINES: usize = 12;
const PRINTED_BAD_LINES: usize = 12;
/// Of how many failed assertions of a test the lines below them are shown, and how many lines.
const ASSERTIONS: usize = 12;
const ASSERTION_LINES: usize = 6;

/// Lines about the work of ctest itself.
const NOISE: [&str; 19] = [
    "Test project ",
    "Start ",
    "Running tests...",
    "UpdateCTestConfiguration ",
    "Parse Config file:",
    "Add coverage exclude",
    "SetCTestConfiguration:",
    "Constructing a list of tests",
    "Done constructing a list of tests",
    "Updating test list for fixtures",
    "Added 0 tests to meet fixture requirements",
    "Checking test dependency graph",
    "Label Time Summary:",
    "Subproject Time Summary:",
    "Output from these tests are in: ",
    "Use \"--rerun-failed ",
    "Connected to MAKE jobserver",
    "[==========]",
    "[----------]",
];
/// How googletest begins the line that states that a test failed, and those of its list of them.
const FAILED: &str = "[  FAILED  ] ";
/// What it states at the end of a run of the one test that failed above.
const ONE_FAILED: &str = "1 FAILED TEST";
/// How it counts several.
const FAILED_COUNT: &str = " FAILED TESTS";
/// What test frameworks print about tests that pass.
const PASSING: [&str; 7] = [
    "[ RUN      ]",
    "[       OK ]",
    "[  PASSED  ]",
    "[  SKIPPED ]",
    "Running main() from ",
    "Note: Google Test filter",
    "Randomness seeded to",
];

fn runs(input: &Input<'_>) -> bool {
    input.program() == "ctest"
}

fn recognises(input: &Input<'_>) -> Match {
    if input.ending().any(is_summary) {
        return Match::Certain;
    }
    let mut project = false;
    for line in input.beginning() {
        project |= line.starts_with("Test project ");
        if project && Verdict::read(line.trim()).is_some() {
            return Match::Certain;
        }
    }
    if project { Match::Likely } else { Match::No }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let text = input.text;
    let listed = memchr::memmem::rfind(text.as_bytes(), b"\nThe following tests FAILED:");
    let listed = listed.and_then(|at| text.get(at..)).unwrap_or_default();
    let mut report = Report {
        failed: failed(text),
        listed: listed
            .lines()
            .filter_map(|line| Some(line.trim().split_text(" - ")?.0))
            .collect(),
        numbered: memchr::memmem::find(text.as_bytes(), b": Test command: ").is_some(),
        state: State::Between,
        printed: 0,
        printed_bad: 0,
        assertions: 0,
        failed_parts: Vec::new(),
        run: None,
        alike: None,
        unknown: UnknownInPlace::default(),
        output,
    };
    for line in input.lines() {
        report.line(line);
    }
    report.end_run();
}

fn is_summary(line: &str) -> bool {
    line.find_text("% tests passed, ").is_some() && line.find_text(" failed out of ").is_some()
}

/// The numbers of the tests that failed.
fn failed(text: &str) -> Names<'_> {
    let mut names = Names::default();
    for at in memchr::memmem::find_iter(text.as_bytes(), b"***") {
        let from = text
            .get(..at)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |newline| newline + 1);
        let line = text.get(from..).and_then(|rest| lines(rest).next());
        let verdict = line.and_then(|line| Verdict::read(line.trim()));
        let failure = verdict.filter(Verdict::is_failure);
        if let Some(verdict) = failure.filter(|_| names.len() < MAX_NAMES) {
            names.insert(verdict.number);
        }
    }
    names
}

#[derive(Clone, Copy)]
enum State<'a> {
    Between,
    /// The test passed, or printed nothing that matters.
    Passed,
    /// The test failed; its verdict is written before the first line that it printed.
    Failed(Option<&'a str>),
    /// Where a program was looked for.
    Looking,
    /// The list of tests that did not pass.
    List,
}

struct Report<'a, 'o> {
    failed: Names<'a>,
    /// The numbers that the list at the end names.
    listed: Names<'a>,
    numbered: bool,
    state: State<'a>,
    printed: usize,
    printed_bad: usize,
    assertions: usize,
    /// Failed tests within the failed one that were shown.
    failed_parts: Vec<&'a str>,
    /// The mask of the last line that a test printed, and the last line after it that differs from it in
    /// numbers only.
    run: Option<u64>,
    alike: Option<&'a str>,
    unknown: UnknownInPlace,
    output: &'o mut Output,
}

impl<'a> Report<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return;
        }
        if self.run.is_some_and(|run| run != mask(trimmed)) {
            self.end_run();
        }
        if self.numbered && self.numbered_line(line) {
            return;
        }
        if let Some(verdict) = Verdict::read(trimmed) {
            self.verdict(&verdict, trimmed);
            return;
        }
        if trimmed.starts_with("Start ") && line.starts_with(' ') {
            self.state = State::Between;
            return;
        }
        if self.summary(line, trimmed) {
            return;
        }
        match self.state {
            State::Failed(head) => self.print(line, head),
            State::List => self.output.fact(&squeezed(line)),
            State::Looking => {
                if trimmed.starts_with("Unable to find executable") {
                    self.state = State::Between;
                    self.output.fact(trimmed);
                }
            }
            State::Between | State::Passed => self.other(line, trimmed),
        }
    }

    /// A line of `-V`: `21: text`, `test 21`; whether it was one.
    fn numbered_line(&mut self, line: &'a str) -> bool {
        let Some((number, text)) = line.split_once(':') else {
            return line
                .strip_prefix("test ")
                .is_some_and(|number| number.parse::<u32>().is_ok());
        };
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return false;
        }
        let text = text.trim();
        let own = [
            "Test command:",
            "Working Directory:",
            "Test timeout computed to be:",
            "Environment variables:",
        ];
        if self.failed.contains(number)
            && !own.iter().any(|start| text.starts_with(start))
            && !text.is_empty()
        {
            self.print(line, None);
        }
        true
    }

    fn verdict(&mut self, verdict: &Verdict<'a>, trimmed: &'a str) {
        self.printed = 0;
        self.printed_bad = 0;
        self.assertions = 0;
        self.failed_parts.clear();
        if !verdict.is_failure() {
            self.state = State::Passed;
            return;
        }
        self.output.failed();
        let told = self.listed.contains(verdict.number) && !verdict.state.contains("Regex=");
        if told {
            self.state = State::Failed(Some(trimmed));
        } else {
            self.head(trimmed);
            self.state = State::Failed(None);
        }
    }

    /// Writes a verdict without its dots.
    fn head(&mut self, trimmed: &str) {
        if let Some(verdict) = Verdict::read(trimmed) {
            let Verdict {
                number,
                name,
                state,
            } = verdict;
            self.output
                .summary(&format!("#{number}: {name} {}", squeezed(state)), 1);
        }
    }

    /// Writes the last of the lines that are alike.
    fn end_run(&mut self) {
        if let Some(line) = self.alike.take() {
            self.output.fact(&shorten(line, MESSAGE_CHARS));
        }
        self.run = None;
    }

    fn print(&mut self, line: &'a str, head: Option<&'a str>) {
        let trimmed = line.trim();
        let text = trimmed
            .split_text(": ")
            .filter(|_| self.numbered)
            .map_or(trimmed, |(_, text)| text);
        if is_rule(text)
            || PASSING
                .iter()
                .chain(&NOISE)
                .any(|start| text.starts_with(start))
            || googletest::is_noise(text, self.assertions > 0)
            || text == ONE_FAILED
        {
            return;
        }
        if self.run.is_some() && !is_bad(line) {
            self.alike = Some(trimmed);
            return;
        }
        let part = text.strip_prefix(FAILED);
        if part.is_some_and(|part| self.is_told(part)) {
            return;
        }
        // Which tests within the failed one failed is shown of each.
        let names_failures = part.is_some() || text.ends_with(FAILED_COUNT);
        if self.printed >= PRINTED_LINES && !(names_failures && self.failed_parts.len() < MAX_NAMES)
        {
            if self.printed_bad >= PRINTED_BAD_LINES || !is_bad(line) {
                return;
            }
            self.printed_bad += 1;
        }
        self.printed += 1;
        if googletest::is_assertion(text) && self.assertions < ASSERTIONS {
            // What was expected, and what was there instead, follows.
            self.assertions += 1;
            self.printed = self.printed.min(PRINTED_LINES - ASSERTION_LINES);
        }
        if let Some(head) = head {
            self.head(head);
            self.state = State::Failed(None);
        }
        let part = part.and_then(|part| part.rsplit_once(" ("));
        self.failed_parts.extend(part.map(|(name, _)| name));
        // How long it took states nothing.
        let time = part.map_or(0, |(_, time)| time.len() + " (".len());
        let told = trimmed.get(..trimmed.len() - time).unwrap_or(trimmed);
        self.output.fact(&shorten(told, MESSAGE_CHARS));
        self.run = Some(mask(trimmed));
    }

    /// Whether `part`, of the list of failed tests within one, was shown where it failed.
    fn is_told(&self, part: &str) -> bool {
        let is_head = part.ends_with(" listed below:") && !self.failed_parts.is_empty();
        is_head || self.failed_parts.contains(&part)
    }

    /// A line of the summary; whether it was one.
    fn summary(&mut self, line: &'a str, trimmed: &'a str) -> bool {
        if is_summary(line) {
            self.state = State::Passed;
            if line.find_text("100% tests passed").is_none() {
                self.output.failed();
            }
            self.output.fact(line);
        } else if line.starts_with("Total Test time")
            || line.starts_with("Errors while running CTest")
        {
            self.state = State::Between;
            self.output.fact(&squeezed(line));
        } else if line.starts_with("The following tests ") {
            self.state = State::List;
            self.output.fact(line);
        } else if trimmed.find_text(" sec*proc (").is_some() {
            return true;
        } else if trimmed == "Looked in the following places:" {
            self.state = State::Looking;
        } else {
            return false;
        }
        true
    }

    fn other(&mut self, line: &'a str, trimmed: &'a str) {
        let built = trimmed.starts_with('[') && trimmed.contains("%] ") && !is_bad(trimmed);
        if !built && !NOISE.iter().any(|start| trimmed.starts_with(start)) {
            self.unknown.show(line, self.output);
        }
    }
}

#[cfg(test)]
mod tests;
