//! Output of Python's `unittest`: failed tests, their errors and places, counts.

mod failure;
mod warned;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::shorten;
use crate::output::{Output, Weight};
use crate::parsers::logs::traceback::Folder;
use crate::rows::unknown::Unknown;
use ethos_registry_core::find_text::FindText as _;
use failure::Failure;
use warned::Warned;

pub(crate) const FAMILY: Family = Family {
    name: "unittest",
    runs,
    marks: Marks::OneOf(&[&["\nRan 0"]]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 240;
/// How many of the last lines are searched for the counts.
const END_LINES: usize = 60;
/// How many lines after the message of an exception are kept.
const MESSAGE_LINES: usize = 2;
/// A shorter message is shown with lines that explain it.
const SHORT_MESSAGE: usize = 40;
/// Failed tests while they run; shown if their failures are not.
const FAILED_TESTS: usize = 4_096;

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "unittest" | "trial" | "manage.py" | "django-admin"
    )
}

/// Prefixes of lines about how Django sets up tests.
static SETTING_UP: Beginnings<4> = Beginnings::new([
    "Creating test database for alias ",
    "Destroying test database for alias ",
    "Cloning test database for alias ",
    "System check identified no issues",
]);

/// Certain when the count of tests is near the end, with the verdict after it.
fn recognises(input: &Input<'_>) -> Match {
    let mut verdict = false;
    for line in input.lines().rev().take(END_LINES) {
        verdict |= is_verdict(line);
        if is_count(line) {
            return if verdict {
                Match::Certain
            } else {
                Match::Likely
            };
        }
    }
    let known = |line: &str| head(line).is_some() || outcome(line).is_some();
    if input.beginning().any(known) {
        Match::Likely
    } else {
        Match::No
    }
}

/// The labels above the parts of a failed doctest example.
const EXAMPLE_LABELS: [&str; 5] = [
    "Failed example:",
    "Expected:",
    "Expected nothing",
    "Got:",
    "Exception raised:",
];

/// The section of the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Progress,
    /// After the header of a failure whose ruler was filtered out; counts the lines kept.
    Filtered {
        kept: usize,
    },
    /// In a failure, after its header.
    Head,
    /// After the exception; counts the lines kept.
    Message {
        kept: usize,
        /// Whether the lines of a comparison are shown.
        compares: bool,
    },
    /// In the output of a failed test.
    Printed,
    /// After a label of a failed doctest example; counts the lines kept.
    Example {
        kept: usize,
    },
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut section = Section::Progress;
    let (mut unknown, mut warned) = (Unknown::default(), Warned::default());
    let mut folder = Folder::default();
    let mut failure = Failure::default();
    let mut failed_tests: Vec<&str> = Vec::new();
    let mut heads = false;
    // Written if the output ends without a verdict.
    let mut last: Option<&str> = None;
    let mut lines = input.lines().peekable();
    while let Some(line) = lines.next() {
        let ruler = line.starts_with("======");
        let next_head = lines
            .peek()
            .copied()
            .is_some_and(|next| head(next).is_some());
        if (ruler && next_head) || is_count(line) {
            folder.finish(&mut |line| failure.show(line, output));
            unknown.write(output);
            failure.close(output);
        }
        if is_count(line) || is_verdict(line) {
            output.end_failures();
            section = Section::Progress;
            if line.starts_with("FAILED") {
                output.failed();
                for test in failed_tests.drain(..).filter(|_| !heads) {
                    output.fact(test);
                }
            }
            unknown.write(output);
            output.fact(line.trim_end());
            failed_tests.clear();
            heads = false;
            last = None;
            continue;
        }
        if ruler && next_head {
            if let Some(line) = lines.next() {
                output.failed();
                failure.open(line, output);
                heads = true;
            }
            folder = Folder::default();
            section = Section::Head;
            continue;
        }
        if is_head_without_ruler(line, lines.peek().copied()) {
            folder.finish(&mut |line| failure.show(line, output));
            unknown.write(output);
            output.failed();
            failure.open(line, output);
            heads = true;
            folder = Folder::default();
            section = Section::Head;
            continue;
        }
        section = match section {
            Section::Progress | Section::Filtered { .. } if is_head_alone(line) => {
                unknown.write(output);
                output.fact(&shorten(line, LINE_CHARS));
                output.failed();
                heads = true;
                Section::Filtered { kept: 0 }
            }
            Section::Filtered { kept } if kept < MESSAGE_LINES && !line.is_empty() => {
                output.fact(&shorten(line, LINE_CHARS));
                Section::Filtered { kept: kept + 1 }
            }
            Section::Progress | Section::Filtered { .. } => {
                match outcome(line) {
                    Some(true) if failed_tests.len() < FAILED_TESTS => failed_tests.push(line),
                    Some(_) => last = Some(line),
                    None if says_nothing(line) || warned.is_told(line) => {}
                    None => unknown.push(line),
                }
                Section::Progress
            }
            // All unexpected successes are below one ruler.
            Section::Head if line.starts_with("UNEXPECTED SUCCESS: ") => {
                failure.open(line, output);
                section
            }
            _ => failure_line(
                line,
                section,
                &mut folder,
                &mut failure,
                &mut unknown,
                output,
            ),
        };
    }
    folder.finish(&mut |line| failure.show(line, output));
    unknown.write(output);
    failure.close(output);
    for test in failed_tests.iter().filter(|_| !heads) {
        output.failed();
        output.fact(test);
    }
    if let Some(last) = last {
        output.context(last);
    }
}

