//! What `jest` says: failed tests, assertions and places, suites that did not run, totals, coverage.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "jest",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    input.program() == "jest"
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
