//! Lists of files: `ls`, `find`, `tree`, `du`.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "listing",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "ls" | "find" | "fd" | "fdfind" | "tree" | "du" | "exa" | "eza"
    )
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
