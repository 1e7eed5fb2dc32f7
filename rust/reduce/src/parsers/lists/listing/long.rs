//! `ls -l`: the names; sizes of large files and rights that are not the usual ones.

use super::named::Named;
use super::paths::is_in_git;
use super::{MANY_BYTES, bytes, complain, folders, is_complaint};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::names::{FOLDS, Folders};
use crate::rows::report::squeezed;
use ethos_registry_core::chunk::{chunk_at, digits, each};

/// Files of this size are worth a number, and this many digits it has.
const LARGE_BYTES: u64 = 10_000;
const LARGE_DIGITS: usize = 5;
const LINE_CHARS: usize = 240;
/// Of rows that were asked for in an order, this many of the first stay.
const SORTED_ROWS: usize = 10;

/// One row.
pub(super) struct Row<'a> {
    pub(super) rights: &'a str,
    pub(super) size: &'a str,
    pub(super) name: &'a str,
}

/// Whether `line` is a row of the long format.
pub(super) fn is_row(line: &str) -> bool {
    row(line).is_some()
}

/// The row that `line` is: rights, links, owner, group, size, date in two or three words, name; or one of
/// `tar -tv`.
pub(super) fn row(line: &str) -> Option<Row<'_>> {
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
    // An archive has owner and group in one word, and no links.
    if !word(&mut rest)?.contains('/') {
        let (_owner, _group) = (word(&mut rest)?, word(&mut rest)?);
    }
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

pub(super) fn word<'a>(rest: &mut &'a str) -> Option<&'a str> {
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

/// Where the columns of a folder's rows end and begin: all its rows have them in the same place.
#[derive(Clone, Copy, Default)]
struct Columns {
    rights: usize,
    size_end: usize,
    name: usize,
}

impl Columns {
    /// Those of `row`, which is `line`; none when something precedes the rights.
    fn of(line: &str, row: &Row<'_>) -> Self {
        let size_end = (line.len() - row.name.len()).min(line.len());
        let before_name = line.as_bytes().get(..size_end).unwrap_or_default();
        let size = memchr::memmem::rfind(before_name, row.size.as_bytes());
        match size.filter(|_| line.starts_with(row.rights)) {
            Some(size) => Self {
                rights: row.rights.len(),
                size_end: size + row.size.len(),
                name: size_end,
            },
            None => Self::default(),
        }
    }

    /// The row that `line` is, when its columns are in these places; `None` when they may be in others.
    fn row(self, line: &str) -> Option<Row<'_>> {
        let bytes = line.as_bytes();
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is_blank = |at: usize| bytes.get(at) == Some(&b' ');
        let starts = matches!(
            bytes,
            [
                b'-' | b'd' | b'l',
                b'r' | b'-',
                b'w' | b'-',
                _,
                b'r' | b'-',
                ..
            ]
        );
        let (size_at, name_at) = (self.size_end.checked_sub(1)?, self.name.checked_sub(2)?);
        let fits = starts
            && is_blank(self.rights)
            && is_digit(size_at)
            && is_blank(self.size_end)
            && is_digit(name_at)
            && is_blank(name_at + 1)
            && !is_blank(self.name);
        if !fits {
            return None;
        }
        let size = number_start(bytes, self.size_end);
        if bytes.get(size.checked_sub(1)?) != Some(&b' ') {
            return None;
        }
        Some(Row {
            rights: line.get(..self.rights)?,
            size: line.get(size..self.size_end)?,
            name: line.get(self.name..)?,
        })
    }
}

/// Where the number begins that ends at `end`.
fn number_start(bytes: &[u8], end: usize) -> usize {
    // Most sizes are digits alone, fewer than eight: they are read at once.
    if let Some(from) = end.checked_sub(8) {
        let others = !digits(chunk_at(bytes, from)) & each(0x80);
        let start = end - others.leading_zeros() as usize / 8;
        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
        if start > from && before == Some(&b' ') {
            return start;
        }
    }
    let before = bytes.get(..end).unwrap_or_default();
    let is_number = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',');
    end - before.iter().rev().take_while(is_number).count()
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let recursive = is_recursive(input);
    let many = if recursive { 2 } else { 3 } * MANY_BYTES;
    let folds = match (output.asked_lines(), input.text.len()) {
        (1.., _) => FOLDS.get(..1),
        (_, bytes) if bytes >= many => Some(FOLDS.as_slice()),
        // Of several folders that are not long, which files there are counts more than their sizes.
        (_, bytes) if recursive && bytes >= MANY_BYTES => FOLDS.get(..4),
        _ => FOLDS.get(..2),
    };
    let folds = folds.unwrap_or_default();
    let mut folders = folders(input, folds, output);
    let mut columns = Columns::default();
    let mut first = if input.text.len() >= MANY_BYTES && is_sorted(input) {
        SORTED_ROWS
    } else {
        0
    };
    let (mut skips, mut in_git, mut after_blank) = (false, 0, true);
    let mut path = "";
    let mut named = Named::of(input);
    let mut lines = input.lines();
    while let Some(line) = lines.next() {
        if folders.is_full() {
            folders.write(lines.unread_bytes() + line.len());
            folders.open_again(
                0,
                if named.path.is_empty() {
                    path
                } else {
                    named.path
                },
            );
        }
        if let Some(row) = columns.row(line) {
            if first > 0 {
                first -= 1;
                folders.output.fact(&squeezed(line));
            } else if let Some(row) = named.below(row, &mut folders)
                && !skips
            {
                add(&row, recursive, &mut folders);
            }
            continue;
        }
        let heading = line.strip_suffix(':').filter(|_| after_blank);
        after_blank = line.is_empty();
        if is_complaint(line) {
            complain(line, folders.output);
        } else if let Some(heading) = heading {
            path = heading;
            named.headed();
            skips = is_in_git(path);
            in_git += usize::from(skips);
            if !skips {
                folders.open(0, path);
            }
        } else if !skips && !line.is_empty() {
            match row(line) {
                Some(row) => {
                    columns = Columns::of(line, &row);
                    if first > 0 {
                        first -= 1;
                        folders.output.fact(&squeezed(line));
                    } else if let Some(row) = named.below(row, &mut folders) {
                        add(&row, recursive, &mut folders);
                    }
                }
                None if line.starts_with("total ") => {}
                None => folders.output.fact(&shorten(line, LINE_CHARS)),
            }
        }
    }
    folders.write(0);
    let in_git = in_git + named.in_git;
    if in_git > 0 {
        output.summary(&format!(".git: … ({in_git})"), 0);
    }
}

