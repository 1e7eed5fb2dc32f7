//! Runners of tests that have no family of their own: rspec, minitest, phpunit, mix, busted, jasmine,
//! ava, bun, deno, meson, googletest, catch2, dotnet, surefire, gradle, behave, robot, playwright.
//!
//! They are known by their verdicts. Of what they say, signs of passed tests, excerpts of source,
//! frames of libraries and rulers go; all else stays.

mod gherkin;
mod shape;

use hashbrown::HashSet;

use super::generic::kind::is_library_frame;
use super::input::Input;
use super::line::{is_bad, shorten};
use super::output::Output;
use super::report::{
    MAX_NAMES, Names, Places, Unknown, changed_line, is_excerpt, is_rule, is_script_line, squeezed,
    without_time,
};
use super::route::{Family, Match};
use crate::find_text::FindText as _;
use gherkin::{Gherkin, Line};
use shape::{
    Frame, frame, is_drawn, is_failure, is_noise, is_passed, names_failures, numbered_source,
};

pub(super) const FAMILY: Family = Family {
    name: "test run",
    runs,
    recognises,
    reduce,
};

const LINE_CHARS: usize = 200;
/// Lines that are shown whatever they are; after them only bad ones and verdicts.
const LINES: usize = 400;
const CHANGED_LINES: usize = 6;

const PROGRAMS: [&str; 22] = [
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
    "dotnet",
    "mvn",
    "mvnw",
    "gradle",
    "gradlew",
    "behave",
    "cucumber",
    "robot",
    "playwright",
    "cypress",
];

/// Parts of verdicts, all of one line; the first must begin it when it is marked so.
const VERDICTS: [(bool, &[&str]); 26] = [
    (false, &[" example", ", ", " failure"]),
    (false, &[" runs, ", " assertions, ", " failures, "]),
    (true, &["Tests: ", "Assertions: "]),
    (true, &["OK (", " test", " assertion"]),
    (false, &[" tests, ", " failure"]),
    (false, &[" test, ", " failure"]),
    (true, &["bun test v"]),
    (true, &["ok | ", " passed"]),
    (true, &["FAILED | ", " passed"]),
    (false, &[" tests failed"]),
    (false, &[" test failed"]),
    (false, &[" spec", ", ", " failure"]),
    (false, &[" success", " / ", " failure"]),
    (true, &["Summary of Failures:"]),
    (true, &["[==========] ", " ran."]),
    (true, &["test cases: ", " passed"]),
    (true, &["All tests passed (", "assertion"]),
    (true, &["Passed!  - Failed: "]),
    (true, &["Failed!  - Failed: "]),
    (false, &["Tests run: ", "Failures: ", "Errors: "]),
    (false, &[" scenarios passed, ", " failed"]),
    (false, &[" scenarios (", " passed"]),
    (false, &[" tests, ", " passed, ", " failed"]),
    (true, &["Running ", " tests using ", " worker"]),
    (false, &[" tests completed, ", " failed"]),
    (true, &["Ran ", " tests across ", " file"]),
];

fn runs(input: &Input<'_>) -> bool {
    PROGRAMS.contains(&input.program())
}

fn recognises(input: &Input<'_>) -> Match {
    let mut lines = input.ending().chain(input.beginning());
    if lines.any(|line| is_verdict(line.trim())) {
        return Match::Certain;
    }
    Match::No
}

fn is_verdict(trimmed: &str) -> bool {
    let counted = trimmed.len() <= 240 && trimmed.bytes().any(|byte| byte.is_ascii_digit());
    let listed = trimmed == "Summary of Failures:";
    (counted || listed)
        && VERDICTS.iter().any(|(first, parts)| {
            let begins = parts.first().is_some_and(|part| trimmed.starts_with(part));
            (begins || !first && begins_with_count(trimmed))
                && parts.iter().all(|part| trimmed.contains(part))
        })
}

