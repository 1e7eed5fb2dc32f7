//! Programs whose output can be distinguished from others by its first or last lines.

use super::line::{
    COMMIT_HEADS, NPM_ERRORS, is_build_step, is_coded, is_compiled, is_divider, is_formatted,
    is_go_package, is_harness, is_head_of_commit, is_in_file, is_jest_file, is_node_row,
    is_node_sign, is_npm, is_npm_error, is_numbered, is_outlined, is_rule, is_rust_format,
    is_typed, is_typed_file, is_unformatted, is_unittest, is_uv,
};
use crate::parsers::findings::diagnostics::is_caret;
use crate::parsers::findings::rustc;
use crate::parsers::tests::pytest;
use ethos_registry_core::find_text::FindText as _;

/// A program, or several with the same output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Ctest,
    Diff,
    RustFormat,
    GitLog,
    GitStatus,
    Ruff,
    Mypy,
    Pylint,
    Eslint,
    Tsc,
    Pip,
    Npm,
    NpmError,
    Maven,
    Cargo,
    CargoTest,
    GoTest,
    Pyright,
    Flake8,
    Black,
    Prettier,
    Uv,
    NodeTest,
    NodeTap,
    Docker,
}

impl Program {
    /// A command that prints such output.
    pub(super) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Pytest => &["pytest"],
            Self::Unittest => &["unittest"],
            Self::Jest => &["jest"],
            Self::Vitest => &["vitest"],
            Self::Ctest => &["ctest"],
            Self::Diff => &["git", "diff"],
            Self::RustFormat => &["cargo", "fmt"],
            Self::GitLog => &["git", "log"],
            Self::GitStatus => &["git", "status"],
            Self::Ruff => &["ruff", "check"],
            Self::Mypy => &["mypy"],
            Self::Pylint => &["pylint"],
            Self::Eslint => &["eslint"],
            Self::Tsc => &["tsc"],
            Self::Pip => &["pip", "install"],
            Self::Npm | Self::NpmError => &["npm", "install"],
            Self::Maven => &["mvn", "verify"],
            Self::Cargo => &["cargo", "build"],
            Self::CargoTest => &["cargo", "test"],
            Self::GoTest => &["go", "test"],
            Self::Pyright => &["pyright"],
            Self::Flake8 => &["flake8"],
            Self::Black => &["black", "--check"],
            Self::Prettier => &["prettier", "--check"],
            Self::Uv => &["uv", "pip", "install"],
            Self::NodeTest | Self::NodeTap => &["node", "--test"],
            Self::Docker => &["docker", "build"],
        }
    }

    /// The program whose output begins with `line`, which is followed by `behind`.
    pub(super) fn begun_by(line: &str, behind: &str) -> Option<Self> {
        match line.as_bytes().first()? {
            b'=' if pytest::begins_report(line) => Some(Self::Pytest),
            b'_' | b'-' if pytest::is_of_report(line) => Some(Self::Pytest),
            b'=' if is_divider(line) && is_unittest(behind) => Some(Self::Unittest),
            b'.' | b'F' | b'E' | b's' | b'x' if pytest::is_row_of_marks(line) => Some(Self::Pytest),
            b'P' | b'F' if is_jest_file(line) => Some(Self::Jest),
            b' ' if line.starts_with(" RUN  v") => Some(Self::Vitest),
            b'T' if line.starts_with("Test project /") => Some(Self::Ctest),
            b'T' if line.starts_with("TAP version ") && behind.starts_with("# Subtest: ") => {
                Some(Self::NodeTap)
            }
            b'*' if line.starts_with("************* Module ") => Some(Self::Pylint),
            b'A'..=b'Z' if behind.trim_start_matches(' ').starts_with("--> ") && is_rule(line) => {
                Some(Self::Ruff)
            }
            b'[' if line == "[INFO] Scanning for projects..." => Some(Self::Maven),
            b'r' if is_harness(line) => Some(Self::CargoTest),
            b'=' if line.starts_with("=== RUN   ") => Some(Self::GoTest),
            b'C' if line.starts_with("Collecting ") => Some(Self::Pip),
            b'O' if line.starts_with("Obtaining file://") => Some(Self::Pip),
            b' ' if is_step(line) => Some(Self::Cargo),
            b'e' | b'w' if is_diagnostic(line, behind) => Some(Self::Cargo),
            b'D' if is_rust_format(line) => Some(Self::RustFormat),
            b'n' if is_npm_error(line) => Some(Self::NpmError),
            b'd' if line.starts_with("diff ") => Some(Self::Diff),
            b'-' if line.starts_with("--- ") && behind.starts_with("+++ ") => Some(Self::Diff),
            b'c' if is_head_of_commit(line) => Some(Self::GitLog),
            b'O' if line.starts_with("On branch ") => Some(Self::GitStatus),
            b'H' if line.starts_with("HEAD detached ") => Some(Self::GitStatus),
            b'#' if is_build_step(line) => Some(Self::Docker),
            b'/' if is_typed_file(line, behind) => Some(Self::Pyright),
            b'w' | b'W' if is_unformatted(line) => Some(Self::Black),
            b'C' if line == "Checking formatting..." => Some(Self::Prettier),
            b'A' | b'I' | b'P' | b'R' | b'U' if is_uv(line) => Some(Self::Uv),
            0xE2 if is_node_row(line) => Some(Self::NodeTest),
            _ if is_in_file(behind) && !line.starts_with([' ', '\t']) => Some(Self::Eslint),
            _ => None,
        }
    }

    /// The program whose output ends with `line`, whatever it began with.
    pub(super) fn ended_by(line: &str) -> Option<Self> {
        match line.as_bytes().first()? {
            b'F' if line.starts_with("Found ") => found(line),
            b'A' if line == "All checks passed!" => Some(Self::Ruff),
            b'S' if line.starts_with("Success: no issues found in ") => Some(Self::Mypy),
            b'S' if line.starts_with("Successfully installed ") => Some(Self::Pip),
            b'Y' if line.starts_with("Your code has been rated at ") => Some(Self::Pylint),
            b'R' if line.starts_with("Ran all test suites") => Some(Self::Jest),
            b'R' if line.starts_with("Ran ") && line.has_text(" in ") => {
                (line.has_text(" tests in ") || line.has_text(" test in "))
                    .then_some(Self::Unittest)
            }
            b' ' if line.trim_start().starts_with("Duration  ") => Some(Self::Vitest),
            b'T' if line.starts_with("Total Test time (real) =") => Some(Self::Ctest),
            // A quiet run prints nothing else.
            b'T' if line.starts_with("Time:        ") => Some(Self::Jest),
            b'[' if line.starts_with("[INFO] Finished at: ") => Some(Self::Maven),
            b' ' if line.starts_with("    Finished ") => Some(Self::Cargo),
            b'e' if line.starts_with("error: could not compile ") => Some(Self::Cargo),
            // Tests that end the process have no result.
            b'e' if line.starts_with("error: test failed, ") => Some(Self::CargoTest),
            b't' if line.starts_with("test result: ") => Some(Self::CargoTest),
            b'o' | b'F' | b'?' if is_go_package(line) => Some(Self::GoTest),
            b'a' if is_npm(line, "added ") => Some(Self::Npm),
            b'#' if line.starts_with("# duration_ms ") => Some(Self::NodeTap),
            0xE2 if line.starts_with("\u{2139} duration_ms ") => Some(Self::NodeTest),
            0xE2 if line.starts_with('\u{2716}') && line.has_text(" problem") => Some(Self::Eslint),
            b'0'..=b'9' if is_typed(line) => Some(Self::Pyright),
            b'0'..=b'9' if is_formatted(line) => Some(Self::Black),
            b'A' if line == "All matched files use Prettier code style!" => Some(Self::Prettier),
            b'C' if line.starts_with("Code style issues ") => Some(Self::Prettier),
            b'E' if line.starts_with("Error occurred when checking code style ") => {
                Some(Self::Prettier)
            }
            b'=' | b'0'..=b'9' if pytest::is_verdict(line) => Some(Self::Pytest),
            _ => None,
        }
    }

    /// Whether there must have been output before `line`, with which it seems to begin.
    pub(super) fn is_begun_before(self, line: &str) -> bool {
        self == Self::Pytest && pytest::is_of_report(line)
    }

    /// Whether a verdict marks the end of the output; otherwise its lines are recognised one by one.
    pub(super) fn ends_with_a_verdict(self) -> bool {
        !matches!(
            self,
            Self::Diff
                | Self::RustFormat
                | Self::GitLog
                | Self::GitStatus
                | Self::Tsc
                | Self::NpmError
                | Self::Flake8
                | Self::Uv
        )
    }

    /// Whether only a verdict distinguishes its lines from those of others.
    pub(super) fn may_be_cut(self) -> bool {
        matches!(self, Self::Ruff | Self::Pylint | Self::Eslint | Self::Pip)
    }

    /// Whether an output without a verdict ends where that of `other` begins with `line`. What tests print may look
    /// like any output.
    pub(super) fn is_cut_by(self, other: Self, line: &str) -> bool {
        self.may_be_cut()
            || self == Self::Cargo
            || matches!(self, Self::Jest | Self::Vitest)
                && match other {
                    Self::Pytest => !pytest::is_of_report(line),
                    Self::Vitest | Self::Ctest => true,
                    _ => false,
                }
    }

    /// Whether `line` still belongs to an output after its verdict.
    pub(super) fn goes_on_with(self, line: &str) -> bool {
        match self {
            Self::Ruff => line.starts_with("[*] ") || line.starts_with("No fixes available"),
            Self::Eslint => line.has_text(" potentially fixable"),
            Self::Unittest => {
                line.starts_with("OK") || line.starts_with("FAILED (") || line == "NO TESTS RAN"
            }
            Self::Ctest => {
                line.starts_with([' ', '\t'])
                    || line.starts_with("The following tests ")
                    || line.starts_with("Errors while running CTest")
                    || line.starts_with("Output from these tests are in")
                    || line.starts_with("Use \"--rerun-failed")
            }
            Self::Jest => {
                line.starts_with("Ran all test suites") || line.starts_with("Force exiting Jest")
            }
            Self::Pip => line.starts_with("[notice] ") || line.starts_with("WARNING: Running pip"),
            Self::Npm => {
                line.starts_with("  ")
                    || line.ends_with(" looking for funding")
                    || line.starts_with("found ")
                    || line.has_text(" vulnerabilit")
                    || line.starts_with("To address ")
                    || line.starts_with("Run `npm audit`")
            }
            Self::Maven => {
                let levels = ["[INFO] ", "[WARNING] ", "[ERROR]"];
                levels.iter().any(|level| line.starts_with(level))
            }
            Self::CargoTest => {
                is_target(line)
                    || line.starts_with("error: test failed")
                    || line.starts_with("error: doctest failed")
                    || line.starts_with("Caused by:")
                    || line.starts_with("  process didn't exit ")
            }
            Self::Cargo => {
                line.starts_with("error: could not compile ")
                    || line.starts_with("warning: build failed")
                    || line.starts_with("For more information about ")
                    || line.starts_with("Some errors have detailed ")
            }
            Self::NodeTest => {
                line.starts_with([' ', '\t']) || line.starts_with("test at ") || is_node_sign(line)
            }
            Self::GoTest => line == "FAIL" || line.starts_with("exit status "),
            // A test may have printed what looks like the end of the run.
            Self::Pytest => pytest::is_of_report(line),
            Self::Tsc => {
                line.starts_with("Errors ") || line.starts_with("  ") && !is_outlined(line)
            }
            _ => false,
        }
    }

    /// Whether `line`, followed by `behind` and not in a hunk, belongs to an output without a verdict.
    pub(super) fn has(self, line: &str, behind: &str) -> bool {
        const OF_DIFF: [&str; 13] = [
            "diff ",
            "index ",
            "+++ ",
            "@@",
            "old mode ",
            "new mode ",
            "new file mode ",
            "deleted file mode ",
            "rename ",
            "copy ",
            "similarity index ",
            "dissimilarity index ",
            "Binary files ",
        ];
        const OF_STATUS: [&str; 9] = [
            "\t",
            "  (",
            "On branch ",
            "HEAD detached ",
            "Your branch ",
            "Changes ",
            "Untracked files:",
            "nothing ",
            "no changes ",
        ];
        const OF_UV: [&str; 7] = [
            " + ",
            " - ",
            " ~ ",
            "Downloading ",
            " Downloaded ",
            "   Building ",
            "      Built ",
        ];
        let begins = |beginnings: &[&str]| beginnings.iter().any(|text| line.starts_with(text));
        let of_diff = || {
            begins(&OF_DIFF)
                || line.starts_with('\\')
                || line.starts_with("--- ") && behind.starts_with("+++ ")
        };
        match self {
            Self::Diff => of_diff(),
            Self::GitLog => {
                line.starts_with(' ')
                    || line.starts_with("commit ")
                    || begins(&COMMIT_HEADS)
                    || of_diff()
            }
            Self::RustFormat => {
                line.starts_with(['+', '-'])
                    || is_rust_format(line)
                    || line.starts_with(' ') && !rustc::is_step(line)
            }
            Self::GitStatus => {
                begins(&OF_STATUS)
                    || line.starts_with("You ")
                    || line.starts_with("Unmerged paths:")
                    || line.starts_with("All conflicts fixed")
                    || line.starts_with("and have ")
            }
            // The pretty format shows source lines.
            Self::Tsc => {
                is_compiled(line)
                    || (line.starts_with("  ") || is_numbered(line))
                        && !is_outlined(line)
                        && Self::ended_by(line).is_none()
            }
            Self::Flake8 => {
                // Source lines are above a line with a caret.
                let shown = || is_caret(line) || behind.lines().next().is_some_and(is_caret);
                is_coded(line) || line.starts_with("Found ") || line.starts_with("[*] ") || shown()
            }
            Self::Uv => is_uv(line) || begins(&OF_UV),
            Self::NpmError => begins(&NPM_ERRORS) || line.starts_with("npm warn"),
            _ => true,
        }
    }
}

