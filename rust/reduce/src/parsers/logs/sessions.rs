//! Runs of several commands: tox, nox, pre-commit, scripts of packages that call each other.
//!
//! The runner shows which command printed which part of the output. Each part is reduced like a separate output of
//! that command, and lines of the runner that report a failure are kept.

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
/// How many successful checks are shown individually.
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

/// The runner.
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
            // The output of a check may look like a continuation of its line.
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
        // The last script decides how the run ended, and gets the exit status of the run.
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
    /// The command that printed it.
    command: &'a str,
    /// Its exit status, if the runner prints that before the output.
    ended: Option<Exit>,
}

struct Reader<'a, 'o> {
    runner: Runner,
    /// Whether a summary at the end repeats the results of all commands.
    summed_up: bool,
    part: Part<'a>,
    /// The title of the command, until a part of its output is written.
    title: Option<&'a str>,
    /// Whether a part reported a failure.
    failed: bool,
    /// Checks that succeeded.
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
            // A runner that continues with the next command accepts the result of this one.
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

    /// Writes a line of the runner; a failure explains the exit code.
    fn fact(&mut self, line: &str) {
        if tells_failure(line) {
            self.output.failed();
        }
        self.output.fact(&shorten(line, HEAD_CHARS));
    }

    /// The number of dots between a title and its verdict has no meaning.
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

    /// Writes the output of a command.
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

/// Whether a line of a runner reports that a command failed, or that it could not be run.
fn tells_failure(line: &str) -> bool {
    ["FAIL", "failed", "aborted", "error"]
        .iter()
        .any(|word| line.contains(word))
}
