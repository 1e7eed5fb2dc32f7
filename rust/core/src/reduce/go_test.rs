//! What `go test` (plain, verbose and `-json`), `go vet` and `go build` say.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "go test",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    input.program() == "go" && matches!(input.subcommand(), "test" | "vet" | "build" | "run")
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
