//! Lists of files: `ls`, `find`, `tree`, `du`; trees of packages.

mod archive;
mod counts;
mod dependencies;
mod long;
mod sizes;
mod tree;

use super::beginnings::Beginnings;
use super::input::Input;
use super::line;
use super::names::{FOLDS, Fold, Folders};
use super::output::Output;
use super::route::{Family, Marks, Match};
use crate::find_text::FindText as _;
use sizes::{bytes, size};

pub(super) const FAMILY: Family = Family {
    name: "listing",
    runs,
    marks: Marks::OneOf(&[
        &["├─┬ "],
        &["└─┬ "],
        &["├── "],
        &["└── "],
        &["+-- "],
        &["`-- "],
        &["|-- "],
        &["rwx"],
        &["rw-"],
        &["r--"],
        &["---"],
        &["\n./"],
        &["\n/"],
        &["K\t"],
        &["M\t"],
        &["G\t"],
    ]),
    recognises,
    reduce,
};

/// Digits that tell one object of git from others.
const OBJECT_CHARS: usize = 8;
/// From here on a list is told by kinds of names, unless names were asked for by a pattern.
const MANY_BYTES: usize = 4_000;
/// From here on few names of a kind are shown.
const VERY_MANY_BYTES: usize = 20_000;
/// A long list has a twentieth of its bytes and so many more.
const LONG_LIST_BYTES: usize = 8_000;
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
/// How lines begin in which these programs tell of an error.
static COMPLAINTS: Beginnings<10> = Beginnings::new([
    "ls: ",
    "find: ",
    "du: ",
    "tree: ",
    "fd: ",
    "[fd error]",
    "tar: ",
    "unzip: ",
    "zip error: ",
    "zip warning: ",
]);

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "ls" | "find" | "fd" | "fdfind" | "tree" | "du" | "exa" | "eza" | "locate" | "wc"
    ) || archive::is_program(input.program())
        || input.git_is(&["ls-files", "ls-tree"])
}

/// What kind of list a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Dependencies,
    Tree,
    Archive,
    Counts,
    Sizes,
    Long,
    Paths,
    Names,
}

fn recognises(input: &Input<'_>) -> Match {
    match list(input) {
        Some(List::Dependencies | List::Tree) => Match::Certain,
        Some(List::Sizes | List::Paths) if !runs(input) && is_plain(input) => Match::Certain,
        Some(List::Long) if input.beginning().filter(|line| long::is_row(line)).count() > 8 => {
            Match::Certain
        }
        Some(_) if runs(input) => Match::Likely,
        _ => Match::No,
    }
}

/// What the first lines are, each read once for all kinds of lists.
#[derive(Debug, Default)]
struct Seen {
    lines: usize,
    complaints: usize,
    branches: usize,
    /// Branches that bear a package.
    packages: usize,
    sizes: usize,
    /// Sizes that end with a tab, as those of `du`.
    tabbed_sizes: usize,
    with_slash: usize,
    paths: usize,
    /// Lines as git lists what it knows.
    entries: usize,
    has_row: bool,
    members: usize,
}

impl Seen {
    fn of(input: &Input<'_>) -> Self {
        let mut seen = Self::default();
        let is_archive = archive::is_program(input.program());
        for line in input.beginning() {
            seen.lines += 1;
            if let Some(is_package) = dependencies::bears_package(line) {
                seen.branches += 1;
                seen.packages += usize::from(is_package);
            }
            seen.complaints += usize::from(is_complaint(line));
            let is_size = size(line).is_some();
            seen.sizes += usize::from(is_size);
            seen.tabbed_sizes += usize::from(is_size && line.find_text("\t").is_some());
            seen.with_slash += usize::from(memchr::memchr(b'/', line.as_bytes()).is_some());
            seen.paths += usize::from(is_path(line));
            seen.entries += usize::from(is_entry(line));
            seen.has_row = seen.has_row || long::is_row(line);
            seen.members += usize::from(is_archive && archive::is_row(line));
        }
        seen
    }
}

