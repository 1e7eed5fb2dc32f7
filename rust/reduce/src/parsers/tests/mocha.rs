//! What `mocha` states: failed tests, their errors and places, counts.
//!
//! The outline names a failure by its number, `2) title`; the list after the counts has the whole.

mod known;

use self::known::{count, is_cut, numbered, recognises, runs};
use crate::family::{Family, Marks};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use crate::parsers::tests::node_error::NodeError;
use crate::rows::report::{MAX_NAMES, MESSAGE_CHARS, Names, is_coverage_row, is_script_line};
use crate::rows::unknown::in_place::UnknownInPlace;
use ethos_registry_core::lines::lines;

pub(crate) const FAMILY: Family = Family {
    name: "mocha",
    runs,
    marks: Marks::OneOf(&[&[" passing"], &[FRAME]]),
    recognises,
    reduce,
};

/// Nested suites of a title.
const TITLE_LINES: usize = 12;
/// A frame of a test or a hook, as no other runner has it.
const FRAME: &str = " at Context.<anonymous> (";
/// What the shortest outline has for each test.
const MARKS: [char; 4] = ['.', '․', ',', '!'];

fn reduce(input: &Input<'_>, output: &mut Output) {
    let state = if is_cut(input) {
        State::Error
    } else {
        State::Outline
    };
    let mut report = Report {
        listed: listed(input.text),
        state,
        title: String::new(),
        title_lines: 0,
        error: NodeError::default(),
        unknown: UnknownInPlace::default(),
        output,
    };
    for line in input.lines() {
        report.line(line);
    }
    report.close();
}

/// The titles of the failures that the list after the counts has, without their suites.
fn listed(text: &str) -> Names<'_> {
    let mut names = Names::default();
    let mut after_counts = false;
    for line in lines(text) {
        if !after_counts {
            after_counts = count(line) == Some("failing");
            continue;
        }
        let trimmed = line.trim();
        let title = trimmed.strip_suffix(':').filter(|_| line.starts_with("  "));
        if let Some(title) = title.filter(|_| names.len() < MAX_NAMES) {
            names.insert(numbered(title).map_or(title, |(_, title)| title));
        }
    }
    names
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Suites and tests with their signs.
    Outline,
    /// After the counts.
    List,
    /// In the titles of a failure.
    Title,
    /// In the error of a failure.
    Error,
}

struct Report<'a, 'o> {
    listed: Names<'a>,
    state: State,
    title: String,
    title_lines: usize,
    error: NodeError<'a>,
    unknown: UnknownInPlace,
    output: &'o mut Output,
}

impl<'a> Report<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            if self.state == State::Title {
                self.titled();
            }
            return;
        }
        if let Some(word) = count(line) {
            self.close();
            self.output.end_failures();
            if word == "failing" {
                self.output.failed();
            }
            self.output.fact(trimmed);
            self.state = State::List;
            return;
        }
        let block = self.state != State::Outline && !line.starts_with("   ");
        let entry = line.strip_prefix("  ").and_then(numbered);
        if block && entry.is_some() {
            self.close();
            self.output.failed();
            self.title.push_str(trimmed);
            self.title_lines = 1;
            self.state = State::Title;
            return;
        }
        match self.state {
            State::Outline => self.outline(line, trimmed),
            State::List => self.other(line),
            State::Title => self.more_title(line, trimmed),
            State::Error => self.failure(line, trimmed),
        }
    }

    fn close(&mut self) {
        if self.state == State::Title {
            self.titled();
        }
        self.error.close(self.output);
        self.output.close_failure();
    }

    fn titled(&mut self) {
        self.output
            .open_failure(&shorten(&self.title, 2 * MESSAGE_CHARS), self.title_lines);
        self.title.clear();
        self.state = State::Error;
    }

    fn outline(&mut self, line: &str, trimmed: &str) {
        if let Some((_, title)) = numbered(trimmed).filter(|_| line.starts_with("  ")) {
            self.output.failed();
            if !self.listed.contains(title) {
                self.output.fact(trimmed);
            }
        } else if trimmed.chars().all(|sign| MARKS.contains(&sign)) {
            // The row of marks that represents the outline.
        } else if !line.starts_with("  ") || crate::line::is_bad(line) {
            self.other(line);
        }
    }

    /// Titles of suites stand one under the other; the last one ends with a colon.
    fn more_title(&mut self, line: &'a str, trimmed: &'a str) {
        if self.title_lines >= TITLE_LINES
            || self.title.ends_with(':') && !line.starts_with("       ")
        {
            self.titled();
            self.failure(line, trimmed);
            return;
        }
        self.title.push(' ');
        self.title.push_str(trimmed);
        self.title_lines += 1;
    }

    fn failure(&mut self, line: &'a str, trimmed: &'a str) {
        if is_coverage_row(line) {
            self.output.fact(line.trim_end());
        } else if !line.starts_with(' ') && self.error.in_stack() {
            self.error.end_places(self.output);
            self.other(line);
        } else {
            self.error.line(trimmed, self.output);
        }
    }

    fn other(&mut self, line: &str) {
        if is_coverage_row(line) {
            self.output.fact(line.trim_end());
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

    const FAILING: &str = "
> shop@2.1.0 test
> mocha


  cart
    #total()
      ✔ is 0 for none
      1) sums
    2) is sorted

  40 passing (8ms)
  2 failing

  1) cart
       #total()
         sums:

      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

