//! Tables of a system: processes, packages, disks, containers.

pub(crate) mod packages;
mod ps;
mod table;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line;
use crate::output::Output;
use ethos_registry_core::command::searches;

pub(crate) const FAMILY: Family = Family {
    name: "process",
    runs,
    marks: Marks::OneOf(&[
        &["COMMAND"],
        &["CMD"],
        &["\nDesired=Unknown/Install/"],
        &["\nii  "],
    ]),
    recognises,
    reduce,
};

/// Longer values of variables are cut in the middle.
const VALUE_CHARS: usize = 160;

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "ps" | "df"
            | "free"
            | "env"
            | "printenv"
            | "systemctl"
            | "docker"
            | "podman"
            | "kubectl"
            | "dpkg"
            | "dpkg-query"
            | "lsblk"
    ) || lists_packages(input)
        || input.has("outdated")
        || searches(input.program()) && packages::is_found(input)
}

fn lists_packages(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "pip" | "pip3" | "uv" | "apt" | "conda" | "mamba" | "micromamba" | "gem"
    ) && (input.has("list") || input.has("freeze"))
}

/// What kind of table an output is.
enum Kind<'a> {
    Processes(ps::Columns),
    Packages(packages::Form),
    Rows(table::Table<'a>),
    Variables,
}

fn kind<'a>(input: &Input<'a>) -> Option<Kind<'a>> {
    if lists_packages(input) && input.beginning().any(|line| line.starts_with("[{")) {
        return None;
    }
    let mut beginning = input.beginning().skip_while(|line| line.trim().is_empty());
    if let Some(columns) = beginning.by_ref().take(12).find_map(ps::columns) {
        return Some(Kind::Processes(columns));
    }
    if let Some(form) = packages::form(input) {
        return Some(Kind::Packages(form));
    }
    if !runs(input) {
        return None;
    }
    if matches!(input.program(), "env" | "printenv") {
        return Some(Kind::Variables);
    }
    table::read(input).map(Kind::Rows)
}

fn recognises(input: &Input<'_>) -> Match {
    match kind(input) {
        Some(Kind::Processes(_)) => Match::Certain,
        Some(Kind::Packages(form)) if form.is_certain() => Match::Certain,
        Some(_) => Match::Likely,
        None => Match::No,
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    match kind(input) {
        Some(Kind::Processes(columns)) => ps::reduce(input, columns, output),
        Some(Kind::Packages(form)) => packages::reduce(input, form, output),
        Some(Kind::Rows(table)) => {
            table.reduce(output);
            if input.has("outdated") {
                // Such a command fails when the table has rows.
                output.failed();
            }
        }
        Some(Kind::Variables) => {
            for variable in input.lines() {
                output.fact(&line::shorten(variable, VALUE_CHARS));
            }
        }
        None => return,
    }
    output.stays_unless_shorter(input.text);
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::input::Exit;

    #[test]
    fn packages_as_json_are_no_table() {
        let words = ["pip", "list", "--format", "json"].map(str::to_owned);
        let input = Input {
            text: "[{\"name\": \"oak\", \"version\": \"1\"}]\nPackage Version Latest\n------- ------- ------\nelm 1 2\n",
            words: &words,
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), Match::No);
    }

    #[test]
    fn what_a_daemon_says_is_no_table() {
        let words = ["docker".to_owned(), "ps".to_owned()];
        let input = Input {
            text: "Cannot connect to the daemon at x. Is it running?\n",
            words: &words,
            exit: Exit::Failure,
        };
        assert_eq!(recognises(&input), Match::No);
    }
}
