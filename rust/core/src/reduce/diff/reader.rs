//! Reads a diff into files, keeping the order of what stands around them.

use super::super::beginnings::Beginnings;
use super::super::input::Input;
use super::file::File;
use crate::find_text::FindText as _;

/// How the part of a file begins.
static STARTS: Beginnings<5> = Beginnings::new([
    "diff --git ",
    "diff --cc ",
    "diff --combined ",
    "diff -",
    "Index: ",
]);

/// One part of the text.
pub(super) enum Row<'a> {
    /// A line outside of files.
    Prose(&'a str),
    /// The file of that number.
    File(usize),
}

impl Row<'_> {
    /// Whether it is the line with which a commit begins.
    pub(super) fn is_commit(&self) -> bool {
        matches!(self, Self::Prose(line) if line.starts_with("commit "))
    }

    /// Whether it is a row about a file in a list before the diffs.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::Prose(line) if super::is_file_row(line))
    }
}

/// Whether `line` is the first one of a file.
pub(super) fn is_start(line: &str) -> bool {
    STARTS.begin(line)
}

/// Files and what stands around them.
#[derive(Default)]
pub(super) struct Reader<'a> {
    pub(super) files: Vec<File<'a>>,
    pub(super) rows: Vec<Row<'a>>,
    /// Whether changes stand inside of lines, which then do not begin with a sign.
    by_words: bool,
}

/// Where in a file the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    Head,
    /// In a hunk with so many old and new lines to come.
    Hunk(usize, usize),
    /// In a hunk of a merge, or of `diff` without `-u`, which does not say how long it is.
    OpenHunk,
}

impl<'a> Reader<'a> {
    pub(super) fn read(input: &Input<'a>) -> Self {
        let by_words = input.has("--word-diff") || input.has("--color-words");
        let mut reader = Self {
            by_words,
            ..Self::default()
        };
        let mut state = State::Outside;
        let mut lines = input.lines().peekable();
        while let Some(line) = lines.next() {
            let next = lines.peek().copied().unwrap_or_default();
            state = reader.line(line, next, state);
        }
        reader
    }

    fn line(&mut self, line: &'a str, next: &str, state: State) -> State {
        match state {
            State::Hunk(old, new) if old > 0 || new > 0 => {
                return self.hunk_line(line, old, new);
            }
            State::OpenHunk if is_open_change(line) => {
                self.changed(line);
                return state;
            }
            State::OpenHunk if line.starts_with("  ") || line == "---" => return state,
            _ => {}
        }
        if is_start(line) {
            self.start(line);
            return State::Head;
        }
        if line.starts_with("--- ") && next.starts_with("+++ ") {
            if state != State::Head || !self.files.last().is_some_and(File::is_open) {
                self.start("");
            }
            self.head(line);
            return State::Head;
        }
        if let Some(counts) = hunk(line) {
            if self.files.is_empty() {
                self.start("");
            }
            self.changed(line);
            return counts;
        }
        if super::is_normal_change(line) && (next.starts_with("< ") || next.starts_with("> ")) {
            if state == State::Outside {
                self.start("");
            }
            self.changed(line);
            return State::OpenHunk;
        }
        // Where the head of a hunk was cut off, its lines follow the head of the file.
        let side = line.starts_with("--- ") || line.starts_with("+++ ");
        let is_change = line.starts_with(['+', '-']) && !side;
        if state == State::Head && !line.is_empty() && !is_change {
            self.head(line);
            return state;
        }
        if line.starts_with("\\ ") {
            return state;
        }
        if !self.files.is_empty() && is_change && !line.starts_with("-- ") {
            self.changed(line);
            return State::Hunk(0, 0);
        }
        self.rows.push(Row::Prose(line));
        State::Outside
    }

    fn hunk_line(&mut self, line: &'a str, old: usize, new: usize) -> State {
        if self.by_words && !is_start(line) && hunk(line).is_none() {
            // In colours alone nothing tells a changed line from another.
            if !line.trim().is_empty() {
                self.changed(line);
            }
            return State::Hunk(old.saturating_sub(1).max(1), new);
        }
        match line.as_bytes().first() {
            Some(b'+') => {
                self.changed(line);
                State::Hunk(old, new.saturating_sub(1))
            }
            Some(b'-') => {
                self.changed(line);
                State::Hunk(old.saturating_sub(1), new)
            }
            Some(b'\\') => State::Hunk(old, new),
            // Editors and terminals take the blank of an empty line away.
            Some(b' ') | None => State::Hunk(old.saturating_sub(1), new.saturating_sub(1)),
            Some(_) if is_start(line) || hunk(line).is_some() => {
                self.line(line, "", State::Outside)
            }
            // Another program wrote in between, or the text was cut inside of the hunk.
            Some(_) => {
                self.rows.push(Row::Prose(line));
                State::Hunk(old, new)
            }
        }
    }

    fn start(&mut self, line: &'a str) {
        self.rows.push(Row::File(self.files.len()));
        self.files.push(File::new(line));
    }

    fn head(&mut self, line: &'a str) {
        if let Some(file) = self.files.last_mut() {
            file.head_line(line);
        }
    }

    fn changed(&mut self, line: &'a str) {
        if let Some(file) = self.files.last_mut() {
            file.hunk_line(line);
        }
    }
}

fn is_open_change(line: &str) -> bool {
    let mut bytes = line.bytes();
    let (first, second) = (bytes.next(), bytes.next());
    let sign = |byte: Option<u8>| matches!(byte, Some(b'+' | b'-'));
    (sign(first) && !line.starts_with("--- "))
        || (first == Some(b' ') && sign(second))
        || line.starts_with("< ")
        || line.starts_with("> ")
}

/// How many lines the hunk has whose head `line` is.
fn hunk(line: &str) -> Option<State> {
    if line.starts_with("@@@ ") {
        return Some(State::OpenHunk);
    }
    let ranges = line.strip_prefix("@@ -")?;
    let (ranges, _) = ranges.split_text(" @@")?;
    let (old, new) = ranges.split_text(" +")?;
    Some(State::Hunk(count(old)?, count(new)?))
}

/// The count in `12,3`; 1 in `12`.
fn count(range: &str) -> Option<usize> {
    match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => range.parse::<usize>().ok().map(|_| 1),
    }
}
