//! Logs of jobs on a runner of GitHub or Azure: each line behind the time at which it came.
//!
//! ```text
//! 2026-01-02T10:00:00.1234567Z ##[group]Run pytest -q
//! 2026-01-02T10:00:00.1234568Z shell: /usr/bin/bash -e {0}
//! 2026-01-02T10:00:00.1234569Z ##[endgroup]
//! 2026-01-02T10:00:01.1234567Z ....F        [100%]
//! build  unit tests  2026-01-02T10:00:01.1234567Z ##[error]Process completed with exit code 1.
//! ```
//!
//! Without the times, what a step printed goes the way of an output of the command that it ran.

mod line;

use crate::family::{Family, Marks, Match};
use crate::input::{Exit, Input};
use crate::line::{is_bad, shorten};
use crate::nested::{self, WHOLE_BYTES};
use crate::output::Output;
use crate::parsers::logs::log;
use ethos_registry_core::command::producer;
use line::{Command, Stamped};

pub(crate) const FAMILY: Family = Family {
    name: "stamped",
    runs: |input| (log::FAMILY.runs)(input),
    marks: Marks::OneOf(&[&["-00T00:", "Z "], &["-00T00:", "Z\n"]]),
    recognises,
    reduce,
};

/// This many lines with a time prove the format, if at most one line in the second number has none.
const PROOFS: usize = 8;
const SHARE_WITHOUT: usize = 10;
const LINE_CHARS: usize = 240;

fn recognises(input: &Input<'_>) -> Match {
    let (mut with, mut without) = (0_usize, 0_usize);
    for line in input.beginning().filter(|line| !line.is_empty()) {
        if Stamped::of(line).is_some() {
            with += 1;
        } else {
            without += 1;
        }
        if with + without >= PROOFS * 4 {
            break;
        }
    }
    if with >= PROOFS && without * SHARE_WITHOUT <= with {
        Match::Certain
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader {
        step: Step::default(),
        place: "",
        in_group: false,
        output,
    };
    for line in input.lines() {
        match Stamped::of(line) {
            Some(stamped) => reader.line(stamped),
            None => reader.text(line),
        }
    }
    reader.end(Exit::Unknown);
}

/// The output of a step so far.
#[derive(Default)]
struct Step<'a> {
    /// The first line of the command.
    title: &'a str,
    text: String,
}

struct Reader<'a, 'o> {
    step: Step<'a>,
    /// The job and the step, if each line contains them.
    place: &'a str,
    /// Whether the lines describe how the step is run, not its output.
    in_group: bool,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self, stamped: Stamped<'a>) {
        if stamped.place != self.place {
            self.end(Exit::Success);
            self.place = stamped.place;
            self.in_group = false;
            self.step.title = "";
        }
        match Command::of(stamped.text) {
            Some(Command::Group(title)) if title.starts_with("Run ") => {
                self.end(Exit::Success);
                self.in_group = true;
                self.step.title = title;
            }
            Some(Command::Group(title)) => self.text(title),
            Some(Command::EndGroup) => self.in_group = false,
            Some(Command::Error(_)) => {
                self.end(Exit::Failure);
                self.output.failed();
                self.output.fact(&shorten(stamped.text, LINE_CHARS));
            }
            Some(Command::Warning) => self.output.fact(&shorten(stamped.text, LINE_CHARS)),
            Some(Command::Noise) => {}
            None if self.in_group && !is_bad(stamped.text) => {}
            None => self.text(stamped.text),
        }
    }

    fn text(&mut self, line: &str) {
        self.step.text.push_str(line);
        self.step.text.push('\n');
    }

    /// Writes the output of the step; `exit` is its exit status as far as the runner reports it.
    fn end(&mut self, exit: Exit) {
        let text = std::mem::take(&mut self.step.text);
        if text.trim_ascii().is_empty() {
            return;
        }
        let command = self.step.title.strip_prefix("Run ").unwrap_or_default();
        let words = producer(command).unwrap_or_default();
        let input = Input {
            text: &text,
            words: &words,
            exit,
        };
        if exit != Exit::Success || text.len() >= WHOLE_BYTES {
            for title in [self.place, self.step.title] {
                if !title.is_empty() {
                    self.output.context(&shorten(title, LINE_CHARS));
                }
            }
        }
        match nested::reduce(&input, &FAMILY, self.output) {
            Some(told) if told.failure => self.output.failed(),
            Some(_) => {}
            None => nested::whole(&text, self.output),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::tested::unmarked as terminal;

    fn reduced(text: &str, command: &str, exit: Exit) -> (String, Option<&'static str>) {
        terminal::reduce(text, Some(command), exit, usize::MAX).unwrap()
    }

    #[test]
    fn a_log_of_a_service_is_no_log_of_a_runner() {
        let text: Vec<String> = (0..60)
            .map(|number| {
                format!("2026-01-02T10:00:{number:02}.123456Z INFO oak.leaf took {number} ms\n")
            })
            .collect();
        let (_, family) = reduced(&text.concat(), "cat service.log", Exit::Success);
        assert_ne!(family, Some("stamped"));
    }
}
