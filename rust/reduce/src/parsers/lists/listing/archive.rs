//! What an archive holds, and what was taken out of it or put into it: `tar -tv`, `unzip`, `zip`.
//!
//! ```text
//! -rw-r--r-- dev/dev  10650 2026-01-01 00:00 oak/box.py
//!     10650  2026-01-01 00:00   oak/box.py
//!   inflating: oak/box.py
//!   adding: oak/box.py (deflated 68%)
//! ```

use super::long::{is_large, row, word};
use super::{complain, folders, folds, is_complaint};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::output::Output;
use crate::rows::unknown::Unknown;

/// Prefixes of lines about each file that is removed or added.
static DONE: Beginnings<6> = Beginnings::new([
    "inflating: ",
    "extracting: ",
    "creating: ",
    "linking: ",
    "adding: ",
    "updating: ",
]);

/// A file or folder of an archive.
#[derive(Debug, PartialEq, Eq)]
struct Member<'a> {
    path: &'a str,
    /// Empty where it is not shown.
    size: &'a str,
}

pub(super) fn is_program(program: &str) -> bool {
    matches!(program, "tar" | "bsdtar" | "gtar" | "jar" | "unzip" | "zip")
}

/// Whether `line` describes a member by more than its path.
pub(super) fn is_row(line: &str) -> bool {
    member(line).is_some()
}

fn member(line: &str) -> Option<Member<'_>> {
    let text = line.trim_start_matches(' ');
    if let Some(done) = DONE.of(text) {
        let path = text.get(done.len()..)?.trim_end();
        let path = match path
            .strip_suffix("%)")
            .and_then(|path| path.rsplit_once(" ("))
        {
            Some((path, _share)) => path,
            None => path,
        };
        return Some(Member { path, size: "" });
    }
    if let Some(row) = row(text) {
        return Some(Member {
            path: row.name,
            size: row.size,
        });
    }
    let mut rest = text;
    let (size, date, time) = (word(&mut rest)?, word(&mut rest)?, word(&mut rest)?);
    let is_size = size.bytes().all(|byte| byte.is_ascii_digit());
    let dated = date.matches('-').count() == 2 && time.contains(':');
    let path = rest.trim_start_matches(' ');
    (is_size && dated && !path.is_empty()).then_some(Member { path, size })
}

/// The names under their folders, with the sizes of large files.
pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let folds = folds(input, false, output);
    let mut folders = folders(input, folds, output);
    let mut unknown = Unknown::default();
    let mut lines = input.lines();
    while let Some(line) = lines.next() {
        if let Some(Member { path, size }) = member(line) {
            // A folder is identified by what is in it, or by its name when nothing is.
            let path = path.trim_end_matches('/');
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            folders.add(folder, name, if is_large(size) { size } else { "" });
            if folders.is_full() {
                folders.write(lines.unread_bytes());
            }
        } else if is_complaint(line) {
            complain(line, folders.output);
        } else if !is_heading(line) {
            unknown.push(line);
        }
    }
    folders.write(0);
    unknown.write(output);
}

/// The names of columns, and the rulers above and below them.
fn is_heading(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b'-' | b' '))
        || line
            .split_ascii_whitespace()
            .eq(["Length", "Date", "Time", "Name"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_in_every_form() {
        for (line, path, size) in [
            (
                "-rw-r--r-- dev/dev  10650 2026-01-01 00:00 oak/a b.py",
                "oak/a b.py",
                "10650",
            ),
            (
                "    10650  2026-01-01 00:00   oak/box.py",
                "oak/box.py",
                "10650",
            ),
            (
                "    10650  01-31-2026 00:00   oak/box.py",
                "oak/box.py",
                "10650",
            ),
            ("  inflating: oak/box.py  ", "oak/box.py", ""),
            (
                "  adding: oak/elm (1).py (deflated 68%)",
                "oak/elm (1).py",
                "",
            ),
        ] {
            assert_eq!(member(line), Some(Member { path, size }), "{line}");
        }
        for line in [
            "Archive:  oak.zip",
            "  Length      Date    Time    Name",
            "  1245816                     105 files",
        ] {
            assert_eq!(member(line), None, "{line}");
        }
    }
}
