//! Recognises single lines of a report, whichever runner wrote it.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::{dart, xctest};
use crate::line::beginnings::Beginnings;
use crate::line::is_bad;
use crate::rows::report::{javascript_place, without_time};
use ethos_registry_core::find_text::{FindText as _, any_of};

/// Prefixes of lines that report a passed test or the start of one.
static PASSED: Beginnings<17> = Beginnings::new([
    "(pass) ",
    "✓ ",
    "✔ ",
    "√ ",
    "[ RUN      ]",
    "[       OK ]",
    "[----------]",
    "[==========] Running",
    "Global test environment",
    "(skip) ",
    "(todo) ",
    "✓",
    "  Passed ",
    "Passed ",
    "ok ",
    "» ",
    "- [skip] ",
]);
/// Suffixes of such lines.
const PASSED_ENDS: [&str; 8] = [
    " PASSED",
    "| PASS |",
    " [OK]",
    "... ok",
    "... ignored",
    "... passed",
    " ... PASS",
    "... OK",
];
/// Lines that are only headings; text after one of them on the same line is shown.
const HEADINGS: [&str; 8] = [
    "Failures:",
    "Stack:",
    "Message:",
    "Started",
    "ERRORS",
    "Diff:",
    "stdout:",
    "stderr:",
];
/// Lines around the report that have no information about a test.
static NOISE: Beginnings<36> = Beginnings::new([
    "the missing elements were:",
    "the extra elements were:",
    "USING RUNNER: ",
    "Traceback (most recent call last):",
    "Randomized with seed",
    "Finished in ",
    "Failure/Error: ",
    "(compared using ",
    "Pending: (",
    "PHPUnit ",
    "Time: ",
    "FAILURES!",
    "ERRORS!",
    "Runtime: ",
    "Configuration: ",
    "Run options: ",
    "# Running:",
    "Running ExUnit with seed",
    "stacktrace:",
    "code: ",
    "Incomplete:",
    "Downloading ",
    "# Not yet implemented",
    "# Temporarily skipped",
    "ninja: ",
    ">>> ",
    "bun test v",
    "--- Expected",
    "+++ Actual",
    "running ",
    "Starting test execution, ",
    "A total of ",
    "Test run for ",
    "VSTest version ",
    "Microsoft (R) ",
    "Copyright (c) Microsoft ",
]);
/// Prefixes of lines that report a failure.
static FAILURES: Beginnings<17> = Beginnings::new([
    "(fail) ",
    "✗ ",
    "✘ ",
    "✖ ",
    "× ",
    "[  FAILED  ]",
    "Failed ",
    "FAILED ",
    "FAIL ",
    "Failure -> ",
    "Error -> ",
    "There was ",
    "There were ",
    "error: ",
    "[ERROR] ",
    "** (",
    "Failing scenarios:",
]);
const FAILED_ENDS: [&str; 3] = [" FAILED", "| FAIL |", " FAIL"];
/// Parts of paths of foreign code.
const FOREIGN: [&str; 18] = [
    "/gems/",
    "/vendor/",
    "node_modules/",
    "ext:",
    "node:",
    "<Jasmine>",
    "<anonymous>",
    "(java.base",
    "java.base/",
    "org.junit.",
    "org.apache.maven",
    "jdk.internal",
    "/lib/ruby/",
    "(ex_unit",
    "at System.",
    "at Microsoft.",
    "at Xunit.",
    "at NUnit.",
];

static FOREIGN_PART: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(FOREIGN));

/// Whether a line reports a passed test or the start of one.
pub(super) fn is_passed(trimmed: &str) -> bool {
    if PASSED.begin(trimmed) || xctest::is_passed(trimmed) || dart::is_passed(trimmed) {
        return true;
    }
    // `name ... ok (1ms)`
    let bare = without_time(trimmed);
    let last = bare.as_bytes().last().copied().unwrap_or_default();
    (b"D|]kdSK".contains(&last) && PASSED_ENDS.iter().any(|end| bare.ends_with(end)))
        || last == b'.' && trimmed.ends_with(" s = .")
        || trimmed.find_text("... passed in ").is_some()
        || is_counted(trimmed, &["OK"])
}

