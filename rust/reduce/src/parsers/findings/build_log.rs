//! What logs of build tools share: rows that are shown, tracebacks that are folded, lines of no known kind.

use crate::line::shorten;
use crate::output::Output;
use crate::parsers::logs::traceback::Folder;
use crate::rows::unknown::in_place::UnknownInPlace;

const LINE_CHARS: usize = 320;

/// What is shown of a build.
pub(crate) struct BuildLog<'a, 'o> {
    folder: Folder<'a>,
    unknown: UnknownInPlace,
    output: &'o mut Output,
}

impl<'a, 'o> BuildLog<'a, 'o> {
    pub(crate) fn new(output: &'o mut Output) -> Self {
        Self {
            folder: Folder::default(),
            unknown: UnknownInPlace::default(),
            output,
        }
    }

    /// The build failed.
    pub(crate) fn failed(&mut self) {
        self.output.failed();
    }

    /// Folds a line of a traceback, and states whether it was one.
    pub(crate) fn is_traced(&mut self, line: &'a str) -> bool {
        let output = &mut *self.output;
        self.folder.line(line, &mut |row| fact(row, output))
    }

    pub(crate) fn fact(&mut self, line: &str) {
        fact(line, self.output);
    }

    pub(crate) fn context(&mut self, line: &str) {
        self.output.context(&shorten(line.trim_end(), LINE_CHARS));
    }

    /// A line of no known kind, or one of more than are shown one by one.
    pub(crate) fn other(&mut self, line: &str) {
        self.unknown.show(line, self.output);
    }

    pub(crate) fn finish(mut self) {
        let output = self.output;
        self.folder.finish(&mut |row| fact(row, output));
    }
}

fn fact(line: &str, output: &mut Output) {
    output.fact(&shorten(line.trim_end(), LINE_CHARS));
}
