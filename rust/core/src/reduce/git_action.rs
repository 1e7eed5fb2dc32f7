//! What git says of what it did: merges, rebases, conflicts, pushes, clones.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "git action",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    input.git_is(&[
        "merge",
        "rebase",
        "cherry-pick",
        "revert",
        "pull",
        "push",
        "fetch",
        "clone",
        "am",
        "apply",
        "bisect",
        "checkout",
        "switch",
        "commit",
        "submodule",
    ])
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
