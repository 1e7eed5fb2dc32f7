//! Lines in a report that pytest does not print: from the interpreter, tests and other programs.

use super::failure::script_place;
use super::line::{is_crash_frame, is_warning};
use crate::line::library::is_library;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::unknown::Unknown;

/// The message of a crash of the interpreter.
const CRASH: &str = "Fatal Python error: ";

/// How many lines of failures are shown after others were filtered out.
const PICKED_LINES: usize = 400;
/// The same message at the same place is shown once where nothing else is between.
const PICKED_TOGETHER: usize = 4;
const PICKED_CHARS: usize = 240;

/// The state below a warning that the interpreter prints.
#[derive(Clone, Copy, Debug, Default)]
enum Warned<'a> {
    #[default]
    No,
    /// The next line is the source, or continues the message.
    Head,
    /// This line continues the message if the next one is the source.
    Message(&'a str),
}

/// The lines that are shown.
#[derive(Debug, Default)]
pub(super) struct Stray<'a> {
    pub(super) lines: Unknown<'a>,
    /// Errors and locations that were filtered from failures: `pytest | grep Error`.
    picked: Vec<&'a str>,
    warned: Warned<'a>,
    /// How often an interpreter crashed.
    crashes: usize,
}

impl<'a> Stray<'a> {
    /// Reads a line that is in no section.
    pub(super) fn outside(&mut self, line: &'a str) {
        if !is_of_failure(line) {
            self.push(line);
            return;
        }
        let mut last = self.picked.iter().rev().take(PICKED_TOGETHER);
        if self.picked.len() < PICKED_LINES && !last.any(|last| *last == line) {
            self.picked.push(line);
        }
    }

    /// Writes what was filtered from failures.
    pub(super) fn write_picked(&mut self, output: &mut Output) {
        for line in self.picked.drain(..) {
            output.failed();
            output.fact(&shorten(line.trim_end(), PICKED_CHARS));
        }
    }

    /// Reads a line. Of the frames of a crash, those of libraries are left out.
    pub(super) fn push(&mut self, line: &'a str) {
        if tells_of_crash(line) {
            self.crashes += 1;
        } else if is_crash_frame(line) && (is_library(line) || line.contains("\"<string>\"")) {
            return;
        }
        if line.is_empty() {
            return;
        }
        let is_source = line.starts_with("  warnings.warn(");
        match std::mem::take(&mut self.warned) {
            Warned::Head | Warned::Message(_) if is_source => return,
            Warned::Head => {
                self.warned = Warned::Message(line);
                return;
            }
            Warned::Message(message) => self.lines.push(message),
            Warned::No => {}
        }
        if is_warning(line) {
            self.warned = Warned::Head;
        }
        self.lines.push(line);
    }

    /// Shows the line below a warning when no further line can belong to it.
    pub(super) fn end_warning(&mut self) {
        if let Warned::Message(message) = std::mem::take(&mut self.warned) {
            self.lines.push(message);
        }
    }

    pub(super) fn write(&mut self, output: &mut Output) {
        self.lines.write(output);
        if self.crashes > 0 {
            output.failed();
        }
    }
}

/// Whether `line` is an error or a location from a failure: `E   KeyError: 'oak'`, `tests/test_a.py:7: KeyError`.
fn is_of_failure(line: &str) -> bool {
    if let Some(error) = line.strip_prefix("E  ") {
        return !error.trim().is_empty();
    }
    let is_error = |name: &str| {
        name.starts_with(|sign: char| sign.is_ascii_uppercase())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let named = line
        .rsplit_once(": ")
        .is_some_and(|(_, name)| is_error(name));
    named && script_place(line).is_some_and(|place| place.path.ends_with("py"))
}

/// Whether `line` reports a crash of the interpreter.
pub(super) fn tells_of_crash(line: &str) -> bool {
    line.contains(CRASH)
}
