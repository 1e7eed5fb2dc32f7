//! Outputs between which the command line itself wrote a line: `echo "== diff"; git diff; echo "exit: $?"`.
//!
//! Who gave what is known beyond doubt then: each section goes the way of an output of its own commands.

use memchr::memchr_iter;

use super::super::asked;
use super::super::input::{Exit, Input, WHOLE_CHARS};
use super::super::output::Output;
use super::super::part;
use super::super::route::runs_others;
use super::aligned::words;
use crate::command::{CommandLine, Remark, Said};

/// More sections are no few outputs one after the other.
const MOST_SECTIONS: usize = 200;

/// More remarks of one line are not looked for.
const MOST_REMARKS: usize = 64;

/// Where remarks are more than one part in so many of a text they are what was asked for.
const LEAST_PRINTED: usize = 4;

/// What commands printed up to the next remark.
struct Section<'a> {
    /// The remark above it.
    mark: Option<&'a str>,
    text: &'a str,
    commands: CommandLine,
    /// How the last of them ended, where it is told.
    exit: Option<Exit>,
}

/// The sections of a text.
pub(in crate::reduce) struct Sections<'a> {
    all: Vec<Section<'a>>,
}

impl<'a> Sections<'a> {
    /// Those of `text`, what `line` printed that ended so; none where no line of it is a remark.
    pub(in crate::reduce) fn of(text: &'a str, line: &CommandLine, exit: Exit) -> Option<Self> {
        let inner = line.inner();
        let line = inner.as_ref().unwrap_or(line);
        if line.is_traced() {
            // What is said is printed twice, and commands between.
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
        for next in &marks {
            sections.push(Section {
                mark,
                text: text.get(start..next.start)?,
                commands: line.part(from, next.command, &remarks.unsaid),
                exit: next.exit,
            });
            mark = text.get(next.start..next.end).map(str::trim_end);
            (start, from) = (next.end, next.command + 1);
        }
        // The code is that of a remark when nothing ran behind it.
        let exit = (from < line.len()).then_some(exit);
        sections.push(Section {
            mark,
            text: text.get(start..)?,
            commands: line.part(from, line.len(), &remarks.unsaid),
            exit,
        });
        Some(Self { all: sections })
    }

    /// Writes what an agent needs of each.
    pub(in crate::reduce) fn write(&self, output: &mut Output) {
        let last = self.all.len() - 1;
        for (index, section) in self.all.iter().enumerate() {
            if let Some(mark) = section.mark {
                output.fact(mark);
            }
            if !section.text.trim_ascii().is_empty() && section.write(output) {
                output.failed();
            }
            if section.exit == Some(Exit::Failure) && index < last {
                // The remark below says so.
                output.failed();
            }
        }
        output.settle();
    }
}

impl Section<'_> {
    /// Whether it tells of a failure, or may.
    fn write(&self, output: &mut Output) -> bool {
        let words = words(&self.commands);
        let more = self.commands.prints_more();
        let exit = match self.exit {
            Some(Exit::Failure | Exit::LastFailure) if more => Some(Exit::LastFailure),
            Some(Exit::LastFailure) => Some(Exit::Failure),
            // Of a pipeline it is that of its end.
            Some(Exit::Success) if self.commands.is_piped() => None,
            exit => exit,
        };
        let input = |exit| Input {
            text: self.text,
            words: &words,
            exit,
        };
        // How the others ended nobody said but they themselves.
        let known = input(exit.unwrap_or(Exit::Success));
        let joined = runs_others(&known) || self.commands.runs_several();
        let asked_lines = self.commands.asked_lines();
        let told = match part::families_of(&known, &self.commands, joined).next() {
            Some(family) if asked::shows_all(family, &known, asked_lines) => None,
            Some(_) => Some(known),
            None if self.text.len() <= WHOLE_CHARS => None,
            None => Some(input(exit.unwrap_or(Exit::Unknown))),
        };
        let mut section = Output::asked_for(asked_lines);
        let told = told.and_then(|input| {
            let told = part::reduce_of(&input, &self.commands, joined, &mut section)?;
            // Of what failed, or may have, nothing is told that does not say so.
            Some(told.failure || input.exit != Exit::Success)
        });
        if told.is_some() {
            output.append(section);
        } else {
            part::whole(self.text, output);
        }
        told.unwrap_or(true)
    }
}