/// The program that printed `Found 3 errors.` or a similar line; the rest of the line shows which one.
fn found(line: &str) -> Option<Program> {
    let (count, rest) = line.strip_prefix("Found ")?.split_once(' ')?;
    if !count.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let rest = rest
        .strip_prefix("errors")
        .or_else(|| rest.strip_prefix("error"))?;
    if rest.has_text("(checked ") || rest.has_text("(errors prevented ") {
        Some(Program::Mypy)
    } else if rest == "." || rest.starts_with(" (") {
        Some(Program::Ruff)
    } else {
        rest.starts_with(" in ").then_some(Program::Tsc)
    }
}

/// Whether `line` is a step of cargo before its tests; their verbs are right-aligned.
fn is_step(line: &str) -> bool {
    const VERB_END: usize = 12;
    line.as_bytes().get(VERB_END) == Some(&b' ')
        && line.as_bytes().get(VERB_END - 1) != Some(&b' ')
        && rustc::is_step(line)
        && !is_target(line)
}

/// Whether `line` names the target that cargo tests next.
fn is_target(line: &str) -> bool {
    let step = line.trim_start_matches(' ');
    step.starts_with("Running ") || step.starts_with("Doc-tests ")
}

/// Whether `line`, followed by `behind`, is the first line of a diagnostic: `warning: unused variable`.
fn is_diagnostic(line: &str, behind: &str) -> bool {
    let is_head = ["error: ", "error[", "warning: "]
        .iter()
        .any(|head| line.starts_with(head));
    is_head && behind.trim_start_matches(' ').starts_with("--> ")
}
