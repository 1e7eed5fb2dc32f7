//! The lines that a runner of commands prints around their output.

use crate::input::Exit;
use ethos_registry_core::find_text::FindText as _;

/// A line of the runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head<'a> {
    /// The title of the command below it.
    Title(&'a str),
    /// What follows is the output of this command.
    Command(&'a str),
    /// `title......Failed`: a check and its result; what follows is its output.
    Check(Check<'a>),
    /// A continuation of the check above.
    Detail(&'a str),
    /// The result of the command above.
    Ended(Exit, &'a str),
    /// A verdict that the summary at the end repeats.
    Verdict(&'a str),
    /// A line of that summary.
    Summary(&'a str),
    /// A message of the runner that is kept.
    Note(&'a str),
    /// A message that is left out.
    Noise,
}

/// A check with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Check<'a> {
    pub(super) title: &'a str,
    /// The text after the row of dots.
    pub(super) verdict: &'a str,
    pub(super) ended: Exit,
}

/// The runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    Tox,
    Nox,
    PreCommit,
    Scripts,
}

impl Runner {
    /// The runner that `line` alone proves.
    pub(super) fn of(line: &str) -> Option<Self> {
        if line.starts_with("nox > Running session ") {
            return Some(Self::Nox);
        }
        let proved = tox_command(line)
            .is_some_and(|(step, _)| step.starts_with("commands") && step.ends_with(']'));
        if proved {
            return Some(Self::Tox);
        }
        if check(line).is_some() {
            return Some(Self::PreCommit);
        }
        script(line).map(|_| Self::Scripts)
    }

    /// How many such lines prove it.
    pub(super) fn proofs(self) -> usize {
        match self {
            Self::Tox | Self::Nox => 1,
            Self::PreCommit | Self::Scripts => 2,
        }
    }

    /// The meaning of `line`, if the runner printed it.
    pub(super) fn head(self, line: &str) -> Option<Head<'_>> {
        match self {
            Self::Tox => tox(line),
            Self::Nox => nox(line),
            Self::PreCommit => pre_commit(line),
            Self::Scripts => scripts(line),
        }
    }
}

/// `lint: commands[0]> ruff check .`, `py39 run-test: commands[0] | pytest`: the step and the command.
fn tox_command(line: &str) -> Option<(&str, &str)> {
    let (environment, rest) = line.split_text(": ")?;
    if !is_environment(environment.trim_end_matches(" run-test")) {
        return None;
    }
    let (step, command) = rest.split_text("> ").or_else(|| rest.split_text(" | "))?;
    let name = step.split('[').next().unwrap_or(step);
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then_some((step, command))
}

fn is_environment(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

/// Words after the name of an environment, and the result that they mean at the beginning of a line.
const TOX_VERDICTS: [(&str, Exit); 4] = [
    ("OK", Exit::Success),
    ("SKIP", Exit::Success),
    ("FAIL", Exit::Failure),
    ("IGNORED FAIL", Exit::Failure),
];

fn tox(line: &str) -> Option<Head<'_>> {
    let row = line.strip_prefix("  ").unwrap_or(line);
    if row.starts_with("evaluation failed :(") || row.starts_with("congratulations :)") {
        return Some(Head::Summary(without_duration(row)));
    }
    if let Some((_, command)) = tox_command(line) {
        return Some(Head::Command(command));
    }
    let (environment, rest) = row.split_text(": ")?;
    if !is_environment(environment) {
        return None;
    }
    if TOX_VERDICTS
        .iter()
        .any(|(word, _)| starts_with_word(rest, word))
    {
        return Some(if row.len() < line.len() {
            Head::Summary(without_duration(row))
        } else {
            Head::Verdict(row)
        });
    }
    if let Some(code) = rest.strip_prefix("exit ") {
        let ended = if starts_with_word(code, "0") {
            Exit::Success
        } else {
            Exit::Failure
        };
        return Some(Head::Ended(ended, without_duration(row)));
    }
    let told = [
        "failed with ",
        "skipped because ",
        "internal error",
        "commands failed",
    ];
    told.iter()
        .any(|words| rest.starts_with(words))
        .then_some(Head::Note(row))
}

/// `row` without the times in brackets at its end.
fn without_duration(row: &str) -> &str {
    row.split_once(" (").map_or(row, |(row, _)| row)
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(|sign: char| sign.is_ascii_alphanumeric()))
}

/// Such a line is at least as wide as a terminal.
const CHECK_BYTES: usize = 70;
const CHECK_VERDICTS: [(&str, Exit); 3] = [
    ("Failed", Exit::Failure),
    ("Passed", Exit::Success),
    ("Skipped", Exit::Success),
];

fn nox(line: &str) -> Option<Head<'_>> {
    let text = line.strip_prefix("nox > ")?;
    let noise = [
        "Running session ",
        "Creating virtual environment",
        "Re-using existing virtual environment",
    ];
    let begins_run = text.starts_with("Ran ") && text.ends_with(':');
    Some(
        if begins_run || noise.iter().any(|words| text.starts_with(words)) {
            Head::Noise
        } else if text.starts_with("* ") {
            Head::Summary(line)
        } else if text.starts_with("Command ") && text.contains(" failed with exit code ") {
            Head::Ended(Exit::Failure, line)
        } else if text.starts_with("Session ")
            && (text.contains(" was successful") || text.ends_with(" failed."))
        {
            Head::Verdict(line)
        } else if text.starts_with(|sign: char| sign.is_ascii_uppercase()) {
            Head::Note(line)
        } else {
            Head::Command(text)
        },
    )
}

fn check(line: &str) -> Option<Check<'_>> {
    let (word, ended) = CHECK_VERDICTS
        .into_iter()
        .find(|(word, _)| line.ends_with(word))?;
    let rest = line.strip_suffix(word)?;
    // `title......(no files to check)Skipped`
    let dotted = rest
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once('('))
        .map_or(rest, |(dotted, _)| dotted);
    let title = dotted.trim_end_matches('.');
    let is_title = !title.is_empty() && !title.starts_with([' ', '.']);
    let is_wide = line.len() >= CHECK_BYTES;
    (is_wide && is_title && dotted.len() >= title.len() + 3).then_some(Check {
        title,
        verdict: line.get(dotted.len()..)?,
        ended,
    })
}

