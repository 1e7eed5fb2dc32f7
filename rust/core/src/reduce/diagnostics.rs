//! Lists of findings, each with a place: `path:line:column: message` in its many spellings.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "diagnostics",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "mypy"
            | "ruff"
            | "flake8"
            | "pylint"
            | "pyright"
            | "pycodestyle"
            | "pyflakes"
            | "bandit"
            | "shellcheck"
            | "yamllint"
            | "hadolint"
            | "codespell"
            | "golangci-lint"
            | "biome"
            | "oxlint"
            | "vale"
    )
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