/// A remark in the text.
struct Mark {
    start: usize,
    end: usize,
    /// The place of its command.
    command: usize,
    /// How it says that the command above it ended.
    exit: Option<Exit>,
}

/// What the command line says itself.
struct Remarks<'a> {
    line: &'a CommandLine,
    /// Those that no program prints as well, with the places of their commands.
    sure: Vec<(usize, Remark)>,
    /// The places of those that were not printed.
    unsaid: Vec<usize>,
}

impl<'a> Remarks<'a> {
    fn of(line: &'a CommandLine, text: &str) -> Option<Self> {
        let mut all = line.remarks();
        all.truncate(MOST_REMARKS);
        if all.is_empty() {
            // The text need not be read.
            return None;
        }
        let mut counts = vec![0_usize; all.len()];
        for (_, _, printed) in lines(text, &all) {
            for (count, (_, remark)) in counts.iter_mut().zip(&all) {
                *count += usize::from(remark.read(printed).is_some());
            }
        }
        let said = |remark: &Remark| {
            let same = all.iter().filter(|(_, other)| other == remark);
            let times = same.map(|(index, _)| match line.loop_of(*index) {
                Some(_) => MOST_SECTIONS,
                None => 1,
            });
            times.sum::<usize>()
        };
        let (mut sure, mut unsaid) = (Vec::new(), Vec::new());
        for ((command, remark), count) in all.iter().zip(counts) {
            if count == 0 {
                unsaid.push(*command);
            } else if count <= said(remark) {
                // What programs print as well tells nothing.
                sure.push((*command, remark.clone()));
            }
        }
        (!sure.is_empty()).then_some(Self { line, sure, unsaid })
    }

    /// Those in `text`, in their order.
    fn marks(&self, text: &str) -> Option<Vec<Mark>> {
        let mut marks: Vec<Mark> = Vec::new();
        for (start, end, printed) in lines(text, &self.sure) {
            let last = marks.last().map(|mark| mark.command);
            let Some((command, said)) = self.read(printed, last) else {
                continue;
            };
            let exit = said.status.map(|code| match code {
                0 => Exit::Success,
                _ => Exit::Failure,
            });
            marks.push(Mark {
                start,
                end,
                command,
                exit,
            });
            if marks.len() > MOST_SECTIONS {
                return None;
            }
        }
        (!marks.is_empty()).then_some(marks)
    }

    /// The remark that was printed with `printed` behind that of the command `last`: in a loop what was said is said
    /// again. The place of its command, and what it says.
    fn read(&self, printed: &str, last: Option<usize>) -> Option<(usize, Said)> {
        let (before, next) = self.sure.split_at(
            self.sure
                .partition_point(|(command, _)| last.is_some_and(|last| *command <= last)),
        );
        let around = last.and_then(|last| self.line.loop_of(last));
        let again = before
            .iter()
            .filter(|(command, _)| around.is_some() && self.line.loop_of(*command) == around);
        // Further rounds come before what stands behind the loop.
        let (inside, behind): (Vec<_>, Vec<_>) = next
            .iter()
            .partition(|(command, _)| around.is_some() && self.line.loop_of(*command) == around);
        let known = inside.into_iter().chain(again).chain(behind);
        let known = known
            .filter_map(|(command, remark)| Some((*command, remark, remark.read(printed)?)))
            // What the shell puts in may be the words of another remark.
            .min_by_key(|(_, remark, _)| !remark.is_literal());
        known.map(|(command, _, said)| (command, said))
    }
}

/// The lines of `text` that may be of `remarks`, each with its beginning and the end of its line feed.
fn lines<'t>(
    text: &'t str,
    remarks: &[(usize, Remark)],
) -> impl Iterator<Item = (usize, usize, &'t str)> {
    let mut start = 0;
    let ends = memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    ends.filter_map(move |newline| {
        let begin = std::mem::replace(&mut start, newline + 1);
        let line = text.get(begin..newline)?;
        let first = *line.as_bytes().first()?;
        let may_be = remarks.iter().any(|(_, remark)| remark.may_begin(first));
        may_be.then_some((begin, (newline + 1).min(text.len()), line))
    })
}
