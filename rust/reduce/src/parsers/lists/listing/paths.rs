//! Paths and names alone: `find`, `git ls-files`, `ls`, `ls -R`.

use super::{MANY_BYTES, complain, folders, folds, is_complaint, lists_files, runs};
use crate::input::Input;
use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;

/// How many digits of a git object id are shown.
const OBJECT_CHARS: usize = 8;
/// Words of `find` and `fd` that ask for names of a pattern.
const PATTERNS: [&str; 8] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-newer",
];

/// The same for `rg --files`.
const GLOBS: [&str; 5] = ["-g", "--glob", "--iglob", "-t", "--type"];

/// The path of a row of git that begins with its mode and its object, `100644 blob 5e1c309d\tREADME`, and the
/// first digits of the object.
fn with_object(line: &str) -> (&str, &str) {
    let is_mode =
        matches!(line.as_bytes(), [b'1', _, _, _, _, _, b' ', ..]) || line.starts_with("040000 ");
    // Most lines of most lists have no mode, and are not searched for a tab.
    match is_mode.then(|| line.split_text("\t")).flatten() {
        Some((head, path)) => {
            let is_object = |word: &&str| word.len() >= 40 && !word.contains('.');
            let object = head.split(' ').find(is_object).unwrap_or_default();
            (path, object.get(..OBJECT_CHARS).unwrap_or_default())
        }
        None => (line, ""),
    }
}

/// Whether `line` is an entry of a git listing: a path, quoted if it has special characters, or an object id with a
/// path.
pub(super) fn is_entry(line: &str) -> bool {
    let is_path = !line.contains(' ') || line.starts_with('"');
    !line.is_empty() && (is_path || !with_object(line).1.is_empty())
}

pub(super) fn is_path(line: &str) -> bool {
    // Neither a tab, nor the blanks of prose and of columns: `: `, `  `.
    let mut last = 0;
    let is_odd = |byte: u8| {
        let before = std::mem::replace(&mut last, byte);
        matches!((before, byte), (_, b'\t' | 0) | (b':' | b' ', b' '))
    };
    !line.is_empty() && !line.bytes().any(is_odd)
}

/// Whether names of a pattern were asked for, and not only all but those: `-not -path './.git/*'`,
/// `-path ./target -prune -o …`.
fn asks_for_pattern(words: &[String]) -> bool {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    (0..words.len()).any(|at| {
        let option = word(at).split('=').next().unwrap_or_default();
        let is_left_out = |before: &str| matches!(before, "-not" | "!" | "\\!");
        let before = at.checked_sub(1).map_or("", word);
        PATTERNS.contains(&option) && !is_left_out(before) && word(at + 2) != "-prune"
    })
}

/// `find`: the names under their folders.
pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let by_glob = lists_files(input) && GLOBS.iter().any(|option| input.has(option));
    let by_pattern = !runs(input) || by_glob || asks_for_pattern(input.words);
    let stays = by_pattern && input.text.len() < MANY_BYTES;
    let folds = folds(input, by_pattern, output);
    let mut folders = folders(input, folds, output);
    let mut left_out = 0;
    let mut last = ("", false);
    let has_git = memchr::memmem::find(input.text.as_bytes(), b".git/").is_some();
    let mut lines = input.lines();
    while let Some(path) = lines.next() {
        if is_complaint(path) {
            complain(path, folders.output);
            continue;
        }
        let (path, object) = with_object(path);
        let entry = match path.as_bytes().split_last() {
            Some((b'/', before)) => path.get(..before.len()).unwrap_or_default(),
            _ => path,
        };
        // What git quotes is quoted as a whole.
        let slash = if entry.as_bytes().first() == Some(&b'"') {
            None
        } else {
            memchr::memrchr(b'/', entry.as_bytes())
        };
        let (folder, name) = match slash {
            Some(at) => (entry.get(..at), entry.get(at + 1..)),
            None => (None, Some(entry)),
        };
        let folder = folder.unwrap_or_default();
        if folder != last.0 {
            last = (folder, has_git && is_in_git(folder));
        }
        if last.1 {
            left_out += 1;
            continue;
        }
        if entry.is_empty() {
            continue;
        }
        folders.add(folder, name.unwrap_or_default(), object);
        if folders.is_full() {
            folders.write(lines.unread_bytes());
        }
    }
    if stays {
        // The paths themselves were asked for.
        return output.stays();
    }
    folders.write(0);
    if left_out > 0 {
        output.summary(&format!(".git: … ({left_out})"), 0);
    }
}

/// Whether `folder` is one in which git keeps its own files.
pub(super) fn is_in_git(folder: &str) -> bool {
    let found = |at: usize| {
        let (before, after) = folder.split_at_checked(at).unwrap_or_default();
        (before.is_empty() || before.ends_with('/'))
            && after
                .strip_prefix(".git")
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    memchr::memchr_iter(b'.', folder.as_bytes()).any(found)
}

/// `ls` and `ls -R`: the names, without the blank lines between folders.
pub(super) fn names(input: &Input<'_>, output: &mut Output) {
    let folds = folds(input, false, output);
    let mut folders = folders(input, folds, output);
    let mut folder = "";
    let mut after_blank = true;
    let mut lines = input.lines();
    while let Some(line) = lines.next() {
        match line.strip_suffix(':') {
            Some(path) if after_blank => {
                folder = path;
                folders.open_as(path);
            }
            _ if is_complaint(line) => complain(line, folders.output),
            _ if line.find_text("  ").is_none() => {
                let name = line.trimmed();
                if !name.is_empty() {
                    folders.add(folder, name, "");
                }
            }
            _ => line
                .split("  ")
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .for_each(|name| folders.add(folder, name, "")),
        }
        after_blank = line.is_empty();
        if folders.is_full() {
            folders.write(lines.unread_bytes());
        }
    }
    folders.write(0);
}
