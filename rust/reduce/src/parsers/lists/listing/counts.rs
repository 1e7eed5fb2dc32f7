//! `wc`: the counts of many files, below their folders.

use crate::input::Input;
use crate::output::Output;
use crate::rows::names::{FOLDS, Folders};

pub(super) fn is_counts(input: &Input<'_>) -> bool {
    let lines = input.beginning().count();
    let rows = input.beginning().filter(|line| row(line).is_some()).count();
    rows > 0 && rows + rows / 8 >= lines
}

/// Every file has its counts after its name.
pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let folds = FOLDS.get(..1).unwrap_or_default();
    let mut folders = Folders::new(folds, usize::MAX, input.text.len(), output);
    let mut lines = input.lines();
    while let Some(line) = lines.next() {
        match row(line) {
            Some((counts, path)) if path != "total" => {
                let slash = memchr::memrchr(b'/', path.as_bytes());
                let parts = slash.and_then(|at| Some((path.get(..at)?, path.get(at + 1..)?)));
                let (folder, name) = parts.unwrap_or(("", path));
                folders.add(folder, name, counts);
                if folders.is_full() {
                    folders.write(lines.unread_bytes());
                }
            }
            _ if line.trim().is_empty() => {}
            _ => {
                folders.write(lines.unread_bytes());
                folders.output.fact(line.trim());
            }
        }
    }
    folders.write(0);
}

/// The counts of a line `  12  40 300 a/b.py`, and the path.
fn row(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_ascii();
    let is_other = |byte: &u8| !byte.is_ascii_digit() && *byte != b' ';
    let from = line.as_bytes().iter().position(is_other)?;
    let (counts, path) = line.split_at_checked(from)?;
    (counts.ends_with(' ') && !counts.trim_ascii().is_empty()).then_some((counts, path))
}
