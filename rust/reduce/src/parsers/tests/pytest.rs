//! Output of `pytest`: failures with their node ids, errors and places, warnings, counts.

mod captured;
mod collected;
mod cut;
mod entry;
mod failure;
mod group;
mod line;
mod native;
mod report;
mod ruler;
mod session;
mod stray;
mod sugar;
mod warned;

use memchr::memmem;

use self::ruler::{header, is_marks, title, verdict};
use self::session::Session;
use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::output::Output;

pub(crate) const FAMILY: Family = Family {
    name: "pytest",
    runs,
    marks: Marks::OneOf(&[
        &["test session starts"],
        &["short test summary info"],
        &["FAILURES"],
        &["ERRORS"],
        &[" in 0"],
        &["Test session starts (platform: "],
        &["\nINTERNALERROR> "],
    ]),
    recognises,
    reduce,
};

/// How many of the last lines are searched for the counts.
const END_LINES: usize = 60;

/// Rulers that are in no other report.
const TITLES: [&str; 4] = [
    "test session starts",
    "short test summary info",
    "FAILURES",
    "ERRORS",
];

fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "pytest" | "py.test" | "tox" | "nox")
}

/// Whether `line` closes a session with its counts.
pub(crate) fn is_verdict(line: &str) -> bool {
    verdict(line).is_some()
}

/// Whether a report begins with `line`, with or without the header of a session.
pub(crate) fn begins_report(line: &str) -> bool {
    title(line, '=').is_some_and(|found| TITLES.contains(&found))
}

/// Whether `line` only occurs in the middle of a report.
pub(crate) fn is_of_report(line: &str) -> bool {
    let captured = || title(line, '-').is_some_and(|title| title.starts_with("Captured "));
    let sums_up = || title(line, '=') == Some("short test summary info");
    header(line).is_some() || line.starts_with('-') && captured() || sums_up()
}

/// Whether `line` may be the first one of a quiet run.
pub(crate) fn is_of_quiet_run(line: &str) -> bool {
    const BEGINNINGS: [&str; 4] = ["ERROR", "FAILED ", "collected ", "no tests "];
    is_marks(line)
        || line.contains(".py::")
        || BEGINNINGS
            .iter()
            .any(|beginning| line.starts_with(beginning))
}

/// Whether `line` is a row of test marks with only their percentage: `..F.s   [ 35%]`.
pub(crate) fn is_row_of_marks(line: &str) -> bool {
    line.ends_with("%]") && line.contains(" [") && is_marks(line) && !line.contains('/')
}

/// Certain when a session starts, when counts close it, or when failures are under its rulers.
fn recognises(input: &Input<'_>) -> Match {
    let opens = |line: &str| {
        (line.starts_with('=') && title(line, '=').is_some_and(|found| TITLES.contains(&found)))
            || line.starts_with(sugar::DRAWN_SESSION)
            || line.starts_with("INTERNALERROR> ")
    };
    let known = |line: &str| opens(line) || verdict(line).is_some();
    // Searching all lines at once for the duration in a verdict is faster than checking each line.
    let first = input.first_part().as_bytes();
    let is_digit = |at: usize| first.get(at).is_some_and(u8::is_ascii_digit);
    let may_close = memmem::find_iter(first, " in ").any(|at| is_digit(at + " in ".len()));
    let at_beginning = |line: &str| opens(line) || may_close && verdict(line).is_some();
    let at_end = || !input.is_beginning() && input.lines().rev().take(END_LINES).any(known);
    if input.beginning().any(at_beginning) || at_end() {
        return Match::Certain;
    }
    // A likely match is ignored if another program printed the output.
    if runs(input)
        && input
            .beginning()
            .any(|line| is_marks(line) || line.contains("::") || line.contains("rror"))
    {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let verbose = |word: &String| word.starts_with("-vv") || word == "--verbosity=2";
    let comparisons = input.words.iter().any(verbose);
    let mut read = Output::default();
    if Session::new(input.text, comparisons, true).read(&mut read) {
        *output = read;
    } else {
        Session::new(input.text, comparisons, false).read(output);
    }
    let too_little = |line: &str| line.starts_with("FAIL Required test coverage");
    if input.lines().rev().take(END_LINES).any(too_little) {
        output.failed();
    }
}
