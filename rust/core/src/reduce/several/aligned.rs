//! Which command of a line gave which part of its output.

use super::parts::Part;
use crate::command::{CommandLine, program, subcommand};

/// For each of `parts` the words of the command of `line` that gave it, where that is beyond doubt: a part of a known
/// program is of the next command that runs it, and what stands between two of these is of the commands between
/// them when there are as many.
pub(super) fn aligned(parts: &[Part<'_>], line: &CommandLine) -> Vec<Option<Vec<String>>> {
    let mut found: Vec<Option<Vec<String>>> = vec![None; parts.len()];
    let Some(commands) = line.producers() else {
        return found;
    };
    let (mut part, mut command) = (0, 0);
    let mut anchors: Vec<(usize, usize)> = Vec::new();
    for (index, known) in parts.iter().enumerate() {
        let behind = commands.get(command..).unwrap_or_default();
        let Some(guessed) = known.program.map(super::program::Program::words) else {
            continue;
        };
        if let Some(at) = behind.iter().position(|words| runs(words, guessed)) {
            anchors.push((index, command + at));
            command += at + 1;
        }
    }
    command = 0;
    for (next_part, next_command) in anchors.into_iter().chain([(parts.len(), commands.len())]) {
        if next_part - part == next_command - command {
            let between = commands.get(command..next_command).unwrap_or_default();
            for (found, words) in found.iter_mut().skip(part).zip(between) {
                *found = Some(words.clone());
            }
        }
        if let Some(found) = found.get_mut(next_part) {
            *found = commands.get(next_command).cloned();
        }
        (part, command) = (next_part + 1, next_command + 1);
    }
    // What a runner ran is known by what it printed: `npm test`.
    for (found, part) in found.iter_mut().zip(parts) {
        let guessed = part.program.map(super::program::Program::words);
        if let (Some(words), Some(guessed)) = (&found, guessed)
            && !runs(words, guessed)
        {
            *found = None;
        }
    }
    found
}

/// Whether `words` run the program of `guessed`.
fn runs(words: &[String], guessed: &[&str]) -> bool {
    let own = guessed.get(1).filter(|own| !own.starts_with('-'));
    program(words) == guessed.first().copied()
        && own.is_none_or(|own| subcommand(words) == Some(*own))
}
