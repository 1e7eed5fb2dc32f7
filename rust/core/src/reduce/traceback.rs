//! Uncaught exceptions and panics of Python, JavaScript, Java, Go, Rust, sanitizers.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "traceback",
    runs,
    recognises,
    reduce,
};

fn runs(_input: &Input<'_>) -> bool {
    false
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