/// Whether the verdict begins with its number, perhaps after a level of a log.
fn begins_with_count(trimmed: &str) -> bool {
    let after_level = trimmed
        .strip_prefix('[')
        .and_then(|rest| rest.split_text("] "));
    let text = after_level.map_or(trimmed, |(_, text)| text);
    text.starts_with(|sign: char| sign.is_ascii_digit()) || text.starts_with("Tests run: ")
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut report = Report {
        shown: Names::default(),
        held: None,
        lines: 0,
        changed: 0,
        section: if input.lines().any(|line| line == "Failures:") {
            Section::Outline
        } else {
            Section::Report
        },
        listed: input.lines().any(|line| line == " ERRORS "),
        gherkin: Gherkin::default(),
        in_library: false,
        pointed: None,
        written: HashSet::new(),
        places: Places::default(),
        unknown: Unknown::default(),
        output,
    };
    for line in input.lines() {
        report.line(line);
    }
    report.flush();
}

struct Report<'a, 'o> {
    /// Failures that are shown: runners name them again at the end.
    shown: Names<'a>,
    /// A line that is not yet written: under source code stands a caret.
    held: Option<&'a str>,
    lines: usize,
    changed: usize,
    section: Section,
    /// Whether failures of the outline are told again with more.
    listed: bool,
    gherkin: Gherkin<'a>,
    /// A frame of Python in a library stands above: its source follows.
    in_library: bool,
    /// The number of the line that failed, until it was shown.
    pointed: Option<&'a str>,
    /// Places of the last failure that are written.
    written: HashSet<&'a str>,
    places: Places,
    unknown: Unknown,
    output: &'o mut Output,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Report,
    /// Suites and tests with their verdicts, before the failures are told.
    Outline,
    /// What was not run.
    Pending,
    /// Names of what was shown before.
    Repeated,
}