/// Reads a line of a failure; own frames and exceptions of the traceback are kept.
fn failure_line<'a>(
    line: &'a str,
    section: Section,
    folder: &mut Folder<'a>,
    failure: &mut Failure<'a>,
    unknown: &mut Unknown<'a>,
    output: &mut Output,
) -> Section {
    if line.starts_with("------") || line.trim().is_empty() {
        return section;
    }
    if matches!(line, "Stdout:" | "Stderr:") {
        return Section::Printed;
    }
    if EXAMPLE_LABELS.contains(&line) {
        output.fact(line);
        return Section::Example { kept: 0 };
    }
    if let (Section::Example { kept }, true) = (section, line.starts_with("    ")) {
        if kept < MESSAGE_LINES {
            output.fact(&shorten(line.trim(), LINE_CHARS));
        }
        return Section::Example { kept: kept + 1 };
    }
    let before = folder.frames();
    if folder.line(line, &mut |line| failure.show(line, output)) {
        let behind = folder.frames() == before && folder.is_behind_exception();
        return if behind {
            // A long message contains the compared values, and may continue with the test's own message.
            let short = line.len() < SHORT_MESSAGE || line.contains("...");
            // The first difference in what the message leaves out is shown below it.
            let told = !short && line.has_text(" differ: ") && !line.has_text(" chars]");
            Section::Message {
                kept: if told { MESSAGE_LINES } else { 0 },
                compares: short,
            }
        } else {
            Section::Head
        };
    }
    match section {
        Section::Message { .. } if line.starts_with(" : ") => {
            // The test's own message of its assertion is below the diff.
            output.fact(&shorten(line.trim(), LINE_CHARS));
            section
        }
        Section::Message {
            compares: false, ..
        } if is_compared(line) => section,
        Section::Message {
            kept: ..MESSAGE_LINES,
            ..
        } if line.starts_with("First differing ") => {
            output.context(line.trim_end());
            section
        }
        Section::Message { kept, compares }
            if kept < MESSAGE_LINES && explains(line) && !failure.tells(line) =>
        {
            output.compared(line.trim_end(), LINE_CHARS, Weight::Context);
            Section::Message {
                kept: kept + 1,
                compares,
            }
        }
        Section::Printed => {
            unknown.push(line);
            section
        }
        _ => section,
    }
}

