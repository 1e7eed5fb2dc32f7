//! The changes of one file.

use super::super::beginnings::Beginnings;
use super::super::line;
use super::super::output::Output;
use super::super::source::is_head;

/// Rows of the head that say what became of the file.
static HEAD_ROWS: Beginnings<9> = Beginnings::new([
    "old mode ",
    "new mode ",
    "new file mode ",
    "deleted file mode ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "Binary files ",
]);
/// The text of a deleted file with more lines is told by its definitions.
const SHORT_FILE: usize = 12;
/// Checksums in lock files: each belongs to a version that stands beside it.
const CHECKSUMS: [&str; 6] = [
    "--hash=sha",
    "\"integrity\": \"sha",
    "integrity sha",
    "checksum = \"",
    "hash = \"sha",
    " h1:",
];

/// The changes of one file.
#[derive(Debug, Default)]
pub(super) struct File<'a> {
    start: &'a str,
    old: &'a str,
    new: &'a str,
    head: Vec<&'a str>,
    /// Heads of hunks and changed lines; what is left out for being like others is empty.
    changed: Vec<&'a str>,
    alike: usize,
    bytes: usize,
}

impl<'a> File<'a> {
    pub(super) fn new(start: &'a str) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    /// A line before the first hunk.
    pub(super) fn head_line(&mut self, line: &'a str) {
        if let Some(path) = line.strip_prefix("--- ") {
            self.old = line.get(..path_end(path) + 4).unwrap_or(line);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            self.new = line.get(..path_end(path) + 4).unwrap_or(line);
        } else if HEAD_ROWS.begin(line) {
            self.head.push(line);
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.new.is_empty()
    }

    /// The head of a hunk, or a line of it.
    pub(super) fn hunk_line(&mut self, line: &'a str) {
        let checksum = CHECKSUMS.iter().any(|checksum| line.contains(checksum));
        if !checksum {
            self.bytes += line.len().min(super::LINE_CHARS) + 1;
            self.changed.push(line);
        }
    }

    /// The changed lines, without the heads of hunks.
    pub(super) fn changed_lines(&self) -> impl Iterator<Item = &'a str> + '_ {
        let lines = self.changed.iter().copied();
        lines.filter(|line| !line.starts_with("@@"))
    }

    /// Whether it is deleted and was not short.
    pub(super) fn is_all_gone(&self) -> bool {
        self.is_deleted() && self.changed.len() > SHORT_FILE
    }

    /// Leaves out the lines for which `is_told` says that others like them tell enough.
    pub(super) fn leave_out(&mut self, mut is_told: impl FnMut(&str) -> bool) {
        for changed in &mut self.changed {
            if !changed.starts_with("@@") && is_told(changed) {
                self.bytes -= changed.len().min(super::LINE_CHARS) + 1;
                self.alike += 1;
                *changed = "";
            }
        }
        self.changed.retain(|changed| !changed.is_empty());
    }

    /// The path with which it is named.
    pub(super) fn path(&self) -> &'a str {
        bare(if self.is_deleted() {
            self.old
        } else {
            self.new
        })
    }

    /// How many bytes its changes have.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn head_bytes(&self) -> usize {
        self.names().map(|row| row.len() + 1).sum()
    }

    fn is_deleted(&self) -> bool {
        self.new == "+++ /dev/null"
    }

    /// What names the file, and what became of it.
    fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        let named = self
            .head
            .iter()
            .any(|row| row.starts_with("rename to") || row.starts_with("Binary"));
        let same = bare(self.old) == bare(self.new);
        let old = !(same || named || self.old == "--- /dev/null");
        let new = !(named || self.is_deleted());
        let start = self.new.is_empty() && !named && !self.start.is_empty();
        [
            Some(self.start).filter(|_| start),
            Some(self.old).filter(|row| old && !row.is_empty()),
            Some(self.new).filter(|row| new && !row.is_empty()),
        ]
        .into_iter()
        .flatten()
        .chain(self.head.iter().copied())
    }

    /// Writes the head and at most `share` bytes of the changes.
    pub(super) fn write(&self, share: usize, line_chars: usize, output: &mut Output) {
        for row in self.names() {
            output.fact(row);
        }
        if self.bytes <= share {
            for changed in &self.changed {
                output.fact(&line::shorten(changed, line_chars));
            }
            if self.alike > 0 {
                let what = if self.is_deleted() {
                    "more lines"
                } else {
                    "alike"
                };
                output.summary(&format!("... {} {what}", self.alike), 0);
            }
            return;
        }
        let is_wanted =
            |changed: &&&str| !self.is_deleted() || is_head(changed.get(1..).unwrap_or(""));
        let mut room = share;
        let mut shown = 0;
        for changed in self.changed.iter().filter(is_wanted) {
            let text = line::shorten(changed, line_chars);
            if text.len() + 1 > room {
                break;
            }
            room -= text.len() + 1;
            shown += 1;
            output.fact(&text);
        }
        let left_out = self.changed.len() - shown + self.alike;
        output.summary(&format!("... {left_out} more lines"), 0);
    }
}

/// The path in `--- a/path` and `+++ path:after`, without what says which side it is.
fn bare(name: &str) -> &str {
    let path = name.get(4..).unwrap_or_default();
    let path = path.strip_suffix(":before").unwrap_or(path);
    let path = path.strip_suffix(":after").unwrap_or(path);
    path.strip_prefix("a/")
        .or_else(|| path.strip_prefix("b/"))
        .unwrap_or(path)
}

/// Where a path ends and a date or nothing follows.
fn path_end(path: &str) -> usize {
    path.find('\t').unwrap_or(path.trim_end().len())
}
