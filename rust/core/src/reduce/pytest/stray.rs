//! Lines of a report that pytest does not print: of the interpreter, of tests, of other programs.

use super::line::{is_crash_frame, is_warning};
use crate::reduce::output::Output;
use crate::reduce::traceback::is_library;
use crate::reduce::unknown::Unknown;

/// What the interpreter says when it dies.
const CRASH: &str = "Fatal Python error: ";

/// What stands below a warning that the interpreter prints.
#[derive(Clone, Copy, Debug, Default)]
enum Warned<'a> {
    #[default]
    No,
    /// The next line is its source, or goes on with its message.
    Head,
    /// This line goes on with the message if the next one is the source.
    Message(&'a str),
}

/// The lines that are told of those.
#[derive(Debug, Default)]
pub(super) struct Stray<'a> {
    pub(super) lines: Unknown<'a>,
    warned: Warned<'a>,
    /// How often the interpreter of a worker, or of all, died.
    crashes: usize,
}

impl<'a> Stray<'a> {
    /// Takes a line. Of the frames that a dying interpreter prints, those of libraries say nothing.
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

    /// Tells the line below a warning where the lines that may belong to it end.
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

/// Whether the interpreter says in `line` that it dies.
pub(super) fn tells_of_crash(line: &str) -> bool {
    line.contains(CRASH)
}
