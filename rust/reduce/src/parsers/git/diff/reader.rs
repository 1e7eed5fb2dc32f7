//! Reads a diff into files, keeping the order of the text around them.

use super::changes::Changes;
use super::file::File;
use super::{BAD_LINES, PROSE_LINES};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::is_bad;
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::Lines;

/// The first line about a file.
static STARTS: Beginnings<5> = Beginnings::new([
    "diff --git ",
    "diff --cc ",
    "diff --combined ",
    "diff -",
    "Index: ",
]);

/// How many files are shown at most.
const FILES: usize = 16_384;

/// The line above the content of a binary file.
const BINARY: &str = "GIT binary patch";

/// A line outside of files.
#[derive(Debug)]
pub(super) struct Prose<'a> {
    pub(super) line: &'a str,
    /// How many files precede it.
    pub(super) files: u32,
    /// How many lines were left out directly before it.
    pub(super) left_out: u32,
    /// Whether it is a row about a file in a list before the diffs.
    pub(super) is_row: bool,
}

impl Prose<'_> {
    /// Whether it is the first line of a commit.
    pub(super) fn is_commit(&self) -> bool {
        self.line.starts_with("commit ")
    }
}

/// Whether `line` is the first one of a file.
pub(super) fn is_start(line: &str) -> bool {
    STARTS.begin(line)
}

/// Files and the text around them.
#[derive(Default)]
pub(super) struct Reader<'a> {
    pub(super) files: Vec<File<'a>>,
    pub(super) changes: Changes<'a>,
    pub(super) prose: Vec<Prose<'a>>,
    /// How many lines were left out after the last line of text.
    pub(super) left_out: u32,
    pub(super) commits: usize,
    pub(super) has_file_rows: bool,
    plain: usize,
    bad: usize,
    /// Whether there were too many files: of the others only the number of lines is shown.
    is_full: bool,
    changed_words: ChangedWords,
    /// Whether changes can be inside of lines although the command has no known option for it.
    may_mark_words: bool,
}

/// The state of the reader within a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    Head,
    /// In the content of a binary file.
    Binary,
    /// In a hunk with this many old and new lines left.
    Hunk(usize, usize),
    /// In a hunk of a merge, or of `diff` without `-u`, whose header does not give its length.
    OpenHunk,
}

/// Whether changes are inside of lines, which then have no symbol at the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ChangedWords {
    #[default]
    None,
    /// `[-old-]{+new+}`.
    Marked,
    /// Marked by colour, or on separate lines.
    Unmarked,
}

impl ChangedWords {
    pub(super) fn of(input: &Input<'_>) -> Self {
        let plain = |word: &String| matches!(word.as_str(), "--word-diff" | "--word-diff=plain");
        if input.has("--color-words") || input.has("--word-diff=color") {
            // If colours were converted to marks, every hunk has marks.
            let hunks = input.lines().filter(|line| line.starts_with("@@ "));
            let marked = input.lines().filter(|line| marks_words(line));
            if marked.count() >= hunks.count().max(1) {
                Self::Marked
            } else {
                Self::Unmarked
            }
        } else if input.words.iter().any(plain) {
            Self::Marked
        } else if input.has("--word-diff") {
            Self::Unmarked
        } else {
            Self::None
        }
    }
}

/// Whether words of `line` are marked as old or new: `a [-calm-]{+windy+} day`.
fn marks_words(line: &str) -> bool {
    let between = |open: &str, close: &str| {
        line.split_text(open)
            .is_some_and(|(_, rest)| rest.has_text(close))
    };
    between("[-", "-]") || between("{+", "+}")
}

impl<'a> Reader<'a> {
    pub(super) fn read(input: &Input<'a>) -> Self {
        let mut reader = Self {
            changed_words: ChangedWords::of(input),
            may_mark_words: input.text.has_text("-]") || input.text.has_text("+}"),
            ..Self::default()
        };
        let mut state = State::Outside;
        if begins_in_hunk(input) {
            reader.start("");
            state = State::Hunk(0, 0);
        }
        let mut lines = input.lines();
        while let Some(line) = lines.next() {
            state = reader.line(line, &lines, state);
        }
        reader
    }

