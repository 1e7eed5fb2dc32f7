//! Output of playbooks: the results of each task by host, reasons for failures, and the recap.

mod adhoc;
mod result;
mod task;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::{is_bad, is_play, shorten};
use crate::output::Output;
use crate::rows::report::squeezed;
use crate::rows::unknown::Unknown;
use result::Outcome;
use task::Task;

pub(crate) const FAMILY: Family = Family {
    name: "ansible",
    runs: |input| matches!(input.program(), "ansible" | "ansible-playbook"),
    marks: Marks::OneOf(&[
        &["\nTASK ["],
        &["\nPLAY ["],
        &["\nPLAY RECAP *"],
        &[" | ", " => {"],
        &[" | ", " >>"],
    ]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 400;
/// How many lines below a failure or a value are shown.
const LINES_BELOW: usize = 40;
/// The counts of a recap that report a failure.
const BAD_COUNTS: [&str; 2] = ["failed=", "unreachable="];

fn recognises(input: &Input<'_>) -> Match {
    let mut heads = 0;
    let mut outcomes = 0;
    for line in input.beginning().chain(input.ending()) {
        heads += usize::from(is_play(line) || is_recap(line));
        outcomes += usize::from(result::outcome(line).is_some());
    }
    if heads == 0 && adhoc::is_in(input) {
        return Match::Certain;
    }
    match (heads, outcomes) {
        (2.., 1..) => Match::Certain,
        (1.., _) => Match::Likely,
        _ => Match::No,
    }
}

fn is_recap(line: &str) -> bool {
    line.starts_with("PLAY RECAP *")
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if !input.beginning().any(is_play) && adhoc::is_in(input) {
        return adhoc::reduce(input, output);
    }
    let mut reader = Reader {
        task: Task::default(),
        in_recap: false,
        lines_below: 0,
        unknown: Unknown::default(),
        output,
    };
    let mut lines = input.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(outcome) = result::outcome(line) else {
            reader.line(line);
            continue;
        };
        // Results that are not on one line continue in the lines below, up to the closing bracket.
        let opened = outcome.told == "{";
        let mut body = String::from(if opened { "{" } else { outcome.told });
        let mut more = 0;
        if opened {
            // If the result was cut, what follows is not a member.
            while let Some(line) = lines.next_if(|line| line.starts_with([' ', '}'])) {
                more += 1;
                if body.len() < result::MOST_BYTES {
                    body.push(' ');
                    body.push_str(line.trim());
                }
                if line.starts_with('}') {
                    break;
                }
            }
        }
        reader.outcome(outcome, &body, more);
    }
    reader.closes();
    reader.unknown.write(reader.output);
}

struct Reader<'a, 'o> {
    task: Task<'a>,
    in_recap: bool,
    /// Lines of a multi-line result may follow, in some output formats.
    lines_below: usize,
    /// Lines that are not results.
    unknown: Unknown<'a>,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self, line: &'a str) {
        if is_play(line) || is_recap(line) {
            self.closes();
            self.in_recap = is_recap(line);
            self.output.fact(line.trim_end_matches('*').trim_end());
        } else if self.in_recap && line.contains(" : ok=") {
            let failed = BAD_COUNTS
                .iter()
                .any(|count| line.split(count).skip(1).any(|rest| !rest.starts_with('0')));
            if failed {
                self.output.failed();
            }
            self.output.fact(&squeezed(line));
        } else if self.lines_below > 0 && line.starts_with(' ') {
            self.lines_below -= 1;
            self.output.fact(&shorten(line, LINE_CHARS));
        } else if line == "...ignoring" {
            // The failure of the host above was ignored.
            self.output.fact(line);
        } else if self.task.is_change(line) {
        } else if is_bad(line) || line.starts_with('[') {
            self.unknown.write(self.output);
            self.output.fact(&shorten(line, LINE_CHARS));
        } else {
            self.unknown.push(line);
        }
    }

    fn outcome(&mut self, outcome: Outcome<'a>, body: &str, more: usize) {
        self.unknown.write(self.output);
        let is_below = outcome.told.is_empty() && outcome.is_failure() || outcome.shows_below();
        self.lines_below = if is_below { LINES_BELOW } else { 0 };
        self.task.outcome(outcome, body, more, self.output);
    }

    /// Writes the results of the task that were not shown yet.
    fn closes(&mut self) {
        self.unknown.write(self.output);
        std::mem::take(&mut self.task).write(self.output);
    }
}

#[cfg(test)]
mod tests;
