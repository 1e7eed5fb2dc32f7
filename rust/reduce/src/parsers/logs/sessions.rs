//! Runs of several commands: tox, nox, pre-commit, scripts of packages that call each other.
//!
//! The runner states which command gave which part of the output: each part goes the way of an output of
//! that command, and of the lines of the runner those stay that say what failed.

mod head;

use crate::family::{Family, Marks, Match};
use crate::input::{Exit, Input};
use crate::line::shorten;
use crate::nested::{self, WHOLE_BYTES};
use crate::output::Output;
use crate::output::Told;
use ethos_registry_core::command::producer;
use head::{Check, Head, Runner};

pub(crate) const FAMILY: Family = Family {
    name: "sessions",
    runs,
    marks: Marks::OneOf(&[
        &["\nnox > Running session "],
        &[": commands"],
        &["...Failed"],
        &["...Passed"],
        &["...Skipped"],
        &["...("],
        &["\n> ", "@0"],
    ]),
    recognises,
    reduce,
};

const PROGRAMS: [&str; 4] = ["tox", "nox", "pre-commit", "prek"];
const HEAD_CHARS: usize = 160;
/// Checks that went well and are shown one by one.
const PASSED_CHECKS: usize = 40;

fn runs(input: &Input<'_>) -> bool {
    PROGRAMS.contains(&input.program())
}

fn recognises(input: &Input<'_>) -> Match {
    if runner(input).is_some() {
        Match::Certain
    } else {
        Match::No
    }
}

/// Who wrote the lines around the outputs of commands.
fn runner(input: &Input<'_>) -> Option<Runner> {
    let mut found: Option<(Runner, usize)> = None;
    for line in input.beginning() {
        let Some(runner) = Runner::of(line) else {
            continue;
        };
        let proofs = match found {
            Some((other, proofs)) if other == runner => proofs + 1,
            Some(_) => continue,
            None => 1,
        };
        if proofs >= runner.proofs() {
            return Some(runner);
        }
        found = Some((runner, proofs));
    }
    None
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let Some(runner) = runner(input) else {
        return;
    };
    let mut reader = Reader {
        runner,
        summed_up: input
            .ending()
            .any(|line| matches!(runner.head(line), Some(Head::Summary(_)))),
        part: Part::default(),
        title: None,
        failed: false,
        passed: 0,
        seen: false,
        output,
    };
    let mut start = 0;
    for line in input.text.split_inclusive('\n') {
        let end = start + line.len();
        match runner.head(line.trim_end()) {
            // What a check states may look like more about it.
            Some(head) if !(reader.seen && matches!(head, Head::Detail(_))) => {
                let text = input.text.get(reader.part.start..start).unwrap_or_default();
                reader.head(head, text);
                reader.part.start = end;
            }
            _ => reader.seen |= !line.trim().is_empty(),
        }
        start = end;
    }
    let text = input.text.get(reader.part.start..).unwrap_or_default();
    if runner == Runner::Scripts && reader.seen {
        // The last script decides how the run ended, and is shown as one that ended so.
        reader.output.failed();
    }
    let exit = if reader.failed {
        Exit::Success
    } else {
        input.exit
    };
    reader.part(text, exit);
}

/// The part of the output that is being read.
#[derive(Default)]
struct Part<'a> {
    start: usize,
    /// The command that gave it.
    command: &'a str,
    /// How that ended, when the runner states it before it.
    ended: Option<Exit>,
}

