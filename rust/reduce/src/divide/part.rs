//! The output of one of several commands, where a runner reports which command printed it.

use crate::divide::several::{self, Division};
use crate::family::{Family, Match};
use crate::generic;
use crate::input::{Exit, Input};
use crate::line::is_bad;
use crate::nested::{WHOLE_BYTES, whole};
use crate::output::Output;
use crate::output::{Nested, Told};
use crate::parsers::data::json;
use crate::pipeline::cut_mark;
use crate::pipeline::route::{families, families_of_several, runs_others};
use crate::rows::unknown::Unknown;
use ethos_registry_core::command::CommandLine;

/// Real outputs are nested a few levels deep; deeper nesting is an attack on the running time.
const MOST_DEPTH: usize = 4;

/// The output of the commands of one command line.
pub(crate) struct Answer<'a> {
    input: Input<'a>,
    /// Whether several programs may have printed it.
    joined: bool,
    division: Division<'a>,
}

impl<'a> Answer<'a> {
    /// The output `input` of the commands of `line`; `joined` is whether several programs may have printed it.
    pub(crate) fn of(input: Input<'a>, line: &'a CommandLine, joined: bool) -> Self {
        Self {
            input,
            joined,
            division: Division::of_line(input, line),
        }
    }

    /// The families that recognise it. If it `may_be_cut`, markers of cut output are considered before all except a
    /// division by commands.
    pub(crate) fn families(&self, may_be_cut: bool) -> impl Iterator<Item = &'static Family> {
        let input = &self.input;
        let is_told = self.division.is_told();
        let is_cut = may_be_cut && (cut_mark::FAMILY.recognises)(input) == Match::Certain;
        let cut = is_cut.then_some(&cut_mark::FAMILY);
        let is_known = move || !is_told && self.division.is_known();
        let joined = self.joined;
        let several = joined.then(|| families_of_several(input, &several::FAMILY, is_known));
        let one = (!joined).then(|| families(input));
        let told = is_told.then_some(&several::FAMILY);
        told.into_iter()
            .chain(cut)
            .chain(several.into_iter().flatten())
            .chain(one.into_iter().flatten())
    }

    /// Writes its reduction by `family`.
    pub(crate) fn write(&self, family: &Family, output: &mut Output) {
        if family.name == several::FAMILY.name {
            self.division.write(output);
            output.settle();
        } else {
            family.write(&self.input, output);
        }
    }

    /// Writes its reduction by the first family that recognises it, as [`reduce`] does.
    pub(crate) fn reduce(&self, output: &mut Output) -> Option<Told> {
        let known = self.families(cut_mark::may_stand_in(self.input.text));
        let write = |family: &Family, part: &mut Output| self.write(family, part);
        of_first(known, &self.input, several::FAMILY.name, write, output)
    }
}

/// Reduces parts of outputs like separate outputs.
pub(crate) const NESTED: Nested = Nested {
    reduce,
    family: |input| families(input).next().map(|family| family.name),
};

fn reduce(input: &Input<'_>, runner: &'static str, output: &mut Output) -> Option<Told> {
    let several = several_in(input);
    let is_several = || (several.recognises)(input) == Match::Certain;
    let known = families_of_several(input, several, is_several);
    let known = known.filter(|family| family.name != runner);
    let write = |family: &Family, part: &mut Output| family.write(input, part);
    of_first(known, input, runner, write, output)
}

fn of_first(
    known: impl Iterator<Item = &'static Family>,
    input: &Input<'_>,
    runner: &'static str,
    write: impl Fn(&Family, &mut Output),
    output: &mut Output,
) -> Option<Told> {
    for family in known.take_while(|_| output.depth() < MOST_DEPTH) {
        let mut part = output.of_part();
        write(family, &mut part);
        let failure = part.saw_failure();
        let stays = part.is_to_stay();
        let trusted = input.exit == Exit::Success || failure;
        if !stays && (part.is_empty() || !trusted) {
            continue;
        }
        if stays || part.len() >= input.text.len() {
            // All of it is needed.
            whole(input.text, output);
        } else {
            output.append(part);
        }
        return Some(Told { failure });
    }
    if input.text.len() < WHOLE_BYTES {
        return None;
    }
    let mut part = output.emptied();
    // Below a runner, output of what succeeded can be left out. If there are several commands, or text around JSON,
    // each part was requested.
    let is_asked = [several::FAMILY.name, json::FAMILY.name].contains(&runner);
    if !is_asked && input.exit == Exit::Success && !input.lines().any(is_bad) {
        let mut unknown = Unknown::default();
        input.lines().for_each(|line| unknown.push(line));
        unknown.write(&mut part);
    } else {
        generic::reduce(input, &mut part);
    }
    if part.len() >= input.text.len() {
        return None;
    }
    output.append(part);
    Some(Told { failure: false })
}

/// How output of several programs is recognised where a runner reports which command printed it.
fn several_in(input: &Input<'_>) -> &'static Family {
    if runs_others(input) {
        &several::FAMILY
    } else {
        &several::OF_ONE
    }
}
