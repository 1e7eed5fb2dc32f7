//! What several tasks print at once, each line behind the name of its task: turbo, `pnpm -r`, concurrently,
//! containers, ant.
//!
//! ```text
//! @shop/api:test: > node --test
//! packages/api test: ok 1 - adds
//! api-1  | ok 1 - adds
//! [api] ok 1 - adds
//!     [javac] Cart.java:3: error: cannot find symbol
//! ```
//!
//! The lines of a task, without its name, go the way of an output of their own.

mod runner;

use hashbrown::HashMap;

use crate::family::{Family, Marks, Match};
use crate::input::{Exit, Input};
use crate::line::shorten;
use crate::nested;
use crate::output::Output;
use crate::rows::unknown::Unknown;
use ethos_registry_core::command::producer;
use runner::{Line, Runner};

pub(crate) const FAMILY: Family = Family {
    name: "tasks",
    runs: |_| false,
    marks: Marks::OneOf(&[
        &[": cache "],
        &["\nScope: ", " workspace projects"],
        &["] ", " exited with code 0"],
        &["\nBuildfile: "],
        &["-0 ", "| "],
        &["_0 ", "| "],
    ]),
    recognises,
    reduce,
};

/// Lines of further tasks count as lines of the runner.
const MAX_TASKS: usize = 256;
const LINE_CHARS: usize = 240;

fn recognises(input: &Input<'_>) -> Match {
    if Runner::of(input).is_some() {
        Match::Certain
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let Some(runner) = Runner::of(input) else {
        return;
    };
    if !runner.is_apart(input, output.nested()) {
        return;
    }
    let mut tasks = Tasks::default();
    let mut own = Unknown::default();
    for line in input.lines() {
        match runner.read(line) {
            Line::Of { title, text } => match tasks.named(title) {
                Some(task) => {
                    task.text.push_str(text);
                    task.text.push('\n');
                }
                None => own.push(line),
            },
            Line::Command { title, command } => {
                if let Some(task) = tasks.named(title) {
                    task.command = command;
                }
            }
            Line::Ended { title, exit } => {
                if let Some(task) = tasks.named(title) {
                    task.ended = Some((exit, line));
                }
            }
            Line::Blamed { package, name } => {
                if let Some(task) = tasks.of_package(package, name) {
                    task.ended = Some((Exit::Failure, line));
                }
            }
            Line::Own => own.push(line),
            Line::Noise => {}
        }
    }
    let blamed = tasks.all.iter().any(|task| task.failure().is_some());
    for task in &tasks.all {
        let exit = match task.ended {
            _ if input.exit == Exit::Success => Exit::Success,
            Some((exit, _)) => exit,
            // Another command is reported as the reason why the run failed.
            None if blamed => Exit::Success,
            None => input.exit,
        };
        task.write(exit, output);
    }
    own.write(output);
}

/// The tasks in the order in which they began.
#[derive(Default)]
struct Tasks<'a> {
    all: Vec<Task<'a>>,
    by_title: HashMap<&'a str, usize>,
}

impl<'a> Tasks<'a> {
    /// The index of the task whose lines begin with `title`; `None` when there are too many.
    fn named(&mut self, title: &'a str) -> Option<&mut Task<'a>> {
        let next = self.all.len();
        let at = match self.by_title.get(title) {
            Some(at) => *at,
            None if next < MAX_TASKS => {
                self.by_title.insert(title, next);
                self.all.push(Task {
                    title,
                    ..Task::default()
                });
                next
            }
            None => return None,
        };
        self.all.get_mut(at)
    }

    /// The index of the task whose lines begin with `package:name:`.
    fn of_package(&mut self, package: &str, name: &str) -> Option<&mut Task<'a>> {
        self.all.iter_mut().find(|task| {
            let title = task.title.strip_prefix(package);
            let title = title.and_then(|title| title.strip_prefix(':')?.strip_suffix(':'));
            title == Some(name)
        })
    }
}

#[derive(Default)]
struct Task<'a> {
    title: &'a str,
    /// Its command, if the runner shows it.
    command: &'a str,
    text: String,
    /// Its exit status, and the line that reports it.
    ended: Option<(Exit, &'a str)>,
}

impl<'a> Task<'a> {
    /// The line that reports its failure.
    fn failure(&self) -> Option<&'a str> {
        self.ended
            .filter(|(exit, _)| *exit == Exit::Failure)
            .map(|(_, line)| line)
    }

    fn write(&self, exit: Exit, output: &mut Output) {
        let words = producer(self.command).unwrap_or_default();
        let input = Input {
            text: &self.text,
            words: &words,
            exit,
        };
        output.context(&shorten(self.title, LINE_CHARS));
        match nested::reduce(&input, &FAMILY, output) {
            Some(told) if told.failure => output.failed(),
            Some(_) => {}
            None => nested::whole(&self.text, output),
        }
        if let Some(line) = self.failure() {
            output.failed();
            output.fact(&shorten(line.trim(), LINE_CHARS));
        }
    }
}

#[cfg(test)]
mod tests;