fn list(input: &Input<'_>) -> Option<List> {
    let seen = Seen::of(input);
    if dependencies::is_tree(seen.branches, seen.packages) {
        return Some(List::Dependencies);
    }
    if tree::is_tree(seen.branches, seen.lines) {
        return Some(List::Tree);
    }
    if input.program() == "wc" {
        return counts::is_counts(input).then_some(List::Counts);
    }
    let lines = seen.lines - seen.complaints;
    if seen.members * 3 > lines {
        return Some(List::Archive);
    }
    if input.git_is(&["ls-tree", "ls-files"]) {
        return is_most(seen.entries, lines).then_some(List::Paths);
    }
    let of_paths = seen.with_slash * 2 > lines;
    if seen.tabbed_sizes * 2 > lines && of_paths
        || seen.sizes * 2 > lines && input.program() == "du"
    {
        return Some(List::Sizes);
    }
    if seen.has_row {
        return Some(List::Long);
    }
    if of_paths && counts::is_counts(input) {
        return Some(List::Counts);
    }
    if matches!(input.program(), "ls" | "exa" | "eza") {
        return Some(List::Names);
    }
    is_most(seen.paths, lines).then_some(List::Paths)
}

/// Whether `part` of `lines` is nearly all of them.
fn is_most(part: usize, lines: usize) -> bool {
    part > 0 && part + part / 8 >= lines
}

/// Whether there are many lines and nearly all are paths from here or from the root, alone or after a size.
fn is_plain(input: &Input<'_>) -> bool {
    let lines = input.beginning().filter(|line| !is_complaint(line));
    let is_path = |path: &str| {
        (path.starts_with("./") || path.starts_with('/')) && !path.contains([' ', ':', '\t'])
    };
    let is_sized = |line: &str| {
        self::size(line).is_some()
            && line
                .split_text("\t")
                .is_some_and(|(size, _)| size.ends_with(['K', 'M', 'G']))
    };
    let (mut known, mut all) = (0, 0);
    for line in lines {
        all += 1;
        known += usize::from(is_path(line) || is_sized(line));
    }
    known >= 12 && known * 10 >= all * 9
}

fn is_complaint(line: &str) -> bool {
    COMPLAINTS.begin(line)
}

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

/// Whether git lists one file so: as a path, which is quoted if it has odd signs, or behind its object.
fn is_entry(line: &str) -> bool {
    let is_path = !line.contains(' ') || line.starts_with('"');
    !line.is_empty() && (is_path || !with_object(line).1.is_empty())
}

fn is_path(line: &str) -> bool {
    // Neither a tab, nor the blanks of prose and of columns: `: `, `  `.
    let mut last = 0;
    let is_odd = |byte: u8| {
        let before = std::mem::replace(&mut last, byte);
        matches!((before, byte), (_, b'\t' | 0) | (b':' | b' ', b' '))
    };
    !line.is_empty() && !line.bytes().any(is_odd)
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    match list(input) {
        Some(List::Dependencies) => dependencies::reduce(input, output),
        Some(List::Tree) => tree::reduce(input, output),
        Some(List::Archive) => archive::reduce(input, output),
        Some(List::Counts) => counts::reduce(input, output),
        Some(List::Sizes) => sizes::reduce(input, output),
        Some(List::Long) => long::reduce(input, output),
        Some(List::Paths) => paths(input, output),
        Some(List::Names) => names(input, output),
        None => {}
    }
    output.stays_unless_shorter(input.text);
}

/// The folds that a list of this size may go through; none when its lines were asked for by number.
fn folds(input: &Input<'_>, by_pattern: bool, output: &Output) -> &'static [Fold] {
    let bytes = input.text.len();
    let folds = if output.asked_lines() > 0 {
        FOLDS.get(..1)
    } else if by_pattern || bytes < MANY_BYTES {
        FOLDS.get(..2)
    } else if bytes < VERY_MANY_BYTES {
        FOLDS.get(..8)
    } else {
        Some(FOLDS.as_slice())
    };
    folds.unwrap_or_default()
}

/// How many bytes a list should have at most when it is folded: a fifth, of a long one less.
fn target_bytes(input: &Input<'_>) -> usize {
    let chars = input.text.char_count();
    (chars * 19 / 100).min(chars / 20 + LONG_LIST_BYTES)
}

/// The folders of a list, told in the rows of `output`.
fn folders<'a, 'o>(
    input: &Input<'a>,
    folds: &'static [Fold],
    output: &'o mut Output,
) -> Folders<'a, 'o> {
    Folders::new(folds, target_bytes(input), input.text.len(), output)
}

/// `find`: the names under their folders.
fn paths(input: &Input<'_>, output: &mut Output) {
    let by_pattern = !runs(input) || PATTERNS.iter().any(|pattern| input.has(pattern));
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
        let slash = memchr::memrchr(b'/', entry.as_bytes());
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
fn is_in_git(folder: &str) -> bool {
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
fn names(input: &Input<'_>, output: &mut Output) {
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

fn complain(line: &str, output: &mut Output) {
    output.failed();
    output.fact(&line::shorten(line, 240));
}

#[cfg(test)]
mod tests;