/// Whether a line is a numbered result, one of `verdicts`: `1/7 tension OK              0.01s`.
fn is_counted(trimmed: &str, verdicts: &[&str]) -> bool {
    if !trimmed.starts_with(|sign: char| sign.is_ascii_digit()) {
        return false;
    }
    let mut words = trimmed.split_ascii_whitespace();
    let counted = words.next().is_some_and(|count| {
        count.contains('/')
            && count
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'/')
    });
    counted && words.any(|word| verdicts.contains(&word))
}

/// Whether a line is a row of symbols, one per test: `..F.E*`, perhaps with a count after it.
pub(super) fn is_drawn(trimmed: &str) -> bool {
    if !trimmed.is_ascii() {
        return trimmed.chars().all(|sign| "―─━═ ✀•●○".contains(sign));
    }
    let (signs, rest) = trimmed.split_text("  ").unwrap_or((trimmed, ""));
    if !(rest.is_empty() || rest.contains(['/', '%'])) {
        return false;
    }
    let signs = signs
        .bytes()
        .all(|sign| b".FESIRWDNPX*+-,x!".contains(&sign));
    signs && (trimmed.len() > 2 || trimmed == "." || trimmed == "*")
}

/// Counts that are left out when they are zero.
static NOUGHTS: Beginnings<5> = Beginnings::new([
    "Ok:",
    "Expected Fail:",
    "Unexpected Pass:",
    "Skipped:",
    "Timeout:",
]);

/// `[1/2] Linking target t`
fn is_build_step(trimmed: &str) -> bool {
    let count = trimmed
        .strip_prefix('[')
        .and_then(|rest| rest.split_text("] "));
    count.is_some_and(|(count, _)| {
        count.contains('/')
            && count
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'/')
    }) && !is_bad(trimmed)
}

pub(super) fn is_noise(trimmed: &str) -> bool {
    NOISE.begin(trimmed)
        || HEADINGS.contains(&trimmed)
        || xctest::is_noise(trimmed)
        || trimmed.starts_with("[xUnit.net ") && !trimmed.ends_with("[FAIL]")
        || (trimmed.ends_with(" 0") && NOUGHTS.begin(trimmed))
        || is_build_step(trimmed)
        || trimmed.chars().all(|sign| "{}[](),;-".contains(sign))
        || trimmed.ends_with(" ...")
        || trimmed.bytes().all(|byte| matches!(byte, b'^' | b'~'))
        || numbered_source(trimmed).is_some()
        || trimmed.starts_with("at async Promise.all ")
}

/// A numbered source line around a failure, as ava shows it: `3: test("x")`.
pub(super) fn numbered_source(trimmed: &str) -> Option<&str> {
    let (number, source) = trimmed.split_once(':')?;
    let apart = source.is_empty() || source.starts_with(' ');
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    (apart && !number.is_empty() && number.len() < 6 && digits).then_some(number)
}

/// The title in a numbered failure: `3) cart adds`.
pub(super) fn numbered_title(trimmed: &str) -> Option<&str> {
    let (number, title) = trimmed.split_text(") ")?;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    (!number.is_empty() && digits).then_some(title)
}

/// The command that runs one example of rspec again, and the title of the example.
pub(super) fn rerun(trimmed: &str) -> Option<(&str, &str)> {
    trimmed.strip_prefix("rspec ")?.split_text(" # ")
}

pub(super) fn is_failure(trimmed: &str) -> bool {
    numbered_title(trimmed).is_some()
        || FAILURES.begin(trimmed)
        || xctest::is_failure(trimmed)
        || dart::is_failure(trimmed)
        || FAILED_ENDS.iter().any(|end| trimmed.ends_with(end))
        || trimmed.find_text("... FAILED").is_some()
        || is_counted(trimmed, &["FAIL", "ERROR", "TIMEOUT"])
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    /// The location in the user's code.
    User(&'a str),
    /// Code of a library or of the runtime.
    Foreign,
}

/// The frame that a line is, if it is one.
pub(super) fn frame(trimmed: &str) -> Option<Frame<'_>> {
    let frame = trimmed
        .strip_prefix("at ")
        .or_else(|| trimmed.strip_prefix("# "))
        .or_else(|| trimmed.strip_prefix("› "))
        .unwrap_or(trimmed);
    let marked = frame.len() < trimmed.len();
    let is_foreign = || {
        FOREIGN_PART
            .as_ref()
            .is_some_and(|parts| parts.is_match(trimmed))
    };
    if let Some(place) = javascript_place(frame).filter(|_| marked) {
        return Some(Frame::User(place));
    }
    if marked && is_foreign() {
        return Some(Frame::Foreign);
    }
    let place = leading_place(frame)?;
    let rest = frame.get(place.len()..).unwrap_or_default();
    let alone = rest.is_empty() || rest.starts_with(":in ") || rest.starts_with(": (");
    // The message of an uncaught Ruby exception follows its first frame.
    let is_head = rest.ends_with(')') && rest.has_text("': ");
    if !alone || is_head {
        return None;
    }
    Some(if is_foreign() {
        Frame::Foreign
    } else {
        Frame::User(place)
    })
}

