//! Finds the lines of an input that the command line itself prints, and the command that printed each.

use std::cell::OnceCell;

use memchr::memchr_iter;

use super::aligned::shows_files;
use crate::input::Exit;
use crate::pipeline::cut_mark;
use ethos_registry_core::command::{CommandLine, Remark, Said};

/// An input with more sections is not a short sequence of outputs.
const MOST_SECTIONS: usize = 200;

/// More remarks in one command line are ignored.
const MOST_REMARKS: usize = 64;

/// A remark in the text.
pub(super) struct Mark {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The index of its command, and of the first later one whose output can be below it.
    pub(super) command: usize,
    pub(super) behind: usize,
    /// The exit status that it reports for the command above it.
    pub(super) exit: Option<Exit>,
    /// The name and value of a variable that the shell expanded.
    pub(super) put_in: Option<(String, String)>,
}

/// The remarks that a command line prints.
pub(super) struct Remarks<'a> {
    line: &'a CommandLine,
    /// Remarks that no program prints as well, with the indices of their commands.
    sure: Vec<(usize, Remark)>,
    /// The indices of remarks that were not printed.
    pub(super) unsaid: Vec<usize>,
}

impl<'a> Remarks<'a> {
    pub(super) fn of(line: &'a CommandLine, text: &str) -> Option<Self> {
        // Remarks inside a function may be printed at any time, so they could be any line.
        let may_be = |remark: &Remark| !(line.defines() && remark.is_vague());
        let all = line.remarks().take(MOST_REMARKS);
        let all: Vec<_> = all.filter(|(_, remark)| may_be(remark)).collect();
        if all.is_empty() {
            // The text need not be read.
            return None;
        }
        let mut counts = vec![0_usize; all.len()];
        let read = |printed, literal| {
            let all = all.iter().zip(0..);
            let all = all.filter(move |((_, remark), _)| remark.is_literal() == literal);
            all.filter_map(move |((_, remark), at)| remark.read(printed).map(|_| at))
        };
        for (_, _, printed) in lines(text, &all) {
            let mut found = read(printed, true).peekable();
            let others = found.peek().is_none().then(|| read(printed, false));
            for at in found.chain(others.into_iter().flatten()) {
                if let Some(count) = counts.get_mut(at) {
                    *count += 1;
                }
            }
        }
        let shows = OnceCell::new();
        let shows = || {
            *shows.get_or_init(|| {
                line.producers()
                    .is_none_or(|all| all.iter().any(|words| shows_files(words)))
            })
        };
        let is_sure = |command: usize, remark: &Remark, count: usize| {
            let same = all.iter().filter(|(_, other)| other.is_as(remark));
            let same: Vec<usize> = same.map(|(index, _)| *index).collect();
            let times = same
                .iter()
                .map(|index| line.times(*index).unwrap_or(MOST_SECTIONS));
            let said = times.sum::<usize>();
            // The order must show which of several equal remarks was printed.
            let mut later = same.iter().filter(|later| **later > command);
            let is_skipped = later.any(|later| line.may_skip(command, *later));
            let may_be_shown = || said < MOST_SECTIONS && remark.is_ruler() && shows();
            count == said || count < said && !is_skipped && !may_be_shown()
        };
        let (mut sure, mut unsaid) = (Vec::new(), Vec::new());
        for ((command, remark), count) in all.iter().zip(counts) {
            if count == 0 && !remark.may_change() {
                unsaid.push(*command);
            } else if count > 0 && is_sure(*command, remark, count) {
                // Text that programs print as well proves nothing.
                sure.push((*command, remark.clone()));
            }
        }
        // If a later remark was printed, an earlier one was printed too, and only cut off.
        let is_unsaid = |index: &usize| {
            let next = sure.iter().map(|(said, _)| *said).find(|said| said > index);
            next.is_none_or(|said| line.may_skip_to(*index, said))
        };
        unsaid.retain(is_unsaid);
        if !unsaid.is_empty() && cut_mark::stand_in(text) {
            // The missing remarks may be in what was cut out.
            unsaid.clear();
        }
        (!sure.is_empty()).then_some(Self { line, sure, unsaid })
    }

    /// The remarks in `text`, in order.
    pub(super) fn marks(&self, text: &str) -> Option<Vec<Mark>> {
        let mut marks: Vec<Mark> = Vec::new();
        for (start, end, printed) in lines(text, &self.sure) {
            let last = marks.last().map(|mark| mark.command);
            let Some((command, remark, said)) = self.read(printed, last) else {
                continue;
            };
            let exit = said.status.map(|code| match code {
                0 => Exit::Success,
                _ => Exit::Failure,
            });
            let failed = self.line.tells_failure(command);
            marks.push(Mark {
                start,
                end,
                command,
                behind: command + usize::from(!remark.is_open()),
                exit: exit.or(failed.then_some(Exit::Failure)),
                put_in: remark
                    .name()
                    .zip(said.value)
                    .map(|(name, value)| (name.to_owned(), value.to_owned())),
            });
            if marks.len() > MOST_SECTIONS {
                return None;
            }
        }
        (!marks.is_empty()).then_some(marks)
    }

    /// Finds the remark that was printed as `printed` after that of the command `last`; in a loop remarks are repeated.
    /// Returns the index of its command, the remark, and its values.
    fn read<'t>(
        &self,
        printed: &'t str,
        last: Option<usize>,
    ) -> Option<(usize, &Remark, Said<'t>)> {
        let (before, next) = self.sure.split_at(
            self.sure
                .partition_point(|(command, _)| last.is_some_and(|last| *command <= last)),
        );
        let around = last.and_then(|last| self.line.loop_of(last));
        let is_around = |command: &usize| around.is_some() && self.line.loop_of(*command) == around;
        let again = before
            .iter()
            .filter(|(command, _)| self.line.defines() || is_around(command));
        // Further iterations come before what follows the loop.
        let (inside, behind): (Vec<_>, Vec<_>) =
            next.iter().partition(|(command, _)| is_around(command));
        let known = inside.into_iter().chain(again).chain(behind);
        known
            .filter_map(|(command, remark)| Some((*command, remark, remark.read(printed)?)))
            // An expanded variable may look like another remark.
            .min_by_key(|(_, remark, _)| !remark.is_literal())
    }
}

/// Whether `line` is a file header in a diff: `--- a/oak.rs`.
fn is_of_diff(line: &str, behind: Option<&str>) -> bool {
    line.starts_with("--- ") && behind.is_some_and(|behind| behind.starts_with("+++ "))
}

/// The lines of `text` that may be one of `remarks`, each with its start and its end including the line feed.
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
        let may_be = may_be && !is_of_diff(line, text.get(newline + 1..));
        may_be.then_some((begin, (newline + 1).min(text.len()), line))
    })
}
