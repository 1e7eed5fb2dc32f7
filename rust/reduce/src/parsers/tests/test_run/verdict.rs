//! Verdicts of test runners.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::{dart, xctest};
use crate::line::beginnings::Beginnings;
use ethos_registry_core::find_text::{FindText as _, any_of};

/// A longer line is not a verdict.
const BYTES: usize = 240;
/// Parts of verdicts that begin with a count; all parts of one verdict must be in the line.
const COUNTED: [&[&str]; 12] = [
    &[" example", ", ", " failure"],
    &[" runs, ", " assertions, ", " failures, "],
    &[" tests, ", " failure"],
    &[" test, ", " failure"],
    &[" tests failed"],
    &[" test failed"],
    &[" spec", ", ", " failure"],
    &[" success", " / ", " failure"],
    &[" scenarios passed, ", " failed"],
    &[" scenarios (", " passed"],
    &[" tests, ", " passed, ", " failed"],
    &[" tests completed, ", " failed"],
];
/// Each of these contains one of these words.
const COUNTED_WORDS: [&str; 6] = [
    " example",
    " runs, ",
    " test",
    " spec",
    " success",
    " scenarios ",
];
/// Parts of verdicts that begin with the first part; all parts of one verdict must be in the line.
const WORDED: [&[&str]; 15] = [
    &["Tests: ", "Assertions: "],
    &["OK (", " test", " assertion"],
    &["bun test v"],
    &["ok | ", " passed"],
    &["FAILED | ", " passed"],
    &["Summary of Failures:"],
    &["[==========] ", " ran."],
    &["test cases: ", " passed"],
    &["All tests passed (", "assertion"],
    &["Passed!  - Failed: "],
    &["Failed!  - Failed: "],
    &["Tests run: ", "Failures: ", "Errors: "],
    &["Running ", " tests using ", " worker"],
    &["Ran ", " tests across ", " file"],
    &["Full log written to ", "meson-logs/testlog"],
];
/// The prefixes of these.
static WORDS: Beginnings<15> = Beginnings::new([
    "Tests: ",
    "OK (",
    "bun test v",
    "ok | ",
    "FAILED | ",
    "Summary of Failures:",
    "[==========] ",
    "test cases: ",
    "All tests passed (",
    "Passed!  - Failed: ",
    "Failed!  - Failed: ",
    "Tests run: ",
    "Running ",
    "Ran ",
    "Full log written to ",
]);

static COUNTED_WORD: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(COUNTED_WORDS));

/// Whether a trimmed line is a verdict; one that begins with a number can follow a log level.
pub(super) fn is_verdict(trimmed: &str) -> bool {
    if trimmed.len() > BYTES {
        return false;
    }
    if xctest::is_verdict(trimmed) || dart::is_verdict(trimmed) {
        return true;
    }
    let has = |line: &str, parts: &[&str]| parts.iter().all(|part| line.find_text(part).is_some());
    if WORDS.begin(trimmed) {
        let uncounted = ["Summary of Failures:", "Full log written to "];
        let counted = uncounted.iter().any(|text| trimmed.starts_with(text))
            || trimmed.bytes().any(|byte| byte.is_ascii_digit());
        let begins = |parts: &&&[&str]| parts.first().is_some_and(|part| trimmed.starts_with(part));
        if counted
            && WORDED
                .iter()
                .filter(begins)
                .any(|parts| has(trimmed, parts))
        {
            return true;
        }
    }
    let text = match trimmed.as_bytes().first() {
        Some(b'[') => trimmed.split_text("] ").map_or("", |(_, text)| text),
        _ => trimmed,
    };
    if text.starts_with("Tests run: ") {
        return has(text, &["Failures: ", "Errors: "]);
    }
    let worded = || {
        COUNTED_WORD
            .as_ref()
            .is_some_and(|words| words.is_match(text))
    };
    text.starts_with(|sign: char| sign.is_ascii_digit())
        && worded()
        && COUNTED.iter().any(|parts| has(text, parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_known_in_the_words_of_each_runner() {
        for line in [
            "4 examples, 1 failure",
            "8 runs, 9 assertions, 1 failures, 0 errors, 0 skips",
            "Tests: 4, Assertions: 4, Failures: 1.",
            "OK (4 tests, 4 assertions)",
            "28 tests, 7 failures, 1 skipped",
            "FAILED | 13 passed | 2 failed (40ms)",
            "5 tests failed",
            "15 successes / 3 failures / 2 errors / 1 pending",
            "[==========] 26 tests from 2 test suites ran. (8 ms total)",
            "[ERROR] Tests run: 4, Failures: 0, Errors: 2, Skipped: 0",
            "[INFO] Tests run: 4, Failures: 0, Errors: 0",
            "3 scenarios passed, 1 failed, 2 error, 0 skipped",
            "Running 12 tests using 4 workers",
            "Ran 21 tests across 1 file. [60.00ms]",
            "Summary of Failures:",
        ] {
            assert!(is_verdict(line), "{line}");
        }
        for line in [
            "the 4 examples, 1 failure",
            "Running tests",
            "[==========] Running 26 tests from 2 test suites.",
            "[note] no number",
            "12 lines",
        ] {
            assert!(!is_verdict(line), "{line}");
        }
    }
}
