//! What several programs gave one after the other: `ruff check . ; pytest -q`, a script, a target of make.
//!
//! Where the output of a program begins or ends beyond doubt, the text is divided; each part goes the way
//! of an output of its own. One family for all of it would take the lines of the other programs for noise.

mod aligned;
mod line;
mod marked;
mod own;
mod parts;
mod printed;
mod program;
mod remarks;
mod split;

use super::asked;
use super::family::{Family, Marks, Match};
use super::input::{Exit, Input, WHOLE_CHARS};
use super::output::Output;
use super::part;
use super::route::{families, runs_others, shows_texts};
use super::terminal::GENERIC;
use crate::command::CommandLine;
use crate::lines::lines;
pub(super) use aligned::words;
use aligned::{Told, aligned};
pub(super) use marked::Sections;
use parts::{Part, parts};
use program::Program;

pub(super) const FAMILY: Family = Family {
    name: "several",
    runs: |_| false,
    marks: Marks::Never,
    recognises: |input| recognises(input, IsMuch::OfAnother),
    reduce: |input, output| reduce(input, IsMuch::OfAnother, output),
};

/// The same for what one command gave, as a runner says: only a second known output proves a second program.
pub(super) const OF_ONE: Family = Family {
    recognises: |input| recognises(input, IsMuch::OfTheSame),
    reduce: |input, output| reduce(input, IsMuch::OfTheSame, output),
    ..FAMILY
};

/// Whose text much is that no family knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IsMuch {
    OfAnother,
    OfTheSame,
}

/// So many bytes before or behind a known output are more than its own beginning and end.
const MUCH_BYTES: usize = 600;

fn recognises(input: &Input<'_>, much: IsMuch) -> Match {
    if divided(input, much, None).is_some() {
        Match::Certain
    } else {
        Match::No
    }
}

/// A part, and the words of a command that gives such an output.
struct Known<'a> {
    part: Part<'a>,
    words: Vec<String>,
    /// How many lines of it the stages behind its command ask for, 0 for all; `None` where that is not known.
    asked_lines: Option<usize>,
    family: Option<&'static str>,
}

/// The parts of the text, when more than one family knows some of them, or the commands of `line` tell them apart.
fn divided<'a>(
    input: &Input<'a>,
    much: IsMuch,
    line: Option<&CommandLine>,
) -> Option<Vec<Known<'a>>> {
    let found = parts(input.text);
    if let Some(line) = line
        && let Some(told) = aligned(input.text, found.as_deref(), line)
    {
        let is_told = are_told(&told);
        let known = known(input, told);
        if is_told || are_several(input, much, &known) {
            return Some(known);
        }
        // What the words of the commands say must not take from what the content alone tells.
    }
    let parts = found?.into_iter().map(|part| (part, None)).collect();
    let known = known(input, parts);
    are_several(input, much, &known).then_some(known)
}

/// Whether one of several parts at least is of a command that is known: the others are of others then.
fn are_told(told: &[Told<'_>]) -> bool {
    told.len() > 1 && told.iter().any(|(_, command)| command.is_some())
}

/// What is known of `parts`, and of which commands they are.
fn known<'a>(input: &Input<'a>, parts: Vec<Told<'a>>) -> Vec<Known<'a>> {
    let last = parts.len().saturating_sub(1);
    let first_of_status = parts
        .iter()
        .position(|(part, _)| part.program == Some(Program::GitStatus));
    let known = parts.into_iter().enumerate().map(|(index, (part, told))| {
        let asked_lines = told.as_ref().map(|told| told.lines.unwrap_or_default());
        let words = told.map(|told| told.words);
        let words = words.unwrap_or_else(|| match part.program.map(Program::words) {
            // The last command says itself how it was asked.
            Some([program, ..]) if index == last && input.program() == *program => {
                input.words.to_vec()
            }
            Some(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            None if index == last => input.words.to_vec(),
            // Who asks for a status did something before.
            None if first_of_status == Some(index + 1) && input.program() == "git" => {
                ["git", "merge"].map(str::to_owned).to_vec()
            }
            None => Vec::new(),
        });
        let family = families(&Input {
            text: part.text,
            words: &words,
            exit: input.exit,
        })
        .next()
        .map(|family| family.name);
        Known {
            part,
            words,
            asked_lines,
            family,
        }
    });
    known.collect()
}

/// Whether more than one program is among those of `known`.
fn are_several(input: &Input<'_>, much: IsMuch, known: &[Known<'_>]) -> bool {
    let counts = |known: &&Known<'_>| {
        let mut lines = lines(known.part.text);
        known.part.program.is_some() || lines.any(|line| !line.is_empty() && !is_of_runner(line))
    };
    let counted = known.iter().filter(counts);
    let mut families = counted.filter_map(|known| known.family);
    let Some(first) = families.next() else {
        return false;
    };
    // Much that no family knows was not printed by a program that is known, nor was any text that is shown.
    let has_verdict = |known: &Known<'_>| {
        let program = known.part.program;
        program.is_some_and(Program::ends_with_a_verdict)
    };
    let is_much = |known: &Known<'_>| {
        known.part.program.is_none() && (shows_texts(input) || known.part.text.len() >= MUCH_BYTES)
    };
    let shown =
        || much == IsMuch::OfAnother && known.iter().any(has_verdict) && known.iter().any(is_much);
    families.any(|family| family != first) || shown()
}

