//! The parts of an input, computed once.

use std::cell::OnceCell;

use super::aligned::{Giver, Told, aligned};
use super::known::{IsMuch, Known, are_several, known, write};
use super::parts::{Part, parts};
use crate::input::Input;
use crate::output::Output;
use ethos_registry_core::command::CommandLine;

/// How an input is divided among several programs.
pub(crate) struct Division<'a> {
    input: Input<'a>,
    much: IsMuch,
    /// The commands that printed it, if they are known.
    line: Option<&'a CommandLine>,
    found: OnceCell<Found<'a>>,
    known: OnceCell<Option<Vec<Known<'a>>>>,
}

struct Found<'a> {
    /// The parts that the content alone shows.
    parts: Option<Vec<Part<'a>>>,
    /// The parts that could be assigned to commands.
    told: Option<Vec<Told<'a>>>,
}

impl<'a> Division<'a> {
    /// The division of `input`, the output of the commands of `line`.
    pub(crate) fn of_line(input: Input<'a>, line: &'a CommandLine) -> Self {
        Self::of(input, IsMuch::OfAnother, Some(line))
    }

    /// The division of `input` that its content alone shows.
    pub(super) fn by_content(input: Input<'a>, much: IsMuch) -> Self {
        Self::of(input, much, None)
    }

    fn of(input: Input<'a>, much: IsMuch, line: Option<&'a CommandLine>) -> Self {
        Self {
            input,
            much,
            line,
            found: OnceCell::new(),
            known: OnceCell::new(),
        }
    }

    /// Whether the command line makes certain which command printed what, for one tool run several times or for
    /// different tools.
    pub(crate) fn is_told(&self) -> bool {
        self.line.is_some_and(CommandLine::prints_more)
            && self.found().told.as_deref().is_some_and(are_told)
    }

    /// Whether several families recognise parts of it, or its parts could be assigned to commands.
    pub(crate) fn is_known(&self) -> bool {
        self.known().is_some()
    }

    /// Writes the reduction of each part; nothing if the division is not known.
    pub(crate) fn write(&self, output: &mut Output) {
        if let Some(known) = self.known() {
            write(self.input.exit, known, output);
        }
    }

    fn found(&self) -> &Found<'a> {
        self.found.get_or_init(|| {
            let parts = parts(self.input.text);
            let told = |line| aligned(self.input.text, parts.as_deref(), line);
            Found {
                told: self.line.and_then(told),
                parts,
            }
        })
    }

    fn known(&self) -> Option<&[Known<'a>]> {
        let known = self.known.get_or_init(|| {
            let found = self.found();
            if let Some(told) = &found.told {
                let known = known(&self.input, told.clone());
                if are_told(told) || are_several(&self.input, self.much, &known) {
                    return Some(known);
                }
                // What the commands suggest must not hide what the content alone shows.
            }
            let parts = found.parts.iter().flatten();
            let parts = parts.map(|part| (*part, Giver::Unknown)).collect();
            let known = known(&self.input, parts);
            are_several(&self.input, self.much, &known).then_some(known)
        });
        known.as_deref()
    }
}

/// Whether at least one of several parts was assigned to a command, so that the others belong to other commands.
fn are_told(told: &[Told<'_>]) -> bool {
    let is_of_command = |(_, giver): &Told<'_>| matches!(giver, Giver::Command(_));
    told.len() > 1 && told.iter().any(is_of_command)
}
