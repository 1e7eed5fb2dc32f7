//! The changed lines of all files of a diff, compared with each other.

use super::alike::{Kinds, NO_KIND};
use super::file::File;
use crate::line::source::is_head;
use ethos_registry_core::find_text::FindText as _;

/// How many changed lines are kept while a diff is read: many more than are ever shown.
const LINES: usize = 16_384;
/// The kind of a line that other lines already show.
const TOLD_BY_OTHERS: u32 = NO_KIND - 1;
/// The beginning of the first line of a conflict.
pub(super) const CONFLICT: &str = "++<<<<<<<";
/// The beginning of the last line of a conflict.
const CONFLICT_END: &str = "++>>>>>>>";
/// The longest only change of a file that is always shown.
const ONLY_CHANGE_BYTES: usize = 60;
/// A line with a checksum is at least this long.
const CHECKSUM_BYTES: usize = 40;

/// The header of a hunk, or a changed line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'a> {
    pub(super) line: &'a str,
    kind: u32,
}

impl Change<'_> {
    /// Whether it is shown itself, not represented by similar lines.
    pub(super) fn is_told(&self) -> bool {
        self.kind != TOLD_BY_OTHERS
    }

    /// Whether it is the header of a hunk.
    pub(super) fn is_hunk(&self) -> bool {
        is_hunk(self.line)
    }
}

/// The state that all files share.
#[derive(Debug, Default)]
pub(super) struct Changes<'a> {
    all: Vec<Change<'a>>,
    heads: Vec<&'a str>,
    kinds: Kinds,
}

