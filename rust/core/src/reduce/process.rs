//! Tables of a system: processes, packages, disks, containers.

use super::input::Input;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "process",
    runs,
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "ps" | "top"
            | "htop"
            | "pstree"
            | "lsof"
            | "df"
            | "free"
            | "env"
            | "printenv"
            | "systemctl"
            | "docker"
            | "kubectl"
            | "netstat"
            | "ss"
    )
}

fn recognises(_input: &Input<'_>) -> Match {
    Match::No
}

fn reduce(_input: &Input<'_>, _output: &mut Output) {}
