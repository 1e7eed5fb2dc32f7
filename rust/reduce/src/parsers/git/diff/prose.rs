//! The text around the files of a diff: commits, messages, lists of files, reports of formatters.

use hashbrown::HashSet;

use super::file::File;
use super::reader::{self, Reader};
use super::{BAD_LINES, LINE_CHARS, PROSE_LINES};
use crate::input::Input;
use crate::line;
use crate::output::Output;
use crate::parsers::git::git_log::without_bar;

/// How many digits of a commit id are shown.
const NAME_CHARS: usize = 8;
/// Prefixes of lines that a history does without.
const OF_COMMITS: [&str; 3] = ["Author:", "Date:", "Merge:"];

/// The lines outside of files, in order.
pub(super) struct Prose<'a, 'b> {
    rows: std::slice::Iter<'b, reader::Prose<'a>>,
    /// The paths of all files, if a program prints the same message for each.
    paths: HashSet<&'a str>,
    told: HashSet<(&'a str, &'a str)>,
    is_history: bool,
    shown: usize,
    pub(super) left_out: usize,
}

impl<'a, 'b> Prose<'a, 'b> {
    pub(super) fn new(input: &Input<'_>, diff: &'b Reader<'a>, is_history: bool) -> Self {
        let paths = if input.program() == "git" {
            HashSet::new()
        } else {
            diff.files.iter().map(File::path).collect()
        };
        Self {
            rows: diff.prose.iter(),
            paths,
            told: HashSet::new(),
            is_history,
            shown: 0,
            left_out: 0,
        }
    }

    /// The approximate length when they are shown.
    pub(super) fn bytes(&self) -> usize {
        let wanted = self.rows.clone().filter(|row| self.is_wanted(row.line));
        let lines = wanted.map(|row| shown(row, self.is_history).len().min(LINE_CHARS) + 1);
        lines.sum()
    }

    fn is_wanted(&self, line: &str) -> bool {
        !(self.is_history && OF_COMMITS.iter().any(|head| line.starts_with(head)))
    }

    /// Writes those before the file with that number.
    pub(super) fn write_before(&mut self, file: usize, output: &mut Output) {
        while let Some(row) = self.rows.as_slice().first() {
            if row.files as usize > file {
                break;
            }
            self.rows.next();
            self.write(row, output);
        }
        output.gap(std::mem::take(&mut self.left_out));
    }

    fn write(&mut self, row: &reader::Prose<'a>, output: &mut Output) {
        self.left_out += row.left_out as usize;
        if !self.is_wanted(row.line) || self.is_told(row.line) {
            return;
        }
        let fits = self.shown < PROSE_LINES
            || row.is_commit()
            || row.is_row
            || (self.shown < PROSE_LINES + BAD_LINES && line::is_bad(row.line));
        if !fits {
            self.left_out += 1;
            return;
        }
        output.gap(std::mem::take(&mut self.left_out));
        self.shown += 1;
        let text = shown(row, self.is_history).trim();
        let text = if row.is_row {
            without_bar(text)
        } else {
            text.into()
        };
        output.fact(&line::shorten(&text, LINE_CHARS));
    }

    /// Whether `line` only repeats for a file what was shown for another one.
    fn is_told(&mut self, line: &'a str) -> bool {
        if self.paths.is_empty() {
            return false;
        }
        let mut from = 0;
        for word in line.split(' ') {
            let path = word.trim_end_matches(':');
            if self.paths.contains(path) {
                let before = line.get(..from).unwrap_or_default();
                let after = line.get(from + path.len()..).unwrap_or_default();
                return !self.told.insert((before, after));
            }
            from += word.len() + 1;
        }
        false
    }
}

/// The shown form of a line: in a history, commit ids are abbreviated.
fn shown<'a>(row: &reader::Prose<'a>, is_history: bool) -> &'a str {
    if !is_history || !row.is_commit() {
        return row.line;
    }
    let name = row.line.get("commit ".len()..).unwrap_or_default();
    let is_plain = name.len() >= 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let end = if is_plain {
        "commit ".len() + NAME_CHARS
    } else {
        row.line.len()
    };
    row.line.get(..end).unwrap_or(row.line)
}