    fn line(&mut self, line: &'a str, after: &Lines<'a>, state: State) -> State {
        match state {
            State::Hunk(old, new) if old > 0 || new > 0 => {
                return self.hunk_line(line, after, old, new);
            }
            State::OpenHunk if is_open_change(line) => {
                self.changed(line);
                return state;
            }
            State::OpenHunk if line.starts_with("  ") || line == "---" => return state,
            // The header of the hunk gave a smaller number.
            State::Hunk(..) if line.starts_with(' ') => return state,
            State::Binary if is_binary(line) => return state,
            _ => {}
        }
        if line.is_empty() {
            return if state == State::Head {
                State::Outside
            } else {
                state
            };
        }
        if is_start(line) {
            self.start(line);
            return State::Head;
        }
        if line.starts_with("--- ") && next(after).starts_with("+++ ") {
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
        if super::is_normal_change(line) && next(after).starts_with(['<', '>']) {
            if state == State::Outside {
                self.start("");
            }
            self.changed(line);
            return State::OpenHunk;
        }
        // Where the header of a hunk was cut off, its lines follow the header of the file.
        let side = line.starts_with("--- ") || line.starts_with("+++ ");
        let is_change = line.starts_with(['+', '-']) && !side;
        if state == State::Head && !is_change {
            self.head(line);
            return if line == BINARY { State::Binary } else { state };
        }
        if line.starts_with("\\ ") {
            return state;
        }
        if !self.files.is_empty() && is_change && !line.starts_with("-- ") {
            self.changed(line);
            return State::Hunk(0, 0);
        }
        self.prose(line);
        State::Outside
    }

    fn hunk_line(&mut self, line: &'a str, after: &Lines<'a>, old: usize, new: usize) -> State {
        if self.changed_words != ChangedWords::None && !is_start(line) && hunk(line).is_none() {
            // If words are only marked by colour, changed lines cannot be distinguished.
            let is_changed = self.changed_words == ChangedWords::Unmarked
                || line.contains("{+")
                || line.contains("[-");
            if is_changed && !line.trim().is_empty() {
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
            Some(b' ') if self.may_mark_words && marks_words(line) => {
                self.changed(line);
                State::Hunk(old.saturating_sub(1), new.saturating_sub(1))
            }
            // Editors and terminals remove the blank of an empty line.
            Some(b' ') | None => State::Hunk(old.saturating_sub(1), new.saturating_sub(1)),
            Some(_) if is_start(line) || hunk(line).is_some() || is_commit(line) => {
                self.line(line, after, State::Outside)
            }
            // Another program printed between, or the text was cut inside the hunk.
            Some(_) => {
                self.prose(line);
                State::Hunk(old, new)
            }
        }
    }

    fn start(&mut self, line: &'a str) {
        self.is_full = self.files.len() >= FILES;
        if self.is_full {
            self.left_out += 1;
        } else {
            self.files.push(self.changes.file(line));
        }
    }

    fn head(&mut self, line: &'a str) {
        if self.is_full {
            self.left_out += 1;
        } else if let Some(file) = self.files.last_mut() {
            self.changes.head(file, line);
        }
    }

    fn changed(&mut self, line: &'a str) {
        if self.is_full {
            self.left_out += 1;
        } else if let Some(file) = self.files.last_mut() {
            self.changes.change(file, line);
        }
    }

    /// Keeps a line outside of files if it may be shown.
    fn prose(&mut self, line: &'a str) {
        if line.trim_start().is_empty() {
            return;
        }
        let row = super::is_file_row(line);
        self.has_file_rows |= row;
        let commit = line.starts_with("commit ");
        self.commits += usize::from(commit);
        // Some of them are represented by others: twice as many as are shown are enough.
        let mut kept = commit || row || self.plain < 2 * PROSE_LINES;
        self.plain += usize::from(!commit && !row);
        if !kept && self.bad < 2 * BAD_LINES && is_bad(line) {
            self.bad += 1;
            kept = true;
        }
        if kept {
            self.prose.push(Prose {
                line,
                files: u32::try_from(self.files.len()).unwrap_or(u32::MAX),
                left_out: std::mem::take(&mut self.left_out),
                is_row: row,
            });
        } else {
            self.left_out += 1;
        }
    }
}

/// Whether the header of the first hunk was cut off: all lines before the next header belong to a hunk. The first line
/// may be incomplete.
fn begins_in_hunk(input: &Input<'_>) -> bool {
    let mut changes = 0;
    let mut lines = input.lines();
    lines.next();
    for line in lines {
        match line.as_bytes().first() {
            _ if is_start(line) || hunk(line).is_some() => return changes > 0,
            Some(b'-') if line.starts_with("--- ") => return false,
            Some(b'+' | b'-') => changes += 1,
            Some(b' ' | b'\\') | None if !super::is_file_row(line) => {}
            _ => return changes > 0 && is_commit(line),
        }
    }
    false
}

/// Whether `line` is the first one of a commit, in a hunk whose header gave a larger number.
fn is_commit(line: &str) -> bool {
    line.strip_prefix("commit ").is_some_and(|name| {
        name.len() >= 40 && name.bytes().take(40).all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Whether `line` is encoded content of a binary file: `literal 12`, `delta 7`, or a letter for the length and five
/// characters for every four bytes.
fn is_binary(line: &str) -> bool {
    let sized = line.starts_with("literal ") || line.starts_with("delta ");
    let of_bytes = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'.' | b'/' | b',' | b':');
    let packed = || line.len() % 5 == 1 && line.bytes().all(of_bytes);
    line.is_empty() || sized || packed()
}

/// The next line.
fn next<'a>(after: &Lines<'a>) -> &'a str {
    after.clone().next().unwrap_or_default()
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

/// How many lines of the old and of the new text the hunk has whose header `line` is, where it states it.
pub(crate) fn hunk_lines(line: &str) -> Option<(usize, usize)> {
    match hunk(line)? {
        State::Hunk(old, new) => Some((old, new)),
        _ => None,
    }
}

/// How many lines the hunk has whose header `line` is.
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