/// Whether what runs the programs says with `line` how that ended: `make: *** [check] Error 1`.
fn is_of_runner(line: &str) -> bool {
    const BEGINNINGS: [&str; 7] = [
        "make: ",
        "make[",
        "gmake",
        "ninja: ",
        "npm ",
        "error Command failed ",
        "error: Recipe ",
    ];
    let text = line.trim_start();
    text.starts_with("ELIFECYCLE")
        || BEGINNINGS
            .iter()
            .any(|beginning| text.starts_with(beginning))
}

fn reduce(input: &Input<'_>, much: IsMuch, output: &mut Output) {
    if let Some(known) = divided(input, much, None) {
        write(input, &known, output);
    }
}

/// Whether the commands of `line` tell beyond doubt which of them gave what of `input`.
pub(super) fn tells_apart(input: &Input<'_>, line: &CommandLine) -> bool {
    line.runs_several() && {
        let found = parts(input.text);
        aligned(input.text, found.as_deref(), line).is_some_and(|told| are_told(&told))
    }
}

/// Whether [`FAMILY`] knows `input`, which the commands of `line` gave.
pub(super) fn knows(input: &Input<'_>, line: &CommandLine) -> bool {
    divided(input, IsMuch::OfAnother, Some(line)).is_some()
}

/// Writes what [`FAMILY`] makes of `input` when the commands of `line` gave it.
pub(super) fn write_of(input: &Input<'_>, line: &CommandLine, output: &mut Output) {
    if let Some(known) = divided(input, IsMuch::OfAnother, Some(line)) {
        write(input, &known, output);
    }
    output.settle();
}

/// Whether `text` is so short that it stays; no sign of it has more than four bytes.
fn is_short(text: &str) -> bool {
    text.len() <= 4 * WHOLE_CHARS && text.chars().count() <= WHOLE_CHARS
}

fn write(input: &Input<'_>, known: &[Known<'_>], output: &mut Output) {
    let mut failed = false;
    let last = known.len() - 1;
    let asked_of_all = output.asked_lines();
    for (index, known) in known.iter().enumerate() {
        output.asks_for(known.asked_lines.unwrap_or(asked_of_all));
        // How the others ended nobody said but they themselves.
        let exit = match (known.family, input.exit) {
            // That of a line is how its last command ended, that of a runner how one of all did.
            (_, exit) if index == last && (!failed || known.asked_lines.is_some()) => exit,
            (Some(_), _) => Exit::Success,
            (None, _) => Exit::Unknown,
        };
        let of_part = Input {
            text: known.part.text,
            words: &known.words,
            exit: match exit {
                Exit::LastFailure => Exit::Failure,
                exit => exit,
            },
        };
        let is_short = is_short(known.part.text);
        let is_asked = || {
            let family = known.family.unwrap_or(GENERIC.name);
            let lines = known.asked_lines.filter(|lines| *lines > 0);
            asked::shows_lines(family, &of_part, lines)
        };
        let is_told = known.asked_lines.is_some();
        let is_form_known = known.part.program.is_some();
        let stays = is_told && is_short && !is_form_known
            || (is_told || known.family.is_none()) && is_asked()
            || known.part.may_be_shown && known.part.text.len() <= asked::MOST_BYTES
            || known.family.is_none() && is_short;
        let told = if stays {
            None
        } else if is_told {
            part::reduce_of(
                &of_part,
                &CommandLine::default(),
                runs_others(&of_part),
                output,
            )
        } else {
            part::reduce(&of_part, &FAMILY, output)
        };
        // What is shown as it is may be why the run failed.
        let is_whole = told.is_none();
        match told {
            Some(part::Told { failure }) => failed |= failure,
            None => part::whole(known.part.text, output),
        }
        if failed || index == last && (is_whole || known.family.is_none()) {
            output.failed();
        }
    }
    output.asks_for(asked_of_all);
}

#[cfg(test)]
mod tests;
