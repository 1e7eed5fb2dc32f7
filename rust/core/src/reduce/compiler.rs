//! What C and C++ builds say: `gcc`, `clang`, `make`, `cmake`, `ninja`, link errors.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "compiler",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "make"
            | "gmake"
            | "cmake"
            | "ninja"
            | "meson"
            | "gcc"
            | "g++"
            | "cc"
            | "c++"
            | "clang"
            | "clang++"
            | "ld"
    )
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
