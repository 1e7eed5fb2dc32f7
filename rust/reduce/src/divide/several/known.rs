//! What is known of each part of an input, and what is written of it.

use super::FAMILY;
use super::aligned::{Giver, Told};
use super::parts::Part;
use super::program::Program;
use crate::divide::part::Answer;
use crate::generic;
use crate::input::{Exit, Input, WHOLE_CHARS};
use crate::output::Output;
use crate::pipeline::asked;
use crate::pipeline::route::{families, runs_others, shows_texts};
use ethos_registry_core::command::CommandLine;
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

/// This many bytes before or behind a known output are more than its own beginning and end.
const MUCH_BYTES: usize = 600;

/// Whose text much is that no family knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IsMuch {
    OfAnother,
    OfTheSame,
}

/// A part, and the words of a command that gives such an output.
pub(super) struct Known<'a> {
    part: Part<'a>,
    giver: Giver,
    words: Vec<String>,
    family: Option<&'static str>,
}

/// What is known of `parts` of `input`.
pub(super) fn known<'a>(input: &Input<'a>, parts: Vec<Told<'a>>) -> Vec<Known<'a>> {
    let last = parts.len().saturating_sub(1);
    let first_of_status = parts
        .iter()
        .position(|(part, _)| part.program == Some(Program::GitStatus));
    let known = parts
        .into_iter()
        .enumerate()
        .map(|(index, (part, mut giver))| {
            let words = match (&mut giver, part.program.map(Program::words)) {
                (Giver::Command(asked), _) => std::mem::take(&mut asked.words),
                // The last command states itself how it was asked.
                (_, Some([program, ..])) if index == last && input.program() == *program => {
                    input.words.to_vec()
                }
                (_, Some(words)) => words.iter().map(|word| (*word).to_owned()).collect(),
                (_, None) if index == last => input.words.to_vec(),
                // Who asks for a status did something before.
                (_, None) if first_of_status == Some(index + 1) && input.program() == "git" => {
                    ["git", "merge"].map(str::to_owned).to_vec()
                }
                (_, None) => Vec::new(),
            };
            let of_part = Input {
                text: part.text,
                words: &words,
                exit: input.exit,
            };
            let family = families(&of_part).next().map(|family| family.name);
            Known {
                part,
                giver,
                words,
                family,
            }
        });
    known.collect()
}

/// Whether more than one program is among those of `known`.
pub(super) fn are_several(input: &Input<'_>, much: IsMuch, known: &[Known<'_>]) -> bool {
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

/// Whether what runs the programs states with `line` how that ended: `make: *** [check] Error 1`.
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

/// Writes what an agent needs of each of the parts `known` of an output that ended so.
pub(super) fn write(ended: Exit, known: &[Known<'_>], output: &mut Output) {
    let mut failed = false;
    let last = known.len().saturating_sub(1);
    let asked_of_all = output.asked_lines();
    for (index, known) in known.iter().enumerate() {
        output.asks_for(known.asked_lines().unwrap_or(asked_of_all));
        // That of a line is how its last command ended, that of a runner how one of all did.
        let is_end = index == last && (!failed || known.is_told());
        let exit = match (known.family, ended) {
            (_, Exit::LastFailure) if is_end => Exit::Failure,
            (_, exit) if is_end => exit,
            // How the others ended no one said but they themselves.
            (Some(_), _) => Exit::Success,
            (None, _) => Exit::Unknown,
        };
        // What is shown as it is may be why the run failed.
        let told = known.write(exit, output);
        let is_whole = told.is_none();
        failed |= told.is_some_and(|told| told.failure);
        if failed || index == last && (is_whole || known.family.is_none()) {
            output.failed();
        }
    }
    output.asks_for(asked_of_all);
}

impl Known<'_> {
    /// Whether its command is known.
    fn is_told(&self) -> bool {
        matches!(self.giver, Giver::Command(_))
    }

    /// How many lines of it the stages behind its command ask for, 0 for all; `None` where that is not known.
    fn asked_lines(&self) -> Option<usize> {
        match &self.giver {
            Giver::Command(asked) => Some(asked.lines.unwrap_or_default()),
            Giver::PerhapsFile | Giver::Unknown => None,
        }
    }

    /// Writes what an agent needs of it when its command ended so; all of it where that is nothing less.
    fn write(&self, exit: Exit, output: &mut Output) -> Option<crate::output::Told> {
        let input = Input {
            text: self.part.text,
            words: &self.words,
            exit,
        };
        let told = if self.stays(&input) {
            None
        } else if self.is_told() {
            let line = CommandLine::default();
            Answer::of(input, &line, runs_others(&input)).reduce(output)
        } else {
            crate::nested::reduce(&input, &FAMILY, output)
        };
        if told.is_none() {
            crate::nested::whole(self.part.text, output);
        }
        told
    }

    /// Whether it, which `input` is with how it ended, is shown as it is.
    fn stays(&self, input: &Input<'_>) -> bool {
        let is_short = self.part.text.char_count() <= WHOLE_CHARS;
        let is_asked = || {
            let family = self.family.unwrap_or(generic::FAMILY.name);
            let lines = self.asked_lines().filter(|lines| *lines > 0);
            asked::shows_lines(family, input, lines)
        };
        match (&self.giver, self.family) {
            // A row in a form that is not known, or why there is none.
            (Giver::Command(_), _) if is_short && self.part.program.is_none() => true,
            (Giver::Command(_), Some(_)) => is_asked(),
            (Giver::PerhapsFile, _) if self.part.text.len() <= asked::MOST_BYTES => true,
            (_, None) => is_short || is_asked(),
            (_, Some(_)) => false,
        }
    }
}
