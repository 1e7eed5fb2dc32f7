//! Uncaught exceptions and panics of Python, JavaScript, Java, .NET, Ruby, Go, Rust, sanitizers.

mod boxed;
mod folder;
mod native;
mod python;
mod race;
mod script;
#[cfg(test)]
mod tests;

pub(crate) use self::folder::Folder;

use crate::family::{Family, Marks, Match};
use crate::input::{Exit, Input};
use crate::line::shorten;
use crate::nested;
use crate::output::Output;
use crate::rows::unknown::Unknown;

pub(crate) const FAMILY: Family = Family {
    name: "traceback",
    runs: |_| false,
    marks: Marks::OneOf(&[
        &["Traceback (most recent"],
        &["File \""],
        &["\nFile "],
        &["Cell In[0"],
        &["\nat "],
        &[" at "],
        &["\tat "],
        &["|at "],
        &["+at "],
        &[".rb:0"],
        &["#0"],
        &["panic"],
        &["goroutine 0"],
        &["::"],
        &["=="],
    ]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 400;
/// This many lines around tracebacks are not looked at as an output of their own.
const FEW_PRINTED: usize = 16;

/// Certain when at least two of five lines of the beginning belong to a traceback, and it is not a log.
fn recognises(input: &Input<'_>) -> Match {
    let mut folder = Folder::default();
    let (mut inside, mut lines) = (0_usize, 0_usize);
    for line in input.beginning().filter(|line| !line.trim().is_empty()) {
        lines += 1;
        inside += usize::from(folder.line(line, &mut |_| {}));
    }
    let is_traceback = folder.frames() > 0 && inside.saturating_mul(5) >= lines.saturating_mul(2);
    if is_traceback && !crate::parsers::logs::log::is_log(input) {
        Match::Certain
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut folder = Folder::default();
    let mut printed = Vec::new();
    for line in input.lines() {
        let mut kept = Kept {
            output,
            printed: &mut printed,
        };
        if !folder.line(line, &mut |line| kept.write(line)) {
            printed.push(line);
        }
    }
    let mut kept = Kept {
        output,
        printed: &mut printed,
    };
    folder.finish(&mut |line| kept.write(line));
    write_printed(&mut printed, output);
    if folder.frames() > 0 {
        output.failed();
    }
}

/// Where kept lines go: after what was printed before them.
struct Kept<'a, 'o, 'u> {
    output: &'o mut Output,
    printed: &'u mut Vec<&'a str>,
}

impl Kept<'_, '_, '_> {
    fn write(&mut self, line: &str) {
        write_printed(self.printed, self.output);
        self.output.fact(&shorten(line, LINE_CHARS));
    }
}

/// Writes what was printed before a traceback, or between two, and forgets it: much of it is an output of its own.
fn write_printed(printed: &mut Vec<&str>, output: &mut Output) {
    if printed.len() > FEW_PRINTED {
        let text = printed.join("\n");
        let of_program = Input {
            text: &text,
            words: &[],
            exit: Exit::Unknown,
        };
        if nested::reduce(&of_program, &FAMILY, output).is_some() {
            printed.clear();
            return;
        }
    }
    let mut unknown = Unknown::default();
    printed.drain(..).for_each(|line| unknown.push(line));
    unknown.write(output);
}

/// The lines of `text`, a traceback with what is around it, that an agent needs.
pub(crate) fn kept_lines(text: &str) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut folder = Folder::default();
    for line in text.lines() {
        folder.line(line, &mut |line| kept.push(line));
    }
    folder.finish(&mut |line| kept.push(line));
    kept
}
