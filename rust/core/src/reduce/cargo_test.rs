//! What `cargo test` says: failed tests, panics and places, results; errors of the build before it.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "cargo test",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    input.program() == "cargo" && matches!(input.subcommand(), "test" | "t" | "nextest" | "bench")
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
