//! Recognises and reduces the parts of an input.

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

/// This many bytes before or after a recognised output are more than its own beginning and end.
const MUCH_BYTES: usize = 600;

/// Whose output a long part is that no family recognises.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IsMuch {
    OfAnother,
    OfTheSame,
}

/// A part, and the words of a command that prints such output.
pub(super) struct Known<'a> {
    part: Part<'a>,
    giver: Giver,
    words: Vec<String>,
    family: Option<&'static str>,
}

/// Recognises the `parts` of `input`.
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
                // The last command is the command of the input itself.
                (_, Some([program, ..])) if index == last && input.program() == *program => {
                    input.words.to_vec()
                }
                (_, Some(words)) => words.iter().map(|word| (*word).to_owned()).collect(),
                (_, None) if index == last => input.words.to_vec(),
                // A status command after other commands.
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

/// Whether `known` contains output of more than one program.
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
    // A long part that no family recognises was not printed by a recognised program, and neither were files that are
    // shown.
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

/// Whether `line` is the report of a runner on how a program ended: `make: *** [check] Error 1`.
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

/// Writes the reduction of each part of `known`, of an output whose last command `ended` like this.
pub(super) fn write(ended: Exit, known: &[Known<'_>], output: &mut Output) {
    let mut failed = false;
    let last = known.len().saturating_sub(1);
    let asked_of_all = output.asked_lines();
    for (index, known) in known.iter().enumerate() {
        output.asks_for(known.asked_lines().unwrap_or(asked_of_all));
        // The status of a command line is that of its last command; that of a runner may be that of any command.
        let is_end = index == last && (!failed || known.is_told());
        let exit = match (known.family, ended) {
            (_, Exit::LastFailure) if is_end => Exit::Failure,
            (_, exit) if is_end => exit,
            // The status of the other commands is only known from their output.
            (Some(_), _) => Exit::Success,
            (None, _) => Exit::Unknown,
        };
        // Text that is not reduced may contain the reason for the failure.
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

    /// How many lines of it later stages of the pipeline request, 0 for all. `None` if that is not known.
    fn asked_lines(&self) -> Option<usize> {
        match &self.giver {
            Giver::Command(asked) => Some(asked.lines.unwrap_or_default()),
            Giver::PerhapsFile | Giver::Unknown => None,
        }
    }

    /// Writes its reduction for a command that ended with `exit`. If nothing can be left out, writes all of it and
    /// returns `None`.
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

    /// Whether it is shown unreduced. `input` is the part with its exit status.
    fn stays(&self, input: &Input<'_>) -> bool {
        let is_short = self.part.text.char_count() <= WHOLE_CHARS;
        let is_asked = || {
            let family = self.family.unwrap_or(generic::FAMILY.name);
            let lines = self.asked_lines().filter(|lines| *lines > 0);
            asked::shows_lines(family, input, lines)
        };
        match (&self.giver, self.family) {
            // A row of an unknown form, or the reason why there is none.
            (Giver::Command(_), _) if is_short && self.part.program.is_none() => true,
            (Giver::Command(_), Some(_)) => is_asked(),
            (Giver::PerhapsFile, _) if self.part.text.len() <= asked::MOST_BYTES => true,
            (_, None) => is_short || is_asked(),
            (_, Some(_)) => false,
        }
    }
}
