//! Outputs divided by lines that the command line itself prints: `echo "== diff"; git diff; echo "exit: $?"`.
//!
//! The command of each section is certain, so each is reduced like a separate output.

use super::aligned::words;
use super::remarks::Remarks;
use crate::divide::part::{Answer, NESTED};
use crate::generic;
use crate::input::{Exit, Input, WHOLE_CHARS};
use crate::output::Output;
use crate::pipeline::asked;
use crate::pipeline::cut_mark;
use crate::pipeline::route::runs_others;
use ethos_registry_core::command::CommandLine;

/// If remarks are more than one part in this many of an input, they are what was requested.
const LEAST_PRINTED: usize = 4;

/// The output of commands up to the next remark.
struct Section<'a> {
    /// The remark above it.
    mark: Option<&'a str>,
    text: &'a str,
    commands: CommandLine,
    /// How the last of its commands ended, if that is printed.
    exit: Option<Exit>,
}

/// The sections of an input.
pub(crate) struct Sections<'a> {
    all: Vec<Section<'a>>,
}

impl<'a> Sections<'a> {
    /// The sections of `text`, the output of `line` with exit status `exit`; `None` if it has no remark.
    pub(crate) fn of(text: &'a str, line: &CommandLine, exit: Exit) -> Option<Self> {
        if line.is_traced() {
            // A remark was printed twice with commands between.
            return None;
        }
        let remarks = Remarks::of(line, text)?;
        let marks = remarks.marks(text)?;
        let said: usize = marks.iter().map(|mark| mark.end - mark.start).sum();
        if said * LEAST_PRINTED > text.len() {
            return None;
        }
        let mut sections = Vec::with_capacity(marks.len() + 1);
        let mut mark = None;
        let (mut start, mut from) = (0, 0);
        let mut put_in: Option<&(String, String)> = None;
        let part = |from: usize, to: usize, put_in: Option<&(String, String)>| {
            let part = line.part(from, to, &remarks.unsaid);
            match put_in {
                Some((name, value)) => part.with(name, value),
                None => part,
            }
        };
        for next in &marks {
            sections.push(Section {
                mark,
                text: text.get(start..next.start)?,
                commands: part(from, next.command, put_in),
                exit: next.exit,
            });
            mark = text.get(next.start..next.end).map(str::trim_end);
            (start, from) = (next.end, next.behind);
            put_in = next.put_in.as_ref();
        }
        // If nothing ran after the last remark, the code is that of the remark.
        let exit = (from < line.len()).then_some(exit);
        sections.push(Section {
            mark,
            text: text.get(start..)?,
            commands: part(from, line.len(), put_in),
            exit,
        });
        Some(Self { all: sections })
    }

    /// Writes the reduction of each section.
    pub(crate) fn write(&self, output: &mut Output) {
        let last = self.all.len() - 1;
        for (index, section) in self.all.iter().enumerate() {
            if let Some(mark) = section.mark {
                output.fact(mark);
            }
            let is_silent = section.text.trim_ascii().is_empty();
            if !is_silent && section.write(output) {
                output.failed();
            }
            if section.exit.is_some_and(is_failure) && (is_silent || index < last) {
                // The remark below reports the failure, or there is none.
                output.failed();
            }
        }
        output.settle();
    }
}

fn is_failure(exit: Exit) -> bool {
    matches!(exit, Exit::Failure | Exit::LastFailure)
}

impl Section<'_> {
    /// Writes the section. Returns whether it reports a failure, or may.
    fn write(&self, output: &mut Output) -> bool {
        let words = if self.commands.is_unsure() {
            Vec::new()
        } else {
            words(&self.commands)
        };
        let exit = self.exit_of_commands();
        let input = |exit| Input {
            text: self.text,
            words: &words,
            exit,
        };
        // The status of the other commands is only known from their output.
        let known = input(exit.unwrap_or(Exit::Success));
        let joined = runs_others(&known) || self.commands.runs_several();
        let asked_lines = self.commands.asked_lines();
        let may_be_cut = cut_mark::may_stand_in(self.text);
        let answer = Answer::of(known, &self.commands, joined);
        let family = answer.families(may_be_cut).next();
        let stays = family.is_none() && self.text.len() <= WHOLE_CHARS
            || asked::shows_all(family.unwrap_or(&generic::FAMILY), &known, &self.commands);
        let (answer, exit) = if family.is_some() {
            (answer, known.exit)
        } else {
            let exit = exit.unwrap_or(Exit::Unknown);
            (Answer::of(input(exit), &self.commands, joined), exit)
        };
        let mut section = Output::asked_for(asked_lines).with_nested(NESTED);
        let told = (!stays).then(|| answer.reduce(&mut section)).flatten();
        // Nothing reported the failure, if there was one.
        let told = told.map(|told| told.failure || exit != Exit::Success);
        if told.is_some() {
            output.append(section);
        } else {
            crate::nested::whole(self.text, output);
        }
        told.unwrap_or(true)
    }

    /// The status of its commands, that is of the last or only one, if it is printed.
    fn exit_of_commands(&self) -> Option<Exit> {
        match self.exit {
            Some(Exit::Failure | Exit::LastFailure) if self.commands.prints_more() => {
                Some(Exit::LastFailure)
            }
            Some(Exit::LastFailure) => Some(Exit::Failure),
            // The status of a pipeline is that of its last stage.
            Some(Exit::Success) if self.commands.is_piped() => None,
            exit => exit,
        }
    }
}