3 !== 4

      + expected - actual

      -3
      +4

      at Context.<anonymous> (test/cart.js:14:22)
      at process.processImmediate (node:internal/timers:483:21)

  2) cart
       is sorted:
     TypeError: cart.sort is not a function
      at sorted (src/cart.js:9:11)
      at Context.<anonymous> (test/cart.js:21:5)



npm error Lifecycle script `test` failed with error:
";

    fn reduced(text: &str) -> String {
        terminal::reduce(text, Some("npm test"), Exit::Failure, usize::MAX)
            .unwrap()
            .0
    }

    #[test]
    fn a_failure_is_told_once_with_its_whole_title() {
        assert_eq!(
            reduced(FAILING),
            "40 passing (8ms)\n2 failing\n1) cart #total() sums:\n\
            AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n3 !== 4\n\
            test/cart.js:14:22\n2) cart is sorted:\nTypeError: cart.sort is not a function\n\
            src/cart.js:9:11 test/cart.js:21:5\n[26 of 39 lines left out]"
        );
    }

    #[test]
    fn failures_of_the_outline_stay_when_the_list_was_cut() {
        let (text, _) = FAILING.split_once("  2) cart\n").unwrap();
        assert!(reduced(text).contains("2) is sorted\n"));
    }

    #[test]
    fn an_outline_without_counts_loses_no_failure() {
        let (outline, _) = FAILING.split_once("    2) is").unwrap();
        let (_, list) = FAILING.split_once("+4\n").unwrap();
        let told = reduced(&format!("{outline}{list}{}", "npm error x\n".repeat(40)));
        assert!(told.contains("1) sums"), "{told}");
    }

    #[test]
    fn a_row_of_marks_is_an_outline() {
        let (_, text) = FAILING.split_once("2) is sorted\n").unwrap();
        let told = reduced(&format!("\n․․․\n!․,!\n{text}"));
        assert!(told.starts_with("40 passing (8ms)\n"), "{told}");
    }

    #[test]
    fn the_list_alone_is_read_as_well() {
        let (_, text) = FAILING.split_once("sums:\n\n").unwrap();
        let text = format!("{text}{}", "npm error x\n".repeat(40));
        let told = reduced(&text);
        assert!(
            told.contains(
                "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n3 !== 4\n\
                 test/cart.js:14:22\n2) cart is sorted:\nTypeError: cart.sort is not a function\n\
                 src/cart.js:9:11 test/cart.js:21:5\n"
            ),
            "{told}"
        );
    }

    #[test]
    fn a_passing_run_gives_the_counts() {
        let text = format!(
            "  cart\n{}\n  40 passing (8ms)\n",
            "    ✔ sums\n".repeat(40)
        );
        let text = terminal::reduce(&text, Some("npm test"), Exit::Success, usize::MAX)
            .unwrap()
            .0;
        assert_eq!(text, "40 passing (8ms)\n[42 of 43 lines left out]");
    }

    #[test]
    fn a_failed_run_without_a_failure_in_sight_is_not_called_passed() {
        let text = format!(
            "  cart\n{}\n  90 passing (8ms)\n\nTypeError: hook\n",
            "    ✔ sums\n".repeat(90)
        );
        let text = reduced(&text);
        assert!(
            text.contains("✔ sums") && text.contains("TypeError: hook"),
            "{text}"
        );
    }

    #[test]
    fn the_places_of_the_last_failure_stand_before_what_another_program_says() {
        let text = FAILING.replace(
            "npm error ",
            "file:///w/leaf.js:9\n    throw err;\n\nnpm error ",
        );
        assert!(
            reduced(&text).contains("src/cart.js:9:11 test/cart.js:21:5\nfile:///w/leaf.js:9\n"),
            "{}",
            reduced(&text)
        );
    }

    #[test]
    fn counts_between_a_long_outline_and_a_long_list_tell_mocha() {
        use std::fmt::Write as _;
        let (mut outline, mut list) = (String::from("\n\n  shelf\n"), String::new());
        for number in 1..=120 {
            writeln!(
                outline,
                "    ✔ holds {number} crates\n    {number}) weighs crate {number}"
            )
            .unwrap();
            writeln!(
                list,
                "  {number}) shelf\n       weighs crate {number}:\n     Error: scale {number} is off\n      at Context.<anonymous> (test/shelf.js:{number}:9)\n      at process.processImmediate (node:internal/timers:483:21)\n"
            )
            .unwrap();
        }
        let text = format!("{outline}\n  120 passing (68ms)\n  120 failing\n\n{list}");
        let reduced = reduced(&text);
        assert!(reduced.starts_with("120 passing (68ms)\n120 failing\n1) shelf weighs crate 1:\n"));
        assert!(
            reduced.contains("Error: scale 77 is off") && reduced.contains("test/shelf.js:77:9")
        );
    }
}
