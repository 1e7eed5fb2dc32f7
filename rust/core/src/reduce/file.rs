//! The text of a file: an outline of source code, the packages of a lock file.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "file",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "cat" | "bat" | "nl" | "sed" | "head" | "tail" | "less" | "more"
    )
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
