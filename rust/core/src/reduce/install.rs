//! What package managers say: what they installed, or why they could not.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "install",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "pip"
            | "pip3"
            | "uv"
            | "poetry"
            | "pipenv"
            | "conda"
            | "mamba"
            | "npm"
            | "pnpm"
            | "yarn"
            | "bun"
            | "apt"
            | "apt-get"
            | "dpkg"
            | "brew"
            | "bundle"
            | "gem"
            | "composer"
            | "cargo"
            | "apk"
            | "dnf"
            | "yum"
    )
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
