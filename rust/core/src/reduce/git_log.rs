//! What `git log` says in its formats: every commit that was asked for, with its subject.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "git log",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    input.git_is(&["log", "shortlog", "reflog", "rev-list", "whatchanged"])
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
