//! Recognises the output of tests.

use super::line::{Next, is_announcement, nextest, outcome};
use super::list;
use crate::family::Match;
use crate::input::Input;

/// The prefix of the line with the test counts of a target, and the line of cargo below failed tests.
pub(super) const RESULT: &str = "test result: ";
const FAILED: &str = "error: test failed, ";

/// How many test results are enough to recognise output whose header was cut off.
const ENOUGH_TESTS: usize = 3;

pub(super) fn runs(input: &Input<'_>) -> bool {
    input.program() == "cargo" && matches!(input.subcommand(), "test" | "t" | "nextest" | "bench")
        || input.program() == "cargo-nextest"
}

/// Certain if tests are announced and one of them or their result follows.
pub(super) fn recognises(input: &Input<'_>) -> Match {
    if list::is_list(input) {
        return Match::Certain;
    }
    let mut announced = false;
    let mut likely = false;
    let mut tests = 0;
    for line in input.beginning() {
        announced |= is_announcement(line);
        let told = line.starts_with(RESULT) || outcome(line).is_some();
        tests += usize::from(told);
        let next = nextest(line);
        if (announced && told) || matches!(next, Some(Next::Failed(..) | Next::Summary)) {
            return Match::Certain;
        }
        // Only the result is left if the end was requested.
        let result = line.starts_with(RESULT);
        likely |= announced || next.is_some() || result || tests >= ENOUGH_TESTS;
    }
    // Long warnings of the build can be above the tests.
    if input.ending().any(is_end) && announces(input.text) {
        return Match::Certain;
    }
    if likely { Match::Likely } else { Match::No }
}

/// Whether the harness or cargo ends with `line`.
fn is_end(line: &str) -> bool {
    line.starts_with(RESULT) || line.starts_with(FAILED)
}

/// Whether a target reports how many tests it runs.
fn announces(text: &str) -> bool {
    let mut found = memchr::memmem::find_iter(text.as_bytes(), b"\nrunning ");
    found.any(|at| {
        let line = text.get(at + 1..).and_then(|rest| rest.lines().next());
        line.is_some_and(is_announcement)
    })
}
