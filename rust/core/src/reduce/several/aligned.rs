//! Which command of a line gave which part of its output.

use super::super::input::{FILE_SHOWERS, PART_SHOWERS};
use super::parts::Part;
use super::program::Program;
use super::split::split;
use crate::command::{Asked, CommandLine, program, subcommand};

/// A part, and the command that gave it.
pub(super) type Told<'a> = (Part<'a>, Option<Asked>);

/// `parts` with the words of the commands of `line` that gave them, where these are beyond doubt: a part of a known
/// program is of the next command that runs it, and what stands between two of these is of the commands between
/// them when there are as many, or when their lines tell them apart.
pub(super) fn aligned<'a>(parts: Vec<Part<'a>>, line: &CommandLine) -> Vec<Told<'a>> {
    let Some(commands) = line.asked().map(joined) else {
        return parts.into_iter().map(|part| (part, None)).collect();
    };
    let mut told = Vec::with_capacity(parts.len());
    let mut between: Vec<Part<'a>> = Vec::new();
    let mut next = 0;
    for part in parts {
        let behind = commands.get(next..).unwrap_or_default();
        let at = behind.iter().position(|command| {
            part.program
                .is_some_and(|known| runs(&command.words, known))
        });
        let Some(at) = at else {
            between.push(part);
            continue;
        };
        let (others, own) = behind.split_at(at);
        tell(&mut told, std::mem::take(&mut between), others);
        told.push((part, own.first().cloned()));
        next += at + 1;
    }
    tell(&mut told, between, commands.get(next..).unwrap_or_default());
    told
}

/// The words of the command that gave an output of `line`; of several that show files those of one that shows all.
pub(in crate::reduce) fn words(line: &CommandLine) -> Vec<String> {
    let shown = line.asked().map(joined);
    let only = shown.and_then(|mut shown| shown.pop().filter(|_| shown.is_empty()));
    let only = only.map(|only| only.words);
    only.or_else(|| line.producer()).unwrap_or_default()
}

/// `commands` with those in a row that show files taken for one: where one file ends and the next begins, nothing
/// says. It shows whole files when one of them does.
pub(super) fn joined(commands: Vec<Asked>) -> Vec<Asked> {
    let shows_parts =
        |words: &[String]| program(words).is_some_and(|name| PART_SHOWERS.contains(&name));
    let mut joined: Vec<Asked> = Vec::with_capacity(commands.len());
    for mut command in commands {
        match joined.last_mut() {
            Some(last) if shows_files(&last.words) && shows_files(&command.words) => {
                if shows_parts(&last.words) && !shows_parts(&command.words) {
                    std::mem::swap(last, &mut command);
                }
                // Of a part the numbers and scripts that say which part are no files.
                let is_file = |word: &String| word.contains(['.', '/']);
                command.words.remove(0);
                command.words.retain(is_file);
                last.words.append(&mut command.words);
                last.lines = None;
            }
            _ => joined.push(command),
        }
    }
    joined
}

/// Whether `words` show files as they are.
pub(super) fn shows_files(words: &[String]) -> bool {
    program(words).is_some_and(|name| FILE_SHOWERS.contains(&name))
}

/// `parts` are of `commands`, in what way ever.
fn tell<'a>(told: &mut Vec<Told<'a>>, parts: Vec<Part<'a>>, commands: &[Asked]) {
    if let [part] = parts.as_slice()
        && part.program.is_none()
        && let Some(texts) = split(part.text, commands)
    {
        let texts = texts.into_iter();
        let texts = texts.filter(|(text, _)| !text.trim_ascii().is_empty());
        told.extend(texts.map(|(text, command)| (Part { text, ..*part }, command)));
        return;
    }
    let as_many = parts.len() == commands.len();
    for (index, part) in parts.into_iter().enumerate() {
        // What a runner ran is known by what it printed: `npm test`.
        let command = commands
            .get(index)
            .filter(|_| as_many && part.program.is_none());
        told.push((part, command.cloned()));
    }
}

/// Whether `words` run `known`.
fn runs(words: &[String], known: Program) -> bool {
    let guessed = known.words();
    let own = guessed.get(1).filter(|own| !own.starts_with('-'));
    program(words) == guessed.first().copied()
        && own.is_none_or(|own| subcommand(words) == Some(*own))
}