impl<'a> Changes<'a> {
    /// A file whose first line is `start`.
    pub(super) fn file(&self, start: &'a str) -> File<'a> {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        File::new(start, count(self.heads.len()), count(self.all.len()))
    }

    /// Adds a line of the header of `file`, which must be the last file.
    pub(super) fn head(&mut self, file: &mut File<'a>, line: &'a str) {
        if file.head_line(line) {
            self.heads.push(line);
            file.heads.1 += 1;
        }
    }

    /// Adds a hunk header or a changed line of `file`, which must be the last file.
    pub(super) fn change(&mut self, file: &mut File<'a>, line: &'a str) {
        let is_hunk = is_hunk(line);
        if !is_hunk && line.len() > CHECKSUM_BYTES && is_checksum(line) {
            return;
        }
        let is_named = file.heads.1 > file.heads.0;
        if is_hunk && is_named && (line.starts_with("@@ -0,0 ") || line.ends_with(" +0,0 @@")) {
            // Its name shows already that the file is new or was removed.
            return;
        }
        if self.all.len() >= LINES {
            file.unread += 1;
            return;
        }
        let kind = if is_hunk {
            NO_KIND
        } else {
            self.kinds.count(line)
        };
        file.count(line);
        file.changes.1 += 1;
        self.all.push(Change { line, kind });
    }

    /// The rows of `file` about modes and names.
    pub(super) fn heads(&self, file: &File<'_>) -> &[&'a str] {
        let (start, end) = file.heads;
        let heads = self.heads.get(start as usize..end as usize);
        heads.unwrap_or_default()
    }

    /// The changes of `file`.
    pub(super) fn of(&self, file: &File<'_>) -> &[Change<'a>] {
        let (start, end) = file.changes;
        let changes = self.all.get(start as usize..end as usize);
        changes.unwrap_or_default()
    }

    /// Leaves out the lines that both sides of a merge share, if conflicts are marked: everything outside of the marks.
    pub(super) fn keep_conflicts(&mut self, files: &mut [File<'a>]) {
        for file in files {
            let (start, end) = file.changes;
            let changes = self.all.get_mut(start as usize..end as usize);
            let mut is_marked = false;
            for change in changes.unwrap_or_default() {
                is_marked = !change.is_hunk() && (is_marked || change.line.starts_with(CONFLICT));
                if !is_marked && !change.is_hunk() {
                    file.leave_out(change.line);
                    change.kind = TOLD_BY_OTHERS;
                }
                is_marked &= !change.line.starts_with(CONFLICT_END);
            }
            file.is_merged |= file.alike > 0;
        }
    }

    /// Leaves out headers of hunks without a shown line; if a file has only such hunks, the first header is kept.
    pub(super) fn leave_out_places(&mut self, files: &mut [File<'a>]) {
        for file in files {
            let (start, end) = file.changes;
            let changes = self.all.get_mut(start as usize..end as usize);
            let changes = changes.unwrap_or_default();
            let told = |change: &Change<'_>| change.is_told() && !change.is_hunk();
            let mut keeps_next = !changes.iter().any(told);
            for hunk in changes.chunk_by_mut(is_same_hunk) {
                if hunk.iter().any(told) || std::mem::take(&mut keeps_next) {
                    continue;
                }
                for head in hunk.iter_mut().filter(|change| change.is_hunk()) {
                    file.leave_out_place(head.line);
                    head.kind = TOLD_BY_OTHERS;
                }
            }
        }
    }

    /// Leaves out changed lines that have many equals in all files, except the first and the last, and the content of
    /// deleted files.
    pub(super) fn fold(&mut self, files: &mut [File<'a>]) {
        for file in files {
            let gone = file.is_all_gone();
            let (start, end) = file.changes;
            let changes = self.all.get_mut(start as usize..end as usize);
            for change in changes.unwrap_or_default() {
                if is_hunk(change.line) {
                    continue;
                }
                let told = gone && !is_head(change.line.get(1..).unwrap_or_default())
                    || self.kinds.is_told(change.kind);
                if told {
                    file.leave_out(change.line);
                    change.kind = TOLD_BY_OTHERS;
                }
            }
            if file.alike == 1 {
                self.tell_only_change(file);
            }
        }
    }

    /// Restores what was left out, except blank lines and lines of deleted files.
    pub(super) fn unfold(&mut self, files: &mut [File<'a>]) {
        for file in files.iter_mut().filter(|file| !file.is_all_gone()) {
            let (start, end) = file.changes;
            let changes = self.all.get_mut(start as usize..end as usize);
            let told = changes.unwrap_or_default().iter_mut();
            for change in told.filter(|change| !change.is_told() && change.line.len() > 1) {
                change.kind = NO_KIND;
                file.tell_again(change.line);
            }
        }
    }

    /// Restores the only change of `file` if it was left out as a repeat, nothing else of the file is shown, and it is
    /// not longer than the note about it.
    fn tell_only_change(&mut self, file: &mut File<'a>) {
        let (start, end) = file.changes;
        let changes = self.all.get_mut(start as usize..end as usize);
        let changes = changes.unwrap_or_default();
        let mut rows = changes.iter_mut().filter(|change| !change.is_hunk());
        if let (Some(change), None) = (rows.next(), rows.next())
            && change.line.len() <= ONLY_CHANGE_BYTES
        {
            change.kind = NO_KIND;
            file.tell_again(change.line);
        }
    }
}

/// Whether `next` is in the hunk of the line before it.
fn is_same_hunk(_: &Change<'_>, next: &Change<'_>) -> bool {
    !next.is_hunk()
}

/// Whether a line is the header of a hunk, not a changed line.
fn is_hunk(line: &str) -> bool {
    line.as_bytes().first() == Some(&b'@')
}

/// Whether a changed line is a checksum in a lock file, which belongs to a version next to it.
fn is_checksum(line: &str) -> bool {
    let text = line.get(1..).unwrap_or_default().trim_ascii_start();
    match text.as_bytes().first() {
        Some(b'-') => text.starts_with("--hash=sha"),
        Some(b'"') => text.starts_with("\"integrity\": \"sha"),
        Some(b'i') => text.starts_with("integrity sha"),
        Some(b'c') => text.starts_with("checksum = \""),
        Some(b'h') => text.starts_with("hash = \"sha"),
        Some(b'{' | b's') => text.find_text("hash = \"sha").is_some(),
        // Checksums of Go modules end like this.
        _ => text.ends_with('=') && text.find_text(" h1:").is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_known_and_versions_are_not_taken_for_them() {
        for line in [
            "+    --hash=sha256:0123456789abcdef0123456789abcdef \\",
            "-      \"integrity\": \"sha512-0123456789abcdef0123456789==\",",
            "+  integrity sha512-0123456789abcdef0123456789abcdef==",
            "+checksum = \"0123456789abcdef0123456789abcdef\"",
            "+    {file = \"a-1.0.whl\", hash = \"sha256:0123456789abcdef\"},",
            "-example.com/x/y v1.2.3 h1:0123456789abcdef0123456789abcde=",
        ] {
            assert!(is_checksum(line), "{line}");
        }
        for line in [
            "+name = \"a package with a name that is rather long\"",
            "+pkg==1.2.3 --hash=sha256:0123456789abcdef0123456789abcdef",
            "+    the integrity of the checksum of a hash is sha256 here",
        ] {
            assert!(!is_checksum(line), "{line}");
        }
    }
}