/// `path:line` at the beginning of `text`.
fn leading_place(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let colon = memchr::memchr_iter(b':', bytes).find(|at| digit(at + 1))?;
    let path = bytes.get(..colon)?;
    let named = memchr::memchr2(b'/', b'.', path).is_some() && memchr::memchr(b' ', path).is_none();
    let after = bytes.iter().skip(colon + 1);
    let digits = after.take_while(|byte| byte.is_ascii_digit()).count();
    named.then(|| text.get(..colon + 1 + digits)).flatten()
}

/// Whether a verdict counts failures: a number other than zero next to a word for them.
pub(super) fn names_failures(verdict: &str) -> bool {
    let words = || {
        verdict
            .split(|sign: char| !sign.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
    };
    let count = |word: Option<&str>| word.and_then(|word| word.parse::<u64>().ok());
    let before = std::iter::once(None).chain(words().map(Some));
    let after = words().skip(1).map(Some).chain(std::iter::once(None));
    let labelled =
        verdict.contains("ailures: ") || verdict.contains("rrors: ") || verdict.contains("ailed: ");
    words()
        .zip(before.zip(after))
        .any(|(word, (before, after))| {
            let lower = word.to_ascii_lowercase();
            let bad = lower.starts_with("fail") || lower.starts_with("error");
            let number = if labelled {
                count(after)
            } else {
                count(before)
            };
            bad && number.is_some_and(|number| number > 0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_caught_is_no_frame() {
        let head = "lib/oak.rb:5:in `leaf': key not found: \"elm\" (KeyError)";
        assert_eq!(frame(head), None);
        let inner = "lib/oak.rb:5:in `leaf'";
        assert_eq!(frame(inner), Some(Frame::User("lib/oak.rb:5")));
    }

    #[test]
    fn verdicts_with_failures_are_told_from_those_without() {
        for verdict in [
            "4 examples, 1 failure",
            "Tests: 4, Assertions: 4, Failures: 1.",
            "FAILED | 13 passed | 2 failed (40ms)",
            "[ERROR] Tests run: 4, Failures: 0, Errors: 2, Skipped: 0",
            "15 successes / 3 failures / 2 errors / 1 pending",
        ] {
            assert!(names_failures(verdict), "{verdict}");
        }
        for verdict in [
            "4 examples, 0 failures",
            "Tests run: 4, Failures: 0, Errors: 0",
            "ok | 13 passed | 0 failed",
        ] {
            assert!(!names_failures(verdict), "{verdict}");
        }
    }

    #[test]
    fn a_mark_behind_the_time_of_a_test_tells_whether_it_passed() {
        assert!(is_passed("OakTest#test_grows = 0.00 s = ."));
        assert!(!is_passed("OakTest#test_falls = 0.00 s = F"));
    }

    #[test]
    fn frames_of_libraries_have_no_place() {
        for (line, place) in [
            (
                "# ./spec/cart_spec.rb:4:in `block'",
                Some(Frame::User("./spec/cart_spec.rb:4")),
            ),
            ("# /x/gems/rspec/lib/a.rb:4:in `run'", Some(Frame::Foreign)),
            (
                "/home/dev/tests/CartTest.php:6",
                Some(Frame::User("/home/dev/tests/CartTest.php:6")),
            ),
            ("at <Jasmine>", Some(Frame::Foreign)),
            (
                "test/cart_test.exs:3: (test)",
                Some(Frame::User("test/cart_test.exs:3")),
            ),
            (
                "at System.Reflection.MethodInvoker.Invoke(Object obj)",
                Some(Frame::Foreign),
            ),
            ("expected: 4", None),
            ("spec/a.lua:3: Expected objects to be equal.", None),
        ] {
            assert_eq!(frame(line), place, "{line}");
        }
    }
}