fn pre_commit(line: &str) -> Option<Head<'_>> {
    if let Some(check) = check(line) {
        return Some(Head::Check(check));
    }
    if line.starts_with("[INFO] ") || line.starts_with("- duration: ") {
        return Some(Head::Noise);
    }
    let details = [
        "- hook id: ",
        "- exit code: ",
        "- files were modified by this hook",
    ];
    details
        .iter()
        .any(|words| line.starts_with(words))
        .then_some(Head::Detail(line))
}

/// `> shop@1.0.0 lint`, the title of a script of a package.
fn script(line: &str) -> Option<&str> {
    let (package, script) = line.strip_prefix("> ")?.split_once(' ')?;
    let (name, version) = package.rsplit_once('@')?;
    let is_script = !name.is_empty()
        && version.starts_with(|sign: char| sign.is_ascii_digit())
        && !script.trim_end().is_empty();
    is_script.then_some(script)
}

fn scripts(line: &str) -> Option<Head<'_>> {
    if script(line).is_some() {
        return Some(Head::Title(line));
    }
    // The command follows the title of its script. A failure of pytest marks its source line in the same way, with more
    // blanks.
    let command = line.strip_prefix("> ")?;
    (!command.starts_with(' ')).then_some(Head::Command(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIDY_UP: &str =
        "tidy up.................................................................Failed";
    const TIDY: &str =
        "tidy...............................................(no files to check)Skipped";

    #[test]
    fn lines_of_the_runners_are_told_apart() {
        for (runner, line, head) in [
            (
                Runner::Tox,
                "py311: commands[0]> pytest -q",
                Some(Head::Command("pytest -q")),
            ),
            (
                Runner::Tox,
                "py27 run-test: commands[0] | pytest",
                Some(Head::Command("pytest")),
            ),
            (
                Runner::Tox,
                "lint: exit 2 (0.05 seconds) /a> ruff .",
                Some(Head::Ended(Exit::Failure, "lint: exit 2")),
            ),
            (
                Runner::Tox,
                "lint: FAIL ✖ in 1.16 seconds",
                Some(Head::Verdict("lint: FAIL ✖ in 1.16 seconds")),
            ),
            (
                Runner::Tox,
                "  lint: FAIL code 2 (1.16=setup[1.11]+cmd[0.05] seconds)",
                Some(Head::Summary("lint: FAIL code 2")),
            ),
            (Runner::Tox, "ERROR: test_oak (a.b)", None),
            (Runner::Tox, "FAIL: test_oak", None),
            (
                Runner::Nox,
                "nox > mypy src",
                Some(Head::Command("mypy src")),
            ),
            (
                Runner::Nox,
                "nox > Session a skipped: no oak.",
                Some(Head::Note("nox > Session a skipped: no oak.")),
            ),
            (
                Runner::Nox,
                "nox > * a: success",
                Some(Head::Summary("nox > * a: success")),
            ),
            (Runner::Nox, "mypy > b", None),
            (
                Runner::PreCommit,
                TIDY_UP,
                Some(Head::Check(Check {
                    title: "tidy up",
                    verdict: "Failed",
                    ended: Exit::Failure,
                })),
            ),
            (
                Runner::PreCommit,
                TIDY,
                Some(Head::Check(Check {
                    title: "tidy",
                    verdict: "(no files to check)Skipped",
                    ended: Exit::Success,
                })),
            ),
            (Runner::PreCommit, "test_a Failed", None),
            (Runner::PreCommit, "test_a....Failed", None),
            (
                Runner::Scripts,
                "> shop@1.0.0 lint",
                Some(Head::Title("> shop@1.0.0 lint")),
            ),
            (
                Runner::Scripts,
                "> eslint .",
                Some(Head::Command("eslint .")),
            ),
        ] {
            assert_eq!(runner.head(line), head, "{line}");
        }
    }

    #[test]
    fn a_line_of_source_that_pytest_marks_is_no_command() {
        assert_eq!(Runner::Scripts.head(">       raise KeyError(7)"), None);
    }

    #[test]
    fn ordinary_lines_prove_no_runner() {
        for line in [
            "a.py:1: error: x> y",
            "> quoted",
            "all tests Passed",
            "note: commands> x",
            "... Failed",
        ] {
            assert_eq!(Runner::of(line), None, "{line}");
        }
    }
}