impl<'a> Report<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return;
        }
        if is_verdict(trimmed) {
            self.section = Section::Report;
            self.flush();
            if names_failures(trimmed) || trimmed == "Summary of Failures:" {
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
        if self.is_library_frame(trimmed) {
            return;
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

    /// Writes the scenario and the step to which the next line belongs.
    fn waiting(&mut self) {
        for line in self.gherkin.take() {
            self.flush();
            self.output.fact(&shorten(&squeezed(line), LINE_CHARS));
        }
    }

    /// Whether a line is a frame of Python in a library, or the source below one.
    fn is_library_frame(&mut self, trimmed: &str) -> bool {
        let frame = trimmed.starts_with("File \"");
        let source = std::mem::take(&mut self.in_library) && !frame;
        self.in_library = frame && is_library_frame(trimmed);
        self.in_library || source
    }

    /// Whether a line is of a section that is not shown.
    fn is_elsewhere(&mut self, line: &str, trimmed: &str) -> bool {
        if trimmed.starts_with("Pending: (") {
            self.section = Section::Pending;
        } else if trimmed == "Failures:" {
            self.section = Section::Report;
        } else if trimmed == "Failed examples:" || trimmed == "FAILURES" {
            self.section = Section::Repeated;
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
                let repeated = trimmed.starts_with("rspec ")
                    || trimmed.contains(" => ")
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

    /// Writes the line that was held back.
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
            if let Some(shown) = shown {
                self.changed += 1;
                self.output.context(&shorten(&shown, LINE_CHARS));
            }
            return;
        }
        self.changed = 0;
        if is_failure(trimmed) {
            self.failure(trimmed);
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
        if !outline && !known {
            self.output.fact(&shorten(&squeezed(trimmed), LINE_CHARS));
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::super::input::Exit;
    use super::super::terminal;

    fn reduced(text: &str) -> String {
        terminal::reduce(text, Some("make test"), Exit::Failure, usize::MAX)
            .unwrap()
            .0
    }

    #[test]
    fn rspec_keeps_title_message_and_place() {
        let text = "Randomized with seed 1\n..F.\n\nFailures:\n\n  1) Cart sums\n     Failure/Error: expect(cart.total).to eq(4)\n\n       expected: 4\n            got: 3\n\n       (compared using ==)\n     # ./spec/cart_spec.rb:4:in `block (2 levels) in <top (required)>'\n     # /usr/lib/ruby/gems/3.1.0/gems/rspec-core/lib/rspec.rb:3:in `run'\n\nFinished in 0.02 seconds (files took 0.2 seconds to load)\n4 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/cart_spec.rb:4 # Cart sums\n";
        assert_eq!(
            reduced(text),
            "1) Cart sums\nexpected: 4\ngot: 3\n./spec/cart_spec.rb:4\n4 examples, 1 failure\n[16 of 21 lines left out]"
        );
    }

    #[test]
    fn phpunit_keeps_title_message_and_place() {
        let text = "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n..F.                     4 / 4 (100%)\n\nTime: 00:00.008, Memory: 4.00 MB\n\nThere was 1 failure:\n\n1) CartTest::testSums\nFailed asserting that 3 is identical to 4.\n\n/home/dev/shop/tests/CartTest.php:6\n/home/dev/shop/vendor/phpunit/phpunit/src/Framework/TestCase.php:9\n\nFAILURES!\nTests: 4, Assertions: 4, Failures: 1.\n";
        let text = reduced(text);
        for kept in [
            "1) CartTest::testSums\n",
            "3 is identical to 4.\n",
            "/home/dev/shop/tests/CartTest.php:6\n",
            "Failures: 1.\n",
        ] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert!(!text.contains("vendor"), "{text}");
    }

    #[test]
    fn googletest_loses_what_passed() {
        let text = format!(
            "[==========] Running 41 tests from 1 test suite.\n{}[ RUN      ] Cart.Sums\ncart_test.cpp:14: Failure\nExpected equality of these values:\n  3\n  4\n[  FAILED  ] Cart.Sums (0 ms)\n[==========] 41 tests from 1 test suite ran. (3 ms total)\n[  PASSED  ] 40 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Cart.Sums\n",
            "[ RUN      ] Cart.Adds\n[       OK ] Cart.Adds (0 ms)\n".repeat(40),
        );
        let text = reduced(&text);
        assert!(text.starts_with("cart_test.cpp:14: Failure\n"), "{text}");
        assert!(!text.contains("Cart.Adds"), "{text}");
    }

    #[test]
    fn of_scenarios_those_that_failed_stay() {
        let passed = "  Scenario: grows  # oak.feature:2\n    Given an oak     # steps.py:1\n    Then it grows    # steps.py:3\n\n".repeat(20);
        let text = format!(
            "Feature: Oak # oak.feature:1\n\n{passed}  Scenario: falls  # oak.feature:7\n    Given an oak     # steps.py:1\n    When it falls    # steps.py:4\n      Traceback (most recent call last):\n        File \"/opt/lib/python3.12/site-packages/behave/model.py\", line 91, in run\n          match.run(runner)\n        File \"steps.py\", line 6, in b\n          raise OverflowError(\"x\")\n      OverflowError: too tall\n\n    Then it lies     # None\n\nYou can implement step definitions for undefined steps with these snippets:\n\n@when(u'it turns')\ndef step_impl(context):\n\nFailing scenarios:\n  oak.feature:7  falls\n\n0 features passed, 1 failed, 0 skipped\n20 scenarios passed, 1 failed, 0 skipped\n"
        );
        assert_eq!(
            reduced(&text),
            "Scenario: falls # oak.feature:7\nWhen it falls # steps.py:4\nTraceback (most recent call last):\n\
             File \"steps.py\", line 6, in b\nraise OverflowError(\"x\")\nOverflowError: too tall\n\
             Failing scenarios:\noak.feature:7 falls\n0 features passed, 1 failed, 0 skipped\n\
             20 scenarios passed, 1 failed, 0 skipped\n[94 of 104 lines left out]"
        );
    }

    #[test]
    fn of_the_source_around_a_failure_its_line_stays() {
        let text = format!(
            "\n  ✘ [fail]: oak\n{}  ─\n\n  oak\n\n  at/oak.js:2\n\n   1: import test from \"ava\";\n   2: test(\"oak\", t => t.is(3, 4));\n   3:\n\n  Difference (- actual, + expected):\n\n  - 3\n  + 4\n\n  › file://at/oak.js:2:23\n\n  1 test failed\n",
            "  ✔ elm stands\n".repeat(60)
        );
        let text = reduced(&text);
        assert!(
            text.contains("at/oak.js:2\n2: test(\"oak\", t => t.is(3, 4));\nDifference"),
            "{text}"
        );
        assert!(!text.contains("import test"), "{text}");
    }

    #[test]
    fn a_failed_run_without_a_failure_in_sight_is_not_called_passed() {
        let text = format!(
            "bun test v1.2.0\n{}\n 90 pass\n 0 fail\nRan 90 tests across 1 file.\nkilled\n",
            "(pass) cart > sums\n".repeat(90)
        );
        let text = reduced(&text);
        assert!(
            text.contains("(pass) cart") && text.contains("killed"),
            "{text}"
        );
    }
}
