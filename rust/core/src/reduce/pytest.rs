//! What `pytest` says: failures with their node ids, errors and places, warnings, counts.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "pytest",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "pytest" | "py.test" | "tox" | "nox")
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
