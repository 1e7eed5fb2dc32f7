//! What `node --test` states to a reader: failed tests, their errors and places, counts.
//!
//! A failure is in the outline and again in a list at the end; the list is kept. The other
//! format of `node --test` is the Test Anything Protocol.

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::output::Output;
use crate::parsers::tests::node_error::NodeError;
use crate::rows::report::{
    Names, add_title, is_coverage_row, is_script_line, squeezed, without_time,
};
use crate::rows::unknown::in_place::UnknownInPlace;
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

pub(crate) const FAMILY: Family = Family {
    name: "node test",
    runs,
    marks: Marks::OneOf(&[
        &["✖ failing tests:"],
        &["Failed tests:"],
        &["\nℹ tests "],
        &["\ntest at "],
        &[RUNNER_FRAME],
    ]),
    recognises,
    reduce,
};

/// How the list begins; the second way is that of the reporter `dot`.
const LISTS: [&str; 2] = ["✖ failing tests:", "Failed tests:"];
/// What is in the frames of the runner itself.
const RUNNER_FRAME: &str = "(node:internal/test_runner/";
/// Counts that say nothing when they are zero.
static MINOR_COUNTS: Beginnings<4> =
    Beginnings::new(["suites ", "cancelled ", "skipped ", "todo "]);

fn runs(input: &Input<'_>) -> bool {
    input.program() == "node" && input.has("--test")
}

fn recognises(input: &Input<'_>) -> Match {
    let counted = |word: &str| {
        let mut ending = input.ending();
        ending.any(|line| {
            line.strip_prefix("ℹ ")
                .is_some_and(|count| count.starts_with(word))
        })
    };
    let mut beginning = input.beginning();
    let dotted = input.text.contains("    at ") && input.text.contains(RUNNER_FRAME);
    if dotted && input.beginning().any(is_list) {
        return Match::Certain;
    }
    // A long list of failures is between the counts and the end.
    let listed = || {
        let is_of_list = |line: &str| line.starts_with("test at ") || line.has_text(RUNNER_FRAME);
        if !input.ending().any(is_of_list) {
            return false;
        }
        let counts = input.text.find_text("\nℹ tests ");
        let behind = counts.and_then(|counts| input.text.get(counts..));
        behind.is_some_and(|behind| behind.find_text("\n✖ failing tests:\n").is_some())
    };
    if (counted("tests ") && counted("pass "))
        || listed()
        || beginning.any(|line| is_list(line) && line.starts_with('✖'))
    {
        return Match::Certain;
    }
    let mut beginning = input.beginning();
    if beginning.any(|line| line.trim_start().starts_with(['✔', '✖', '▶'])) {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut report = Report {
        listed: listed(input.text),
        in_list: false,
        title: None,
        in_error: false,
        error: NodeError::default(),
        unknown: UnknownInPlace::default(),
        output,
    };
    for line in input.lines() {
        report.line(line);
    }
    report.close();
}

fn is_list(line: &str) -> bool {
    LISTS.contains(&line)
}

/// The titles of the failures that the list at the end has.
fn listed(text: &str) -> Names<'_> {
    let mut names = Names::default();
    let mut in_list = false;
    for line in lines(text) {
        in_list |= is_list(line);
        if !in_list {
            continue;
        }
        if let Some(title) = line.strip_prefix("✖ ") {
            add_title(&mut names, title_of(title), "\n");
        }
    }
    names
}

/// A title without its time and what follows it: `sums (0.2ms) # reason`.
fn title_of(title: &str) -> &str {
    let title = title.split(" # ").next().unwrap_or(title);
    without_time(title)
}

struct Report<'a, 'o> {
    listed: Names<'a>,
    in_list: bool,
    /// The failure whose title is not yet written: a suite has no error of its own.
    title: Option<&'a str>,
    in_error: bool,
    error: NodeError<'a>,
    unknown: UnknownInPlace,
    output: &'o mut Output,
}

