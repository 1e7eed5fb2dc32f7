//! `ls -l`: the names; sizes of large files and rights that are not the usual ones.

use std::borrow::Cow;

use super::super::input::Input;
use super::super::names::{Alike, FOLDS, Fold, Kinds, Known, Told, fitting, rows};
use super::super::output::Output;
use super::{MANY_BYTES, bytes, is_complaint, is_in_git};

/// Files of this size are worth a number.
const LARGE_BYTES: u64 = 10_000;
/// Different rights that are told apart.
const MOST_RIGHTS: usize = 64;

/// One row.
struct Row<'a> {
    rights: &'a str,
    size: &'a str,
    name: &'a str,
}

/// Whether `line` is a row of the long format.
pub(super) fn is_row(line: &str) -> bool {
    row(line).is_some()
}

/// The row that `line` is: rights, links, owner, group, size, date in two or three words, name.
fn row(line: &str) -> Option<Row<'_>> {
    let mut rest = line;
    let mut rights = word(&mut rest)?;
    // `-i` and `-s` put a number before the rights.
    for _ in 0..2 {
        if rights.bytes().all(|byte| byte.is_ascii_digit()) {
            rights = word(&mut rest)?;
        }
    }
    if !is_rights(rights) {
        return None;
    }
    let (_links, _owner, _group) = (word(&mut rest)?, word(&mut rest)?, word(&mut rest)?);
    let mut size = word(&mut rest)?;
    if size.ends_with(',') {
        size = word(&mut rest)?;
    }
    bytes(size)?;
    let month = word(&mut rest)?;
    word(&mut rest)?;
    if !month.contains('-') {
        word(&mut rest)?;
    } else if rest.trim_start().starts_with(['+', '-']) {
        let mut zone_skipped = rest;
        let zone = word(&mut zone_skipped)?;
        if zone.len() == 5 {
            rest = zone_skipped;
        }
    }
    let name = rest.strip_prefix(' ').unwrap_or(rest);
    (!name.is_empty()).then_some(Row { rights, size, name })
}

fn word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let start = rest.bytes().position(|byte| byte != b' ')?;
    let from = rest.get(start..)?;
    let end = memchr::memchr(b' ', from.as_bytes()).unwrap_or(from.len());
    let (word, after) = from.split_at_checked(end)?;
    *rest = after;
    (!word.is_empty()).then_some(word)
}

fn is_rights(word: &str) -> bool {
    let bytes = word.as_bytes();
    (10..=11).contains(&bytes.len())
        && bytes.first().is_some_and(|kind| b"-dlbcps".contains(kind))
        && bytes
            .iter()
            .skip(1)
            .take(9)
            .all(|right| b"-rwxsStT".contains(right))
}

/// The rows of one folder.
#[derive(Default)]
struct Folder<'a> {
    path: &'a str,
    rows: Vec<Row<'a>>,
    unknown: Vec<&'a str>,
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut folders = vec![Folder::default()];
    let mut after_blank = true;
    let mut in_git = 0;
    for line in input.lines().filter(|line| !is_complaint(line)) {
        let heading = line.strip_suffix(':').filter(|_| after_blank);
        after_blank = line.is_empty();
        if let Some(path) = heading {
            folders.push(Folder {
                path,
                ..Folder::default()
            });
            in_git += usize::from(is_in_git(path));
            continue;
        }
        let Some(folder) = folders.last_mut().filter(|folder| !is_in_git(folder.path)) else {
            continue;
        };
        match row(line) {
            Some(row) => folder.rows.push(row),
            None if line.is_empty() || line.starts_with("total ") => {}
            None => folder.unknown.push(line),
        }
    }
    let recursive = folders.len() > 2;
    let usual = usual_rights(&folders);
    folders.retain(|folder| !is_in_git(folder.path));
    let folders = folders
        .into_iter()
        .map(|folder| told(folder, usual, recursive));
    write(input, &folders.collect::<Vec<_>>(), recursive, output);
    if in_git > 0 {
        output.summary(&format!(".git: … ({in_git})"), 0);
    }
}

/// The commonest rights of files.
fn usual_rights<'a>(folders: &[Folder<'a>]) -> &'a str {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let rows = folders.iter().flat_map(|folder| &folder.rows);
    for row in rows.filter(|row| row.rights.starts_with('-')) {
        let is_room = counts.len() < MOST_RIGHTS;
        match counts.iter_mut().find(|(rights, _)| *rights == row.rights) {
            Some((_, count)) => *count += 1,
            None if is_room => counts.push((row.rights, 1)),
            None => {}
        }
    }
    let most = counts.iter().max_by_key(|(_, count)| *count);
    most.map_or("", |(rights, _)| *rights)
}

