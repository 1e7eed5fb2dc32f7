//! Logs: templates with their counts, and everything that is odd or bad.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "log",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "journalctl" | "dmesg")
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
