//! What one of several commands gave, where a runner states which.

use memchr::memrchr;

use crate::cut_mark;
use crate::family::{Family, Match};
use crate::generic;
use crate::input::{Exit, Input};
use crate::json;
use crate::line::{is_bad, is_ruler};
use crate::output::Output;
use crate::route::{families, families_of_several, runs_others};
use crate::several::{self, Division};
use crate::unknown::Unknown;
use ethos_registry_core::command::CommandLine;

/// Shorter parts that no family knows stay as they are.
pub(crate) const WHOLE_BYTES: usize = 240;

/// Real outputs are parts of parts of parts; what goes deeper was made to take long.
const MOST_DEPTH: usize = 4;

/// What the commands of a line gave.
pub(crate) struct Answer<'a> {
    input: Input<'a>,
    /// Whether their programs may be several.
    joined: bool,
    division: Division<'a>,
}

impl<'a> Answer<'a> {
    /// `input`, which the commands of `line` gave, whose programs may be `joined`.
    pub(crate) fn of(input: Input<'a>, line: &'a CommandLine, joined: bool) -> Self {
        Self {
            input,
            joined,
            division: Division::of_line(input, line),
        }
    }

    /// The families that know it. What was cut is known by its marks, where it `may_be_cut`, but for what the commands
    /// divide first.
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

    /// Writes what `family` makes of it.
    pub(crate) fn write(&self, family: &Family, output: &mut Output) {
        if family.name == several::FAMILY.name {
            self.division.write(output);
            output.settle();
        } else {
            family.write(&self.input, output);
        }
    }

    /// Writes what the first family that knows it makes of it, as [`reduce`] does.
    pub(crate) fn reduce(&self, output: &mut Output) -> Option<Told> {
        let known = self.families(cut_mark::may_stand_in(self.input.text));
        let write = |family: &Family, part: &mut Output| self.write(family, part);
        of_first(known, &self.input, &several::FAMILY, write, output)
    }
}

/// A part was written.
pub(crate) struct Told {
    /// Whether it was about a failure.
    pub(crate) failure: bool,
}

/// Writes what the first family but `runner` that knows `input`, a part of an output, makes of it, or all of it
/// when that is not shorter; nothing when no family knows it and it is short.
pub(crate) fn reduce(input: &Input<'_>, runner: &Family, output: &mut Output) -> Option<Told> {
    let several = several_in(input);
    let is_several = || (several.recognises)(input) == Match::Certain;
    let known = families_of_several(input, several, is_several);
    let known = known.filter(|family| family.name != runner.name);
    let write = |family: &Family, part: &mut Output| family.write(input, part);
    of_first(known, input, runner, write, output)
}

fn of_first(
    known: impl Iterator<Item = &'static Family>,
    input: &Input<'_>,
    runner: &Family,
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
    let mut part = Output::default();
    // What went well below a runner is its own affair; of several commands each was asked for, as was what
    // is around JSON.
    let is_asked = [several::FAMILY.name, json::FAMILY.name].contains(&runner.name);
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

/// How an output of several programs is known where a runner states which command gave it.
fn several_in(input: &Input<'_>) -> &'static Family {
    if runs_others(input) {
        &several::FAMILY
    } else {
        &several::OF_ONE
    }
}

/// This many lines before or behind what a family knows are no more than what it was asked and how it ended.
const FEW_LINES: usize = 16;

/// `input` from the first to the last line that `is_own`, and what precedes and behind them where that is much:
/// other programs said it.
pub(crate) fn around<'a>(
    input: &Input<'a>,
    is_own: impl Fn(&str) -> bool,
) -> [Option<Input<'a>>; 3] {
    let text = input.text;
    let mut start = 0;
    let is_first = |line: &str| {
        let found = is_own(line);
        start += if found { 0 } else { line.len() + 1 };
        found
    };
    let mut end = text.len();
    if text.split('\n').any(is_first) {
        // From the end: between the first and the last no one looks.
        while let Some(lines) = text.get(start..end).filter(|lines| !lines.is_empty()) {
            let lines = lines.strip_suffix('\n').unwrap_or(lines);
            let last = memrchr(b'\n', lines.as_bytes()).map_or(0, |at| at + 1);
            if lines.get(last..).is_some_and(&is_own) {
                break;
            }
            end = start + last;
        }
    } else {
        start = 0;
    }
    let is_much = |text: &&str| {
        ethos_registry_core::lines::lines(text)
            .nth(FEW_LINES)
            .is_some()
    };
    let before = text.get(..start).filter(is_much);
    let behind = text.get(end..).filter(is_much);
    let own_start = before.map_or(0, str::len);
    let own_end = behind.map_or(text.len(), |_| end);
    let other = |text| Input {
        text,
        words: &[],
        exit: Exit::Unknown,
    };
    let own = text.get(own_start..own_end).unwrap_or_default();
    let own = Input {
        text: own,
        ..*input
    };
    [before.map(other), Some(own), behind.map(other)]
}

/// Writes what other programs said around the lines of `family`.
pub(crate) fn other(input: Option<Input<'_>>, family: &Family, output: &mut Output) {
    if let Some(input) = input
        && reduce(&input, family, output).is_none()
    {
        whole(input.text, output);
    }
}

/// Writes all lines of `text` but for form.
pub(crate) fn whole(text: &str, output: &mut Output) {
    for line in text.lines() {
        if !line.trim().is_empty() && !is_ruler(line) {
            output.fact(line.trim_end());
        }
    }
}