fn write(input: &Input<'_>, folders: &[Shown<'_>], recursive: bool, output: &mut Output) {
    let many = input.text.len() >= MANY_BYTES && (recursive || input.text.len() >= 3 * MANY_BYTES);
    let folds = FOLDS.get(..if many { FOLDS.len() } else { 2 });
    let fold = fitting(folders, folds.unwrap_or_default(), input.target_chars());
    let mut next = folders.iter().skip(1);
    rows(folders, fold, |folder, row, shown| {
        // A folder that only holds folders is told by their paths, which follow it.
        let below = next
            .next()
            .is_some_and(|next| is_below(next.path, folder.path));
        let told = (recursive && below) || folder.path.is_empty();
        if shown > 0 || !told {
            output.summary(row, shown);
        }
        for line in &folder.unknown {
            output.fact(line);
        }
    });
}

fn is_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    !folder.is_empty() && rest.is_some_and(|rest| rest.starts_with('/'))
}

/// A folder as it is shown: its names by their rights, the usual ones first.
struct Shown<'a> {
    path: &'a str,
    groups: Vec<(&'a str, Vec<Cow<'a, str>>)>,
    unknown: Vec<&'a str>,
}

/// The folder with what is worth telling of each of its rows.
fn told<'a>(folder: Folder<'a>, usual: &'a str, recursive: bool) -> Shown<'a> {
    let mut groups: Vec<(&str, Vec<Cow<'_, str>>)> = Vec::new();
    for row in &folder.rows {
        let is_folder = row.rights.starts_with('d');
        if (is_folder && recursive) || matches!(row.name, "." | "..") {
            continue;
        }
        let rights = if is_folder || row.rights.starts_with('l') || row.rights == usual {
            ""
        } else {
            row.rights
        };
        let large = !is_folder && bytes(row.size).is_some_and(|size| size >= LARGE_BYTES);
        let name = match (is_folder, large) {
            (true, _) => [row.name.trim_end_matches('/'), "/"].concat().into(),
            (false, true) => [row.name, " ", row.size].concat().into(),
            (false, false) => row.name.into(),
        };
        let mut groups_of = groups.iter_mut().take(MOST_RIGHTS);
        match groups_of.find(|(known, _)| *known == rights) {
            Some((_, names)) => names.push(name),
            None if rights.is_empty() => groups.insert(0, (rights, vec![name])),
            None => groups.push((rights, vec![name])),
        }
    }
    Shown {
        path: folder.path,
        groups,
        unknown: folder.unknown,
    }
}

impl Told for Shown<'_> {
    type Kinds = Vec<Kinds>;

    fn kinds(&self, alike: Alike) -> Vec<Kinds> {
        let groups = self.groups.iter();
        groups.map(|(_, names)| Kinds::of(names, alike)).collect()
    }

    fn write(&self, kinds: &Vec<Kinds>, fold: Fold, _: &mut Known, row: &mut String) -> usize {
        if !self.path.is_empty() {
            row.push_str(self.path);
            row.push(':');
        }
        let mut shown = 0;
        for ((rights, names), kinds) in self.groups.iter().zip(kinds) {
            push(row, rights);
            if !row.is_empty() {
                row.push(' ');
            }
            shown += kinds.write(names, fold.1, row);
        }
        shown
    }
}

fn push(text: &mut String, part: &str) {
    if !(text.is_empty() || part.is_empty()) {
        text.push(' ');
    }
    text.push_str(part);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn rows_are_read_with_every_kind_of_date() {
        for line in [
            "-rw-r--r-- 1 me us 9 Jul  3 08:06 a b",
            "-rw-r--r--  1 me us  9 Mar  9  2026 a b",
            "-rw-r--r-- 1 me us 9 2026-03-09 08:06 a b",
            "-rw-r--r-- 1 me us 9 2026-03-09 08:06:10.5 +0200 a b",
            "77 4 -rw-r--r-- 1 me us 9 Jul  3 08:06 a b",
        ] {
            let row = row(line).unwrap();
            assert_eq!((row.name, row.size), ("a b", "9"), "{line}");
        }
        assert!(row("drwx is not what it seems to be at all").is_none());
    }

    #[test]
    fn rights_and_sizes_that_stand_out_are_told() {
        let text = "total 9\ndrwxr-xr-x 2 me us 4096 Jul  3 08:06 .\ndrwxr-xr-x 2 me us 4096 Jul  3 \
                    08:06 docs\n-rw-r--r-- 1 me us 12 Jul  3 08:06 a\n-rw-r--r-- 1 me us 13 Jul  3 \
                    08:06 b\n-rwxr-xr-x 1 me us 99000 Jul  3 08:06 run\nlrwxrwxrwx 1 me us 3 Jul  3 \
                    08:06 now -> run\n";
        let words = ["ls".to_owned()];
        let input = Input {
            text,
            words: &words,
            exit: super::super::super::input::Exit::Success,
        };
        let mut output = Output::default();
        reduce(&input, &mut output);
        assert_eq!(
            output.finish(7, usize::MAX),
            "docs/ a b now -> run -rwxr-xr-x run 99000\n[2 of 7 lines left out]"
        );
    }
}
