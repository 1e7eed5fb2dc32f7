//! Assigns the parts of an output to the commands of a line.

use super::parts::{Part, parts};
use super::program::Program;
use super::split::{Ends, split};
use crate::input::{FILE_SHOWERS, PART_SHOWERS};
use crate::pipeline::asked;
use ethos_registry_core::command::{Asked, CommandLine, program, subcommand, tool};

/// The command that printed a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Giver {
    Command(Asked),
    /// One of several commands, some of which show files.
    PerhapsFile,
    Unknown,
}

/// A part, and the command that printed it.
pub(super) type Told<'a> = (Part<'a>, Giver);

/// The parts of `text`, each with the command of `line` that printed it if that is certain. `None` if it is not
/// certain for any part. `found` are the parts that the content alone shows.
///
/// The start and the end are assigned to commands whose output lines have a known form. In the rest, a part of a known
/// program is assigned to the next command that runs it. What is between two such parts is assigned to the commands
/// between them if their number is equal, or if the form of their lines distinguishes them.
pub(super) fn aligned<'a>(
    text: &'a str,
    found: Option<&[Part<'a>]>,
    line: &CommandLine,
) -> Option<Vec<Told<'a>>> {
    let commands = joined(line.asked()?);
    let ends = Ends::of(text, &commands);
    // If the preparation failed, the error message is above or below.
    let is_prepared = !line.may_say_why_unprepared();
    let between = between(&ends, found, is_prepared);
    let of_ends = |(text, command): (&'a str, Option<Asked>)| {
        let giver = command.map_or(Giver::Unknown, Giver::Command);
        (Part::unknown(text), giver)
    };
    let first = ends.first.into_iter().map(of_ends);
    let last = ends.last.into_iter().map(of_ends);
    let told: Vec<_> = first.chain(between).chain(last).collect();
    (told.len() > 1).then_some(told)
}