impl<'a> Report<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return;
        }
        if is_list(line) {
            self.close();
            self.in_list = true;
            self.output.failed();
            return;
        }
        let mut signs = trimmed.chars();
        let sign = signs.next().unwrap_or_default();
        let rest = signs.as_str().trim_start();
        match sign {
            '✔' | '﹣' | '▶' => self.close(),
            '✖' => self.failed(title_of(rest)),
            'ℹ' => {
                self.close();
                self.output.end_failures();
                self.count(rest);
            }
            '.' | 'X' if trimmed.bytes().all(|sign| matches!(sign, b'.' | b'X')) => {}
            _ if self.in_error && line.starts_with(' ') => self.failure(trimmed),
            _ => self.other(line, trimmed),
        }
    }

    fn failed(&mut self, title: &'a str) {
        // In the list the place of a test precedes its title.
        if self.title.is_some() || self.error.is_open() {
            self.close();
        }
        self.output.failed();
        self.in_error = true;
        if self.in_list || !self.listed.contains(title) {
            self.title = Some(title);
        }
    }

    fn close(&mut self) {
        self.head();
        self.error.close(self.output);
        self.output.close_failure();
        self.in_error = false;
    }

    fn head(&mut self) {
        if let Some(title) = self.title.take() {
            self.output.open_failure(&format!("✖ {title}"), 1);
        }
    }

    fn failure(&mut self, trimmed: &'a str) {
        let of_suite = trimmed.ends_with(" failed'") && trimmed.contains(" subtest");
        if of_suite {
            self.title = None;
            self.error = NodeError::default();
        } else if self.title.is_some() || self.error.is_open() {
            self.head();
            self.error.line(trimmed, self.output);
        }
    }

    fn count(&mut self, count: &str) {
        let minor = MINOR_COUNTS.begin(count) && count.ends_with(" 0");
        let frame = count.starts_with("start of coverage") || count.starts_with("end of coverage");
        if is_coverage_row(count) {
            self.output.fact(count.trim_end());
        } else if !minor && !frame && !crate::rows::report::is_rule(count) {
            let failing = count
                .strip_prefix("fail ")
                .is_some_and(|number| number != "0");
            if failing {
                self.output.failed();
            }
            self.output.fact(&squeezed(count));
        }
    }

    fn other(&mut self, line: &'a str, trimmed: &'a str) {
        if let Some(place) = trimmed.strip_prefix("test at ").filter(|_| self.in_list) {
            self.close();
            self.error.place(place);
        } else if !is_script_line(line) {
            self.unknown.show(line, self.output);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use crate::input::Exit;
    use crate::tested::unmarked as terminal;

    const FAILING: &str = "▶ cart
  ✔ is 0 for none (0.5ms)
  ✖ sums (1.2ms)
▶ cart (3.1ms)
ℹ tests 3
ℹ suites 1
ℹ pass 2
ℹ fail 1
ℹ cancelled 0
ℹ skipped 0
ℹ todo 0
ℹ duration_ms 57.1

✖ failing tests:

test at test/cart.test.js:4:3
✖ sums (1.2ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
  
  3 !== 4
  
      at TestContext.<anonymous> (file:///home/dev/shop/test/cart.test.js:5:10)
      at Test.runInAsyncScope (node:async_hooks:206:9) {
    generatedMessage: true,
    code: 'ERR_ASSERTION',
    actual: 3,
    expected: 4,
    operator: 'strictEqual'
  }

test at test/cart.test.js:1:1
✖ cart (3.1ms)
  '1 subtest failed'
";

    fn reduced(text: &str) -> String {
        terminal::reduce(text, Some("npm test"), Exit::Failure, usize::MAX)
            .unwrap()
            .0
    }

    #[test]
    fn a_failure_is_told_once_with_its_places() {
        let text = reduced(FAILING);
        assert!(
            text.starts_with(
                "tests 3\nsuites 1\npass 2\nfail 1\nduration_ms 57.1\n✖ sums\nAssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n3 !== 4\ntest/cart.test.js:4:3 /home/dev/shop/test/cart.test.js:5:10\n"
            ),
            "{text}"
        );
        assert!(!text.contains("operator"), "{text}");
    }

    #[test]
    fn failures_of_the_outline_stay_when_the_list_was_cut() {
        let (text, _) = FAILING.split_once("\n✖ failing").unwrap();
        assert!(reduced(text).starts_with("✖ sums\n"));
    }

    #[test]
    fn a_failed_run_without_a_failure_in_sight_is_not_called_passed() {
        let text = format!(
            "{}ℹ tests 90\nℹ pass 90\nℹ fail 0\nout of memory\n",
            "✔ sums (1.2ms)\n".repeat(90)
        );
        let text = reduced(&text);
        assert!(
            text.contains("✔ sums") && text.contains("out of memory"),
            "{text}"
        );
    }

    #[test]
    fn the_difference_stays_where_the_values_are_not_whole() {
        let values = "    actual: { oaks: 10, rows: [ [Object], [Object] ] },\n    expected: { oaks: 10, rows: [ [Object] ] },\n";
        let text = FAILING
            .replace("3 !== 4", "+ actual - expected ... Lines skipped\n\n    {\n      oaks: 10,\n  +   to: 95\n  -   to: 90\n    }")
            .replace("    actual: 3,\n    expected: 4,\n", values);
        let text = "✔ grows (0.1ms)\n".repeat(60) + &text;
        let text = reduced(&text);
        assert!(
            text.contains("+ actual - expected\n+ to: 95\n- to: 90\n"),
            "{text}"
        );
        assert!(!text.contains("[Object]"), "{text}");
    }

    #[test]
    fn a_long_list_of_failures_behind_the_counts_is_of_the_runner() {
        let (outline, list) = FAILING.split_once("test at").unwrap();
        let frame = "      at Test.run (node:internal/test_runner/test:796:25)\n";
        let failure = |number: usize| {
            let failure = list.replace("sums", &format!("sums {number}"));
            format!("test at{failure}{}\n", frame.repeat(4))
        };
        let list: String = (0..30).map(failure).collect();
        let text = "✔ grows (0.1ms)\n".repeat(90) + outline + &list;
        for command in ["node --test", "npm test"] {
            let (_, family) =
                terminal::reduce(&text, Some(command), Exit::Failure, usize::MAX).unwrap();
            assert_eq!(family, Some("node test"), "{command}");
        }
    }
}