/// Whether a line after an exception is more than the format of a comparison.
fn explains(line: &str) -> bool {
    !line.starts_with(['?', ' ']) && !line.trim_matches(['-', '+', '^', ' ']).is_empty()
}

/// Whether a line belongs to a comparison, not to the test's own message.
fn is_compared(line: &str) -> bool {
    line.starts_with(['-', '+']) || line.starts_with("Diff is ")
}

/// The header of a failure: `FAIL: test_a (m.C.test_a)`.
fn head(line: &str) -> Option<&str> {
    ["FAIL: ", "ERROR: ", "UNEXPECTED SUCCESS: "]
        .iter()
        .find_map(|word| line.strip_prefix(word))
}

/// Whether a line is the header of a failure by its form alone: `FAIL: test_a (m.C.test_a)`.
fn is_head_alone(line: &str) -> bool {
    head(line).is_some_and(|test| test.ends_with(')') && test.has_text(" ("))
}

/// Whether `line` is a header of a runner such as green, directly followed by the traceback: `Failure in m.C.test_a`.
fn is_head_without_ruler(line: &str, next: Option<&str>) -> bool {
    if !line.starts_with(['E', 'F']) {
        return false;
    }
    let test = ["Error in ", "Failure in "]
        .iter()
        .find_map(|word| line.strip_prefix(word));
    let test = test.and_then(|test| test.split(' ').next());
    test.is_some_and(|test| test.contains('.'))
        && next.is_some_and(|next| next.starts_with("  File \""))
}

/// Whether a line with the result of a test reports a failure: `test_a (m.C.test_a) ... ok`.
fn outcome(line: &str) -> Option<bool> {
    let (_, end) = line.rsplit_text(" ... ")?;
    match end.trim_end() {
        "FAIL" | "ERROR" | "unexpected success" => Some(true),
        "ok" | "expected failure" => Some(false),
        other => other.starts_with("skipped ").then_some(false),
    }
}

/// Whether `line` is about how Django sets up tests, or how many it found.
fn sets_up(line: &str) -> bool {
    SETTING_UP.begin(line) || (line.starts_with("Found ") && line.ends_with(" test(s)."))
}

/// A test alone on its line: its docstring or its output follows.
fn is_test(line: &str) -> bool {
    let line = line.trim();
    if line.ends_with(" ...") {
        return true;
    }
    let named = line.split_text(" (").is_some_and(|(name, class)| {
        !name.contains(' ') && class.ends_with(')') && class.contains('.')
    });
    named || matches!(line, "ok" | "FAIL" | "ERROR")
}

/// Marks of tests that ran.
fn is_marks(line: &str) -> bool {
    let marks = line.trim();
    !marks.is_empty()
        && marks
            .bytes()
            .all(|mark| matches!(mark, b'.' | b'F' | b'E' | b's' | b'x' | b'u'))
}

/// Whether `line` is only about a test that runs, without a failure or other output.
fn says_nothing(line: &str) -> bool {
    is_marks(line) || is_test(line) || sets_up(line)
}

/// `Ran 3 tests in 0.001s`.
fn is_count(line: &str) -> bool {
    line.strip_prefix("Ran ").is_some_and(|rest| {
        rest.starts_with(|first: char| first.is_ascii_digit())
            && (rest.contains(" tests in ") || rest.contains(" test in "))
    })
}

/// `OK`, `OK (skipped=1)`, `FAILED (failures=1)`, `NO TESTS RAN`.
fn is_verdict(line: &str) -> bool {
    let line = line.trim_end();
    matches!(line, "OK" | "NO TESTS RAN")
        || line.starts_with("FAILED (")
        || line.starts_with("OK (")
        || line.starts_with("PASSED (successes=")
}

#[cfg(test)]
mod tests;