struct Reader<'a, 'o> {
    runner: Runner,
    /// Whether a summary at the end shows again how each command ended.
    summed_up: bool,
    part: Part<'a>,
    /// The title of the command, until something of it is written.
    title: Option<&'a str>,
    /// Whether a part was about a failure.
    failed: bool,
    /// Checks that went well.
    passed: usize,
    /// Whether the part has a line of its own.
    seen: bool,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    fn head(&mut self, head: Head<'a>, text: &'a str) {
        if let Head::Detail(line) = head {
            self.detail(line);
            return;
        }
        let ended = match head {
            Head::Ended(exit, _) => exit,
            Head::Verdict(line) | Head::Note(line) if tells_failure(line) => Exit::Failure,
            _ if self.runner == Runner::PreCommit => Exit::Unknown,
            // Who goes on to the next command is content with this one.
            _ => Exit::Success,
        };
        self.part(text, ended);
        match head {
            Head::Title(line) => self.title = Some(line),
            Head::Command(command) => self.part.command = command,
            Head::Check(check) => self.check(check),
            Head::Ended(exit, line) => {
                if exit == Exit::Failure {
                    self.output.failed();
                    self.output.fact(&shorten(line, HEAD_CHARS));
                }
            }
            Head::Verdict(line) if !self.summed_up => self.fact(line),
            Head::Summary(line) | Head::Note(line) => self.fact(line),
            Head::Verdict(_) | Head::Detail(_) | Head::Noise => {}
        }
    }

    /// A line of the runner; one of a failure is what the exit code states.
    fn fact(&mut self, line: &str) {
        if tells_failure(line) {
            self.output.failed();
        }
        self.output.fact(&shorten(line, HEAD_CHARS));
    }

    /// The number of points between a title and its verdict is not news.
    fn check(&mut self, check: Check<'a>) {
        if check.ended == Exit::Failure {
            self.output.failed();
        }
        self.passed += usize::from(check.ended == Exit::Success);
        if check.ended == Exit::Failure || self.passed <= PASSED_CHECKS {
            let row = format!("{}...{}", check.title, check.verdict);
            self.output.summary(&row, 1);
        }
        self.part.command = check.title;
        self.part.ended = Some(check.ended);
    }

    fn detail(&mut self, line: &'a str) {
        if line != "- exit code: 1" {
            self.output.fact(line);
        }
    }

    /// Writes what a command gave.
    fn part(&mut self, text: &str, ended: Exit) {
        let part = std::mem::take(&mut self.part);
        if !std::mem::take(&mut self.seen) {
            return;
        }
        let words = producer(part.command).unwrap_or_default();
        let input = Input {
            text,
            words: &words,
            exit: part.ended.unwrap_or(ended),
        };
        let matters = input.exit != Exit::Success || text.len() >= WHOLE_BYTES;
        if let Some(title) = self.title.take().filter(|_| matters) {
            self.output.context(&shorten(title, HEAD_CHARS));
        }
        if self.runner == Runner::Tox && input.exit != Exit::Success && !part.command.is_empty() {
            self.output.context(&shorten(part.command, HEAD_CHARS));
        }
        match nested::reduce(&input, &FAMILY, self.output) {
            Some(Told { failure }) => self.failed |= failure,
            None => nested::whole(text, self.output),
        }
    }
}

