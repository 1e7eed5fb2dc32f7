//! Unified diffs, stat and name lists: `git diff`, `git show`, `diff -u`, formatters.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "diff",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    input.git_is(&["diff", "show", "format-patch", "stash"])
        || matches!(
            input.program(),
            "diff" | "colordiff" | "black" | "isort" | "patch" | "interdiff"
        )
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
