//! Lines at the start of an output whose first line does not identify the program.

use super::line::{is_compiled, is_divider, is_go_package, is_node_sign, is_unformatted};
use super::program::Program;
use crate::line::beginnings::Beginnings;
use crate::line::place;
use crate::parsers::tests::pytest;
use ethos_registry_core::find_text::FindText as _;

static OF_GO: Beginnings<8> = Beginnings::new([
    "--- ",
    "=== ",
    "panic: ",
    "FAIL",
    "PASS",
    "# ",
    "go: ",
    "Benchmark",
]);
static OF_NPM: Beginnings<6> =
    Beginnings::new(["npm ", "> ", "up to date", "changed ", "removed ", "added "]);
static OF_PIP: Beginnings<9> = Beginnings::new([
    "Requirement already ",
    "Processing ",
    "Looking in ",
    "Using cached ",
    "Downloading ",
    "Installing ",
    "Defaulting to user ",
    "WARNING: ",
    "DEPRECATION: ",
]);

/// Whether `line` may belong to `program`; programs that always start with a known line accept any line.
pub(super) fn is_own(program: Program, line: &str) -> bool {
    if line.is_empty() {
        return false;
    }
    match program {
        Program::Pytest => pytest::is_of_quiet_run(line),
        Program::Unittest => {
            pytest::is_of_quiet_run(line)
                || is_divider(line)
                || line.has_text(" ... ")
                || line.split_text(" (").is_some_and(|(test, _)| is_name(test))
        }
        Program::GoTest => is_go_package(line) || OF_GO.begin(line) || line.has_text(".go:"),
        Program::Ruff | Program::Mypy => {
            // In the table of statistics the count is before the code.
            let counted = line
                .trim_start_matches(' ')
                .starts_with(|digit: char| digit.is_ascii_digit())
                && line.contains('\t');
            counted
                || place(line).is_some()
                || line.ends_with(".py:")
                || line.starts_with("error: ")
        }
        Program::Tsc => is_compiled(line),
        Program::Pyright => line.has_text(" - error") || line.has_text(" - warning"),
        Program::Black => {
            is_unformatted(line)
                || line.starts_with("reformatted ")
                || line.starts_with("unformatted: ")
                || line.starts_with("error: ")
                || !line.is_ascii()
        }
        Program::NodeTest => is_node_sign(line),
        Program::NodeTap => {
            line.starts_with([' ', '#'])
                || line.starts_with("ok ")
                || line.starts_with("not ok ")
                || line.starts_with("1..")
        }
        Program::Prettier => line.starts_with('['),
        Program::Npm => OF_NPM.begin(line),
        Program::Pip => OF_PIP.begin(line.trim_start_matches(' ')),
        _ => true,
    }
}

/// Whether `text` may be the name of a Python test.
fn is_name(text: &str) -> bool {
    text.bytes()
        .all(|sign| sign.is_ascii_alphanumeric() || sign == b'_')
}
