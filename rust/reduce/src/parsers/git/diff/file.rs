//! The changes of one file.

use super::changes::{Change, Changes};
use crate::line;
use crate::line::beginnings::Beginnings;
use crate::line::source::is_head;
use crate::output::Output;

/// Rows of the header that show what happened to the file.
static HEAD_ROWS: Beginnings<10> = Beginnings::new([
    "old mode ",
    "new mode ",
    "new file mode ",
    "deleted file mode ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "Binary files ",
    "GIT binary patch",
]);
/// Longer content of a deleted file is represented by its definitions, unless the diff is small.
const SHORT_FILE: u32 = 12;

/// How much of the changes of one file is written.
pub(super) struct Room {
    pub(super) bytes: usize,
    pub(super) line_chars: usize,
    /// Whether the headers of all hunks are written in addition.
    pub(super) is_every_place: bool,
}

/// The changes of one file; its rows and lines are among those of all files.
#[derive(Debug, Default)]
pub(super) struct File<'a> {
    /// The first line, until the new name is known.
    start: &'a str,
    old: &'a str,
    has_new: bool,
    /// The ranges of its rows about modes and names, and of its changes.
    pub(super) heads: (u32, u32),
    pub(super) changes: (u32, u32),
    /// How many changed lines are not shown, because they are similar to others or because there are too many.
    pub(super) alike: u32,
    pub(super) unread: u32,
    /// Whether some of them are not shown because both sides of a merge share them.
    pub(super) is_merged: bool,
    bytes: u32,
}

impl<'a> File<'a> {
    /// A file of a diff, with the number of rows and changes before it.
    pub(super) fn new(start: &'a str, heads: u32, changes: u32) -> Self {
        Self {
            start,
            heads: (heads, heads),
            changes: (changes, changes),
            ..Self::default()
        }
    }

    /// Reads a line before the first hunk; returns whether it is a row to keep.
    pub(super) fn head_line(&mut self, line: &'a str) -> bool {
        if let Some(path) = line.strip_prefix("--- ") {
            self.old = line.get(..path_end(path) + 4).unwrap_or(line);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            self.start = line.get(..path_end(path) + 4).unwrap_or(line);
            self.has_new = true;
        } else {
            return HEAD_ROWS.begin(line);
        }
        false
    }

    pub(super) fn is_open(&self) -> bool {
        !self.has_new
    }

    /// The line with the new name; empty if there is none.
    fn new_name(&self) -> &'a str {
        if self.has_new { self.start } else { "" }
    }

    /// Counts a change.
    pub(super) fn count(&mut self, line: &str) {
        self.bytes = self.bytes.saturating_add(shown_bytes(line));
    }

    /// Records a change that is left out because other files show it.
    pub(super) fn leave_out(&mut self, line: &str) {
        self.bytes = self.bytes.saturating_sub(shown_bytes(line));
        self.alike += 1;
    }

    /// Records that a change that was left out is shown after all.
    pub(super) fn tell_again(&mut self, line: &str) {
        self.count(line);
        self.alike -= 1;
    }

    /// Records the header of a hunk that is not shown.
    pub(super) fn leave_out_place(&mut self, line: &str) {
        self.bytes = self.bytes.saturating_sub(shown_bytes(line));
    }

    /// Whether it was deleted and was not short.
    pub(super) fn is_all_gone(&self) -> bool {
        self.is_deleted() && self.changes.1 - self.changes.0 > SHORT_FILE
    }

    /// The path that is shown.
    pub(super) fn path(&self) -> &'a str {
        bare(if self.is_deleted() {
            self.old
        } else {
            self.new_name()
        })
    }

    /// How many bytes its changes have.
    pub(super) fn bytes(&self) -> usize {
        self.bytes as usize
    }

    pub(super) fn head_bytes(&self, changes: &Changes<'a>) -> usize {
        self.names(changes).map(|row| row.len() + 1).sum()
    }

    fn is_deleted(&self) -> bool {
        self.new_name() == "+++ /dev/null"
    }

    /// The rows with the name of the file and what happened to it.
    fn names<'b>(&self, changes: &'b Changes<'a>) -> impl Iterator<Item = &'a str> + use<'a, 'b> {
        let heads = changes.heads(self);
        let named = heads
            .iter()
            .any(|row| row.starts_with("rename to") || row.starts_with("Binary"));
        let same = bare(self.old) == bare(self.new_name());
        let old = !(same || named || self.old == "--- /dev/null");
        let new = !(named || self.is_deleted());
        let start = !self.has_new && !named && !self.start.is_empty();
        [
            Some(self.start).filter(|_| start),
            Some(self.old).filter(|row| old && !row.is_empty()),
            Some(self.new_name()).filter(|row| new && !row.is_empty()),
        ]
        .into_iter()
        .flatten()
        .chain(heads.iter().copied())
    }

    /// How many bytes the headers of its hunks have.
    pub(super) fn place_bytes(&self, changes: &Changes<'a>) -> usize {
        let places = changes.of(self).iter().filter(|change| change.is_hunk());
        places.map(|place| place.line.len() + 1).sum()
    }

    /// Writes the header, and as many changes as fit.
    pub(super) fn write(&self, changes: &Changes<'a>, room: &Room, output: &mut Output) {
        let Room {
            bytes: share,
            line_chars,
            is_every_place,
        } = *room;
        for row in self.names(changes) {
            output.fact(row);
        }
        let mut told = changes.of(self).iter().filter(|change| change.is_told());
        if self.bytes() <= share && self.unread == 0 {
            for change in told {
                output.fact(&line::shorten(change.line, line_chars));
            }
            output.gap(self.alike as usize);
            return;
        }
        let is_wanted = |change: &&Change<'_>| {
            !self.is_deleted() || is_head(change.line.get(1..).unwrap_or(""))
        };
        let mut room = share;
        let mut left_out = self.alike + self.unread;
        for change in told.by_ref() {
            if is_every_place && change.is_hunk() {
                output.fact(change.line);
                continue;
            }
            let fits =
                (room > 0 && is_wanted(&change)).then(|| line::shorten(change.line, line_chars));
            let fits = fits.filter(|text| {
                if text.len() >= room {
                    // Later changes would appear to follow directly.
                    room = 0;
                }
                text.len() < room
            });
            match fits {
                Some(text) => {
                    room -= text.len() + 1;
                    output.fact(&text);
                }
                None => left_out += 1,
            }
        }
        output.gap(left_out as usize);
    }
}

/// How many bytes of `line` are shown at most, with its end.
fn shown_bytes(line: &str) -> u32 {
    u32::try_from(line.len().min(super::LINE_CHARS) + 1).unwrap_or(0)
}

/// The path in `--- a/path` and `+++ path:after`, without the prefix or suffix for the side.
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
