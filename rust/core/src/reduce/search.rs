//! Hits of searches: `grep`, `rg` plain, with headings and `--json`, `git grep`.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "search",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack"
    ) || input.git_is(&["grep"])
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
