//! By what the output of tests is known.

use super::super::family::Match;
use super::super::input::Input;
use super::line::{Next, is_announcement, nextest, outcome};
use super::list;

/// Tests that ran by which the output is known where its head was cut away.
const ENOUGH_TESTS: usize = 3;

pub(super) fn runs(input: &Input<'_>) -> bool {
    input.program() == "cargo" && matches!(input.subcommand(), "test" | "t" | "nextest" | "bench")
        || input.program() == "cargo-nextest"
}

/// Certain when tests are announced and one of them or their result is there.
pub(super) fn recognises(input: &Input<'_>) -> Match {
    if list::is_list(input) {
        return Match::Certain;
    }
    let mut announced = false;
    let mut likely = false;
    let mut tests = 0;
    for line in input.beginning() {
        announced |= is_announcement(line);
        let told = line.starts_with("test result: ") || outcome(line).is_some();
        tests += usize::from(told);
        let next = nextest(line);
        if (announced && told) || matches!(next, Some(Next::Failed(..) | Next::Summary)) {
            return Match::Certain;
        }
        // A result alone is left where the end was asked for.
        let result = line.starts_with("test result: ");
        likely |= announced || next.is_some() || result || tests >= ENOUGH_TESTS;
    }
    if likely { Match::Likely } else { Match::No }
}