/// The parts of the text between `ends`; `found` are the parts that its content shows.
fn between<'a>(ends: &Ends<'a>, found: Option<&[Part<'a>]>, is_prepared: bool) -> Vec<Told<'a>> {
    let rest = ends.rest;
    let is_open = Open {
        above: ends.first.is_empty() && is_prepared,
        below: ends.last.is_empty() && is_prepared,
    };
    if ends.first.is_empty() && ends.last.is_empty() {
        let parts = found.map_or_else(|| vec![Part::unknown(rest)], <[Part<'a>]>::to_vec);
        return told(rest, parts, &ends.left, is_open);
    }
    if rest.trim_ascii().is_empty() {
        return Vec::new();
    }
    let parts = || parts(rest).unwrap_or_else(|| vec![Part::unknown(rest)]);
    match ends.left.as_slice() {
        // Rows of an unknown form.
        [] => vec![(Part::unknown(rest), Giver::Unknown)],
        [only] => {
            let parts = parts();
            let is_of_it =
                |part: &Part<'_>| part.program.is_some_and(|known| runs(&only.words, known));
            if parts.iter().any(is_of_it) {
                told(rest, parts, &ends.left, is_open)
            } else {
                vec![(Part::unknown(rest), Giver::Command(only.clone()))]
            }
        }
        left => told(rest, parts(), left, is_open),
    }
}

/// Whether nothing is above the text, or below it. Otherwise a line there that no family recognises, such as a row of
/// an unknown form, may belong to the output on the other side of it.
#[derive(Clone, Copy)]
struct Open {
    above: bool,
    below: bool,
}

/// Assigns the `parts` of `text` to `commands`.
fn told<'a>(
    text: &'a str,
    parts: Vec<Part<'a>>,
    commands: &[Asked],
    is_open: Open,
) -> Vec<Told<'a>> {
    let mut told: Vec<Told<'a>> = Vec::with_capacity(parts.len());
    let mut between: Vec<Part<'a>> = Vec::new();
    let mut next = 0;
    for part in parts {
        let is_run = |command: &Asked| {
            part.program
                .is_some_and(|known| runs(&command.words, known))
        };
        let behind = commands.get(next..).unwrap_or_default();
        // Output of one command can have several forms: cargo builds before it tests.
        if let Some((last, Giver::Command(command))) = told.last_mut()
            && let (Some(before), Some(program)) = (last.program, part.program)
            && (goes_on(before, program) || program == before && behind.is_empty())
            && is_run(command)
        {
            last.program = Some(program);
            last.text = text.get(last.start..part.end()).unwrap_or(last.text);
            between.clear();
            continue;
        }
        let Some(at) = behind.iter().position(is_run) else {
            between.push(part);
            continue;
        };
        let (others, own) = behind.split_at(at);
        let own = own.first();
        let giver = own.cloned().map_or(Giver::Unknown, Giver::Command);
        next += at + 1;
        // No other command can have printed what is above.
        let is_alone = is_open.above && others.is_empty() && told.is_empty();
        let above = between
            .first()
            .filter(|_| is_alone)
            .map(|above| above.start);
        if let Some(start) = above {
            between.clear();
            let text = text.get(start..part.end()).unwrap_or(part.text);
            told.push((
                Part {
                    start,
                    text,
                    ..part
                },
                giver,
            ));
        } else {
            tell(&mut told, std::mem::take(&mut between), others, own);
            told.push((part, giver));
        }
    }
    let left = commands.get(next..).unwrap_or_default();
    match told.last_mut() {
        // No other command can have printed what is below.
        Some((last, Giver::Command(_)))
            if is_open.below && left.is_empty() && !between.is_empty() =>
        {
            last.text = text.get(last.start..).unwrap_or(last.text);
        }
        _ => tell(&mut told, between, left, None),
    }
    told
}

/// The words of the command that printed the output of `line`. If several show files, those of one that shows whole
/// files.
pub(crate) fn words(line: &CommandLine) -> Vec<String> {
    let shown = line.asked().map(joined);
    let only = shown.and_then(|mut shown| shown.pop().filter(|_| shown.is_empty()));
    let only = only.map(|only| only.words);
    only.or_else(|| line.producer()).unwrap_or_default()
}

/// `commands` with consecutive commands that show files merged, because nothing shows where one file ends and the next
/// begins. The merged command shows whole files if one of them does.
pub(super) fn joined(commands: Vec<Asked>) -> Vec<Asked> {
    let shows_parts =
        |words: &[String]| program(words).is_some_and(|name| PART_SHOWERS.contains(&name));
    // Arguments that select a part of a file are not file names.
    let only_files = |words: &mut Vec<String>| {
        let mut is_program = true;
        let is_file = |word: &String| word.contains(['.', '/']) && !word.starts_with('-');
        words.retain(|word| std::mem::take(&mut is_program) || is_file(word));
    };
    let mut joined: Vec<Asked> = Vec::with_capacity(commands.len());
    let mut asked = None;
    for mut command in commands {
        let lines = asked::lines_of_file(&command);
        match joined.last_mut() {
            Some(last) if shows_files(&last.words) && shows_files(&command.words) => {
                if shows_parts(&last.words) && !shows_parts(&command.words) {
                    std::mem::swap(last, &mut command);
                }
                only_files(&mut last.words);
                only_files(&mut command.words);
                last.words.extend(command.words.drain(1..));
                asked = asked.zip(lines).map(|(all, lines)| all + lines);
                last.lines = asked;
            }
            _ => {
                asked = lines;
                joined.push(command);
            }
        }
    }
    joined
}

/// Whether `words` is a command that shows files unchanged.
pub(super) fn shows_files(words: &[String]) -> bool {
    program(words).is_some_and(|name| FILE_SHOWERS.contains(&name))
}

/// Assigns `parts` to `commands` as far as possible; the last part may include output of the command `behind` them.
fn tell<'a>(
    told: &mut Vec<Told<'a>>,
    parts: Vec<Part<'a>>,
    commands: &[Asked],
    behind: Option<&Asked>,
) {
    let is_shown = commands.iter().any(|command| shows_files(&command.words));
    let giver = |command: Option<Asked>, may_be_file: bool| match command {
        Some(command) => Giver::Command(command),
        None if is_shown && may_be_file => Giver::PerhapsFile,
        None => Giver::Unknown,
    };
    if let [part] = parts.as_slice()
        && part.program.is_none()
        && let Some(texts) = split(part.text, commands).or_else(|| {
            let with = commands.iter().chain(behind).cloned();
            behind.and_then(|_| split(part.text, &with.collect::<Vec<_>>()))
        })
    {
        let texts = texts.into_iter();
        let texts = texts.filter(|(text, _)| !text.trim_ascii().is_empty());
        told.extend(texts.map(|(text, command)| (Part { text, ..*part }, giver(command, true))));
        return;
    }
    // Outputs of several runs of one tool look the same, so parts that differ cannot be assigned one to each.
    let is_one_tool = commands.len() > 1 && are_of_one_tool(commands);
    let as_many = parts.len() == commands.len() && !is_one_tool;
    for (index, part) in parts.into_iter().enumerate() {
        let is_unknown = part.program.is_none();
        // What a runner ran is recognised by its output: `npm test`.
        let command = commands.get(index).filter(|_| as_many && is_unknown);
        told.push((part, giver(command.cloned(), is_unknown)));
    }
}

fn are_of_one_tool(commands: &[Asked]) -> bool {
    let mut tools = commands.iter().map(|command| tool(&command.words));
    let first = tools.next();
    tools.all(|other| Some(other) == first)
}

/// Whether `words` run `known`.
fn runs(words: &[String], known: Program) -> bool {
    let guessed = known.words();
    let own = guessed.get(1).filter(|own| !own.starts_with('-'));
    let is_own = |own: &&str| {
        let asked = subcommand(words);
        asked == Some(*own) || asked.is_some_and(|asked| others(known).contains(&asked))
    };
    // Without this option, another program runs: `node oak.js`, not `node --test`.
    let needed = guessed.get(1).filter(|own| own.starts_with('-'));
    let is_asked = |needed: &&str| words.iter().any(|word| word == needed);
    program(words) == guessed.first().copied()
        && own.is_none_or(is_own)
        && needed.is_none_or(is_asked)
}

/// Other subcommands of the program whose output has the form of `known`.
fn others(known: Program) -> &'static [&'static str] {
    match known {
        // Cargo builds first, whatever the subcommand is.
        Program::Cargo => &[
            "bench", "check", "clippy", "doc", "install", "run", "rustc", "test",
        ],
        Program::GitLog => &["show", "whatchanged"],
        Program::Diff => &["show", "stash"],
        Program::Npm => &["add", "ci", "i", "uninstall", "update"],
        Program::Uv => &["add", "lock", "remove", "sync"],
        _ => &[],
    }
}

/// Whether one command may have printed `before` and then `known`.
fn goes_on(before: Program, known: Program) -> bool {
    (before, known) == (Program::Cargo, Program::CargoTest)
}

#[cfg(test)]
mod tests;
