//! Finds where the output of one program ends and that of the next begins.

use memchr::{memchr_iter, memmem};

use super::line::{is_coded, is_compiled, is_node_dead};
use super::own;
use super::program::Program;
use crate::parsers::git::diff::hunk_lines;

/// An input with more parts is not a short sequence of outputs.
const MOST_PARTS: usize = 64;

/// A part of the text printed by one program, and which one if a line shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) program: Option<Program>,
    /// The start offset in the divided text.
    pub(super) start: usize,
    pub(super) text: &'a str,
}

impl<'a> Part<'a> {
    /// All of `text`, printed by an unknown program.
    pub(super) fn unknown(text: &'a str) -> Self {
        Self {
            program: None,
            start: 0,
            text,
        }
    }

    /// The end offset in the divided text.
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The parts of `text`; `None` when there is only one, or there are too many.
pub(super) fn parts(text: &str) -> Option<Vec<Part<'_>>> {
    let mut reader = Reader {
        text,
        parts: Vec::new(),
        start: 0,
        open: None,
        left: (0, 0),
        of_merge: false,
        other_lines: 0,
        compiled: memmem::find(text.as_bytes(), b"error TS").is_some(),
        coded: memmem::find(text.as_bytes(), b".py:").is_some(),
    };
    let mut start = 0;
    let ends = memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1);
    for end in ends.chain([text.len()]) {
        let line = text.get(start..end)?.trim_ascii_end();
        reader.line(line, start, end, text.get(end..)?);
        if reader.parts.len() > MOST_PARTS {
            return None;
        }
        start = end;
    }
    let open = reader.open;
    reader.close(open, text.len());
    (reader.parts.len() > 1).then(|| reader.parts())
}

struct Reader<'a> {
    text: &'a str,
    parts: Vec<(Option<Program>, usize, usize)>,
    /// The start of the current part.
    start: usize,
    /// The program of the current part, once a line has shown it.
    open: Option<Program>,
    /// How many lines of each side the current hunk still has.
    left: (usize, usize),
    /// Whether the current hunk is one of a merge, whose length is unknown.
    of_merge: bool,
    /// How many lines of unknown programs follow the last part.
    other_lines: usize,
    /// Whether the TypeScript compiler may be among the programs.
    compiled: bool,
    /// Whether flake8 may be among the programs.
    coded: bool,
}

impl<'a> Reader<'a> {
    /// Reads the line from `start` to `end`; `behind` is the text after it.
    fn line(&mut self, line: &str, start: usize, end: usize, behind: &str) {
        if let Some(program) = self.open {
            if program.ends_with_a_verdict() {
                if program == Program::Jest && is_node_dead(line) {
                    self.close(Some(program), end);
                    return;
                }
                let ended = Program::ended_by(line);
                if ended == Some(program) || ended.is_some() && program.may_be_cut() {
                    self.close(ended, end);
                    return;
                }
                let other = self
                    .begun_by(line, behind)
                    .filter(|other| *other != program);
                // Its verdict may be missing, because of `| head` or because it was stopped.
                if !other.is_some_and(|other| program.is_cut_by(other, line)) {
                    return;
                }
                self.close(Some(program), start);
            } else if self.is_of_hunk(line) || line.is_empty() || program.has(line, behind) {
                self.left = hunk_lines(line).unwrap_or(self.left);
                self.of_merge = line.starts_with("@@@ ")
                    || self.of_merge && (line.is_empty() || line.starts_with([' ', '+', '-']));
                return;
            } else {
                self.close(Some(program), start);
            }
        }
        if line.is_empty() {
            return;
        }
        if self.goes_on(line) {
            self.extend(end);
        } else if let Some(program) = self.begun_by(line, behind) {
            // An output whose first line is missing includes everything above.
            if program.is_begun_before(line) && self.parts.is_empty() {
                self.unopened(program, start);
            } else {
                self.close(None, start);
            }
            self.open = Some(program);
            self.left = (0, 0);
            self.of_merge = false;
        } else if let Some(program) = Program::ended_by(line) {
            self.unopened(program, start);
            self.close(Some(program), end);
        } else {
            self.other_lines += 1;
        }
    }

    /// Closes an output of `program` whose first line was not seen, and which ends with the line at `verdict`. What is
    /// above the first line that may belong to it is from another program.
    fn unopened(&mut self, program: Program, verdict: usize) {
        if self
            .parts
            .last()
            .is_some_and(|last| last.0 == Some(program))
        {
            return;
        }
        let above = self.text.get(self.start..verdict).unwrap_or_default();
        let mut length = 0;
        for line in above.split_inclusive('\n') {
            if own::is_own(program, line.trim_ascii_end()) {
                break;
            }
            length += line.len();
        }
        self.close(None, self.start + length);
    }

    fn begun_by(&self, line: &str, behind: &str) -> Option<Program> {
        let compiled = || self.compiled && is_compiled(line);
        let coded = || {
            // Ruff framed the source below a location even when it wrote both on one line.
            let is_framed = || behind.trim_start_matches(' ').starts_with("|\n");
            let of = |framed| {
                if framed {
                    Program::Ruff
                } else {
                    Program::Flake8
                }
            };
            (self.coded && is_coded(line)).then(|| of(is_framed()))
        };
        Program::begun_by(line, behind)
            .or_else(|| compiled().then_some(Program::Tsc))
            .or_else(coded)
    }

    /// Whether `line` is in a hunk, whose header gives its length.
    fn is_of_hunk(&mut self, line: &str) -> bool {
        let (old, new) = self.left;
        if old == 0 && new == 0 {
            return self.of_merge && line.starts_with([' ', '+', '-']);
        }
        let (of_old, of_new) = match line.as_bytes().first() {
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b'\\') => (0, 0),
            _ => (1, 1),
        };
        self.left = (old.saturating_sub(of_old), new.saturating_sub(of_new));
        true
    }

    /// Whether `line` still belongs to the last part. Lines between two parts are from another program; but a test may
    /// have printed what looked like the end of its run.
    fn goes_on(&self, line: &str) -> bool {
        let last = self.parts.last().and_then(|(program, ..)| *program);
        last.is_some_and(|program| {
            (program == Program::Pytest || self.other_lines == 0) && program.goes_on_with(line)
        })
    }

    /// Extends the last part to `end`.
    fn extend(&mut self, end: usize) {
        if let Some((program, _, last)) = self.parts.last_mut() {
            *last = end;
            let program = *program;
            self.start = end;
            self.other_lines = 0;
            // The report of a run continues after what only looked like its end.
            if program == Some(Program::Pytest) {
                self.open = program;
            }
        }
    }

    /// Closes the current part at `end` as output of `program`. Consecutive runs of one program are merged.
    fn close(&mut self, program: Option<Program>, end: usize) {
        self.open = None;
        self.other_lines = 0;
        let start = std::mem::replace(&mut self.start, end);
        let text = self.text.get(start..end).unwrap_or_default();
        if text.trim_ascii().is_empty() {
            return;
        }
        match self.parts.last_mut() {
            Some((last, _, last_end)) if *last == program => *last_end = end,
            _ => self.parts.push((program, start, end)),
        }
    }

    fn parts(&self) -> Vec<Part<'a>> {
        let part = |(program, start, end): &(Option<Program>, usize, usize)| Part {
            program: *program,
            start: *start,
            text: self.text.get(*start..*end).unwrap_or_default(),
        };
        self.parts.iter().map(part).collect()
    }
}