/// Whether the rows of one folder were asked for by size or by time, the greatest first: `ls -lhS`, `ls -lt`.
fn is_sorted(input: &Input<'_>) -> bool {
    let asks = |word: &String| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        matches!(letters, "-sort=size" | "-sort=time")
            || !letters.starts_with('-') && letters.contains(['S', 't']) && !letters.contains('r')
    };
    let mut folders = input.lines().filter(|line| line.starts_with("total "));
    input.program() == "ls"
        && input.words.iter().skip(1).any(asks)
        && folders.nth(1).is_none()
        && !is_recursive(input)
}

/// Whether folders are shown below those that they are in.
fn is_recursive(input: &Input<'_>) -> bool {
    let asks = |word: &String| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        letters == "-recursive" || !letters.starts_with('-') && letters.contains('R')
    };
    let heading = || input.beginning().find_map(|line| line.strip_suffix(':'));
    let below = |heading| {
        let below = ["\n", heading, "/"].concat();
        memchr::memmem::find(input.text.as_bytes(), below.as_bytes()).is_some()
    };
    input.words.iter().skip(1).any(asks) || heading().is_some_and(below)
}

/// Adds what is worth showing of a row to its folder.
fn add<'a>(row: &Row<'a>, recursive: bool, folders: &mut Folders<'a, '_>) {
    match row.rights.as_bytes().first() {
        _ if matches!(row.name, "." | "..") => {}
        Some(b'd') if recursive => {}
        Some(b'd') => folders.add_labelled("", row.name.trim_end_matches('/'), "/"),
        Some(b'l') => folders.add_labelled("", row.name, ""),
        _ => {
            let note = if is_large(row.size) { row.size } else { "" };
            folders.add_labelled(row.rights, row.name, note);
        }
    }
}

pub(super) fn is_large(size: &str) -> bool {
    // A size has a unit, or digits alone; `1,2` has the unit after it.
    match size.as_bytes().last() {
        Some(last) if last.is_ascii_digit() => size.len() >= LARGE_DIGITS,
        _ => bytes(size).is_some_and(|size| size >= LARGE_BYTES),
    }
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
    fn rows_below_each_other_are_read_by_their_columns() {
        let first = "-rw-r--r-- 1 me us   912 Jul  3 08:06 a b";
        let columns = Columns::of(first, &row(first).unwrap());
        let next = "drwxr-xr-x 2 me us 40960 Jul  3 08:06 c";
        let read = columns.row(next).unwrap();
        assert_eq!(
            (read.rights, read.size, read.name),
            ("drwxr-xr-x", "40960", "c")
        );
        for other in [
            "-rw-r--r-- 1 me us 1234567 Jul  3 08:06 a 5 b",
            "-rw-r--r-- 1 me us 91 Jul  3 08:06 1 b",
            "-rw-r--r-- 1 me us 4",
            "total 4",
        ] {
            assert!(columns.row(other).is_none(), "{other}");
        }
    }

    #[test]
    fn sizes_begin_behind_the_last_blank() {
        for (line, size) in [
            ("x 1", "1"),
            ("rights me us 1234567 ", "1234567"),
            ("rights me us 12345678 ", "12345678"),
            ("rights me us 123456789012 ", "123456789012"),
            ("rights me us 1.5 ", "1.5"),
            ("rights me us 12,3456 ", "12,3456"),
            ("rights me us    7 ", "7"),
        ] {
            let end = line.trim_end().len();
            assert_eq!(
                number_start(line.as_bytes(), end),
                end - size.len(),
                "{line}"
            );
        }
    }
}
