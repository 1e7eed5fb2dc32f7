//! The changes of one file.

use super::super::line;
use super::super::output::Output;
use super::super::source::is_head;

/// Rows of the head that say what became of the file.
const HEAD_ROWS: [&str; 9] = [
    "old mode ",
    "new mode ",
    "new file mode ",
    "deleted file mode ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "Binary files ",
];
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
    /// Heads of hunks and changed lines.
    changed: Vec<&'a str>,
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
        } else if HEAD_ROWS.iter().any(|row| line.starts_with(row)) {
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
        let bare = |name: &'a str| name.get(4..).unwrap_or_default();
        let same =
            bare(self.old).trim_start_matches("a/") == bare(self.new).trim_start_matches("b/");
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
        let left_out = self.changed.len() - shown;
        output.summary(&format!("... {left_out} more lines"), 0);
    }
}

/// Where a path ends and a date or nothing follows.
fn path_end(path: &str) -> usize {
    path.find('\t').unwrap_or(path.trim_end().len())
}
