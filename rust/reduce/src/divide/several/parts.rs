//! Where the output of one program ends and that of another one begins.

use memchr::{memchr_iter, memmem};

use super::line::{is_coded, is_compiled, is_node_dead};
use super::own;
use super::program::Program;
use crate::parsers::git::diff::hunk_lines;

/// More parts are not few outputs one after the other.
const MOST_PARTS: usize = 64;

/// A part of the text that one program gave; which one, if a line shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) program: Option<Program>,
    /// Where it begins in the text that was divided.
    pub(super) start: usize,
    pub(super) text: &'a str,
}

impl<'a> Part<'a> {
    /// All of `text`, about which nothing is known.
    pub(super) fn unknown(text: &'a str) -> Self {
        Self {
            program: None,
            start: 0,
            text,
        }
    }

    /// Where it ends there.
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The parts of `text`; none when it is one, or there are too many.
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
    /// Where the part begins that is being read.
    start: usize,
    /// The program whose output is being read, once a line has shown it.
    open: Option<Program>,
    /// Lines of both sides that the hunk still has.
    left: (usize, usize),
    /// Whether a hunk is open that does not say how long it is, as those of a merge.
    of_merge: bool,
    /// How many lines of no known program stand behind the last part.
    other_lines: usize,
    /// Whether the compiler of TypeScript may be among the programs.
    compiled: bool,
    /// The same for flake8.
    coded: bool,
}

impl<'a> Reader<'a> {
    /// Reads the line from `start` to `end`, with what follows it.
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
                // Its verdict may have been cut off, by `| head` or because it was stopped.
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
            // Without its beginning an output has all that is above.
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

    /// The output of `program`, whose first line was not seen, ends with the line at `verdict`: what
    /// is above the first line that may be its own is of another.
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
            // Ruff framed the source below a place even when it wrote both in one line.
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

    /// Whether `line` is in a hunk, which states how many lines it has.
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

    /// Whether `line` still belongs to the last part. Lines between them are of another program; but what
    /// looked like the end of a run of tests may have been printed by one.
    fn goes_on(&self, line: &str) -> bool {
        let last = self.parts.last().and_then(|(program, ..)| *program);
        last.is_some_and(|program| {
            (program == Program::Pytest || self.other_lines == 0) && program.goes_on_with(line)
        })
    }

    /// The last part has all up to `end`.
    fn extend(&mut self, end: usize) {
        if let Some((program, _, last)) = self.parts.last_mut() {
            *last = end;
            let program = *program;
            self.start = end;
            self.other_lines = 0;
            // The report of a run goes on after what only looked like its end.
            if program == Some(Program::Pytest) {
                self.open = program;
            }
        }
    }

    /// What was read up to `end` is of `program`. Runs of the same one that follow each other are one.
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