/// Whether a line of a runner states that a command failed, or that it could not be run.
fn tells_failure(line: &str) -> bool {
    ["FAIL", "failed", "aborted", "error"]
        .iter()
        .any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::pipeline::terminal;

    fn reduced(text: &str, command: &str) -> String {
        terminal::reduce(text, Some(command), Exit::Failure, usize::MAX)
            .unwrap()
            .0
    }

    fn passed(count: usize) -> String {
        (0..count)
            .map(|number| format!("tests/test_oak.py::test_{number} PASSED\n"))
            .collect::<Vec<_>>()
            .concat()
    }

    #[test]
    fn each_part_of_a_tox_run_is_reduced_as_its_command() {
        let text = format!(
            "lint: commands[0]> ruff check src\nF401 [*] `os` imported but unused\n --> src/a.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove it\n\nFound 1 error.\nlint: exit 1 (0.05 seconds) /srv/shop> ruff check src pid=7\nlint: FAIL ✖ in 1.16 seconds\nunit: commands[0]> pytest -v\n===== test session starts =====\n{}===== 30 passed in 0.20s =====\nunit: OK ✔ in 3.1 seconds\n  lint: FAIL code 1 (1.16=setup[1.11]+cmd[0.05] seconds)\n  unit: OK (3.10=setup[1.11]+cmd[0.05] seconds)\n  evaluation failed :( (4.30 seconds)\n",
            passed(30)
        );
        assert_eq!(
            reduced(&text, "tox run"),
            "ruff check src\nsrc/a.py:1:8: F401 [*] `os` imported but unused\n[7 lines left out]\n\
            Found 1 error.\nlint: exit 1\n[33 lines left out]\n30 passed in 0.20s\n\
            [1 line left out]\nlint: FAIL code 1\nunit: OK\nevaluation failed :(\n\
            [41 of 49 lines left out]"
        );
    }

    #[test]
    fn a_nox_run_keeps_failures_and_its_summary() {
        let text = format!(
            "nox > Running session tests\nnox > Creating virtual environment (virtualenv) in .nox/tests\nnox > pytest -v\n===== test session starts =====\n{}===== 60 passed in 0.20s =====\nnox > Session tests was successful.\nnox > Running session docs\nnox > sphinx-build docs out\nreading sources\nTheme error: no theme named oak\nnox > Command sphinx-build docs out failed with exit code 2\nnox > Session docs failed.\nnox > Ran multiple sessions:\nnox > * tests: success\nnox > * docs: failed\n",
            passed(60)
        );
        assert_eq!(
            reduced(&text, "nox"),
            "[64 lines left out]\n60 passed in 0.20s\n[3 lines left out]\nreading sources\n\
            Theme error: no theme named oak\n\
            nox > Command sphinx-build docs out failed with exit code 2\n[2 lines left out]\n\
            nox > * tests: success\nnox > * docs: failed\n[69 of 75 lines left out]"
        );
    }

    #[test]
    fn a_check_keeps_its_title_and_what_it_says() {
        let points = ".".repeat(60);
        let text = format!(
            "[INFO] Initializing environment for oak.\ntidy up{points}Passed\nspelling{points}Failed\n- hook id: spell\n- exit code: 65\n\nnotes.md:4: adress ==> address\n\ncheck toml{points}(no files to check)Skipped\nformat{points}Failed\n- hook id: format\n- files were modified by this hook\n\nreformatted oak.py\n"
        );
        assert_eq!(
            reduced(&text, "make lint"),
            "tidy up...Passed\nspelling...Failed\n[1 line left out]\n- hook id: spell\n\
            - exit code: 65\nnotes.md:4: adress ==> address\n\
            check toml...(no files to check)Skipped\nformat...Failed\n- hook id: format\n\
            - files were modified by this hook\nreformatted oak.py\n[4 of 14 lines left out]"
        );
    }

    #[test]
    fn what_a_check_says_may_look_like_more_about_it() {
        let points = ".".repeat(60);
        let text = format!(
            "tidy{points}Passed\nyaml{points}Failed\n- hook id: yaml\n\n- repo: odd\n- hook id: oak\n"
        );
        let reduced = reduced(&text, "pre-commit run -a");
        assert!(
            reduced.contains("- repo: odd\n- hook id: oak\n"),
            "{reduced}"
        );
    }

    #[test]
    fn scripts_that_call_each_other_are_told_apart() {
        let text = format!(
            "\n> shop@1.0.0 check\n> npm run unit && npm run lint\n\n\n> shop@1.0.0 unit\n> pytest -v\n\n===== test session starts =====\n{}===== 40 passed in 0.20s =====\n\n> shop@1.0.0 lint\n> mypy .\n\na.py:3: error: No type  [no-untyped-def]\nFound 1 error in 1 file (checked 3 source files)\n",
            passed(40)
        );
        assert_eq!(
            reduced(&text, "npm run check"),
            "[5 lines left out]\n> shop@1.0.0 unit\n[43 lines left out]\n40 passed in 0.20s\n\
            > shop@1.0.0 lint\n> mypy .\na.py:3: error: No type  [no-untyped-def]\n\
            Found 1 error in 1 file (checked 3 source files)\n[50 of 56 lines left out]"
        );
    }

    #[test]
    fn a_failed_run_without_a_failure_in_sight_is_not_called_passed() {
        let text = format!(
            "unit: commands[0]> pytest -v\n===== test session starts =====\n{}===== 90 passed in 0.20s =====\nkilled\n",
            passed(90)
        );
        let reduced = reduced(&text, "tox");
        assert!(reduced.contains("killed"), "{reduced}");
        assert!(reduced.contains("test_0 PASSED"), "{reduced}");
    }
}
