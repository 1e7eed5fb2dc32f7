//! Uncaught exceptions and panics of Python, JavaScript, Java, .NET, Ruby, Go, Rust, sanitizers.

mod boxed;
mod folder;
mod frame;
mod library;
mod native;
mod race;
mod script;
#[cfg(test)]
mod tests;

pub(super) use self::folder::Folder;
pub(super) use self::frame::{is_exception, is_goroutine, is_python_frame, is_rust_function};
pub(super) use self::library::{is_library, is_library_name};

use super::family::{Family, Marks, Match};
use super::input::Input;
use super::line::shorten;
use super::output::Output;
use super::unknown::Unknown;

pub(super) const FAMILY: Family = Family {
    name: "traceback",
    runs: |_| false,
    marks: Marks::OneOf(&[
        &["Traceback (most recent"],
        &["File \""],
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

/// Certain when at least two of five lines of the beginning belong to a traceback, and it is no log.
fn recognises(input: &Input<'_>) -> Match {
    let mut folder = Folder::default();
    let (mut inside, mut lines) = (0_usize, 0_usize);
    for line in input.beginning().filter(|line| !line.trim().is_empty()) {
        lines += 1;
        inside += usize::from(folder.line(line, &mut |_| {}));
    }
    let is_traceback = folder.frames() > 0 && inside.saturating_mul(5) >= lines.saturating_mul(2);
    if is_traceback && !super::log::is_log(input) {
        Match::Certain
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut folder = Folder::default();
    let mut unknown = Unknown::default();
    for line in input.lines() {
        let mut kept = Kept {
            output,
            unknown: &mut unknown,
        };
        if !folder.line(line, &mut |line| kept.write(line)) {
            unknown.push(line);
        }
    }
    let mut kept = Kept {
        output,
        unknown: &mut unknown,
    };
    folder.finish(&mut |line| kept.write(line));
    unknown.write(output);
    if folder.frames() > 0 {
        output.failed();
    }
}

/// Where kept lines go: after the unknown ones that stood before them.
struct Kept<'a, 'o, 'u> {
    output: &'o mut Output,
    unknown: &'u mut Unknown<'a>,
}

impl Kept<'_, '_, '_> {
    fn write(&mut self, line: &str) {
        self.unknown.write(self.output);
        self.output.fact(&shorten(line, LINE_CHARS));
    }
}

/// The lines of `text`, a traceback with what stands around it, that an agent needs.
pub(super) fn kept_lines(text: &str) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut folder = Folder::default();
    for line in text.lines() {
        folder.line(line, &mut |line| kept.push(line));
    }
    folder.finish(&mut |line| kept.push(line));
    kept
}
