//! Lists of files: `ls`, `find`, `tree`, `du`, `file`; trees of packages.

mod archive;
mod counts;
mod dependencies;
mod long;
mod named;
mod paths;
mod sizes;
mod stat;
mod tree;
mod types;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line;
use crate::line::beginnings::Beginnings;
use crate::output::Output;
use crate::rows::names::{FOLDS, Fold, Folders};
use ethos_registry_core::find_text::FindText as _;
use paths::{is_entry, is_path};
use sizes::{bytes, size};

pub(crate) const FAMILY: Family = Family {
    name: "listing",
    runs,
    marks: Marks::OneOf(&[
        &["├─┬ "],
        &["└─┬ "],
        &["├── "],
        &["└── "],
        &["└─ "],
        &["+-- "],
        &["`-- "],
        &["|-- "],
        &["rwx"],
        &["rw-"],
        &["r--"],
        &["---"],
        &["\n./"],
        &["\n/"],
        &["\n  Size: "],
        &["K\t"],
        &["M\t"],
        &["G\t"],
    ]),
    recognises,
    reduce,
};

/// From here on a list is identified by kinds of names, unless names were asked for by a pattern.
const MANY_BYTES: usize = 4_000;
/// From here on few names of a kind are shown.
const VERY_MANY_BYTES: usize = 20_000;
/// A long list has a twentieth of its bytes and this many more.
const LONG_LIST_BYTES: usize = 8_000;
/// How lines begin in which these programs report an error.
static COMPLAINTS: Beginnings<17> = Beginnings::new([
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
    // Of git, and of what ran before or beside the list.
    "fatal: ",
    "error: ",
    "warning: ",
    "bash: ",
    "sh: ",
    "xargs: ",
    "cat: ",
]);

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "ls" | "find"
            | "fd"
            | "fdfind"
            | "tree"
            | "du"
            | "exa"
            | "eza"
            | "file"
            | "locate"
            | "stat"
            | "wc"
    ) || archive::is_program(input.program())
        || input.git_is(&["ls-files", "ls-tree"])
        || lists_files(input)
}

/// Whether a search only lists the files that it would read: `rg --files`.
pub(crate) fn lists_files(input: &Input<'_>) -> bool {
    input.program() == "rg" && input.has("--files")
}

/// What kind of list an output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Dependencies,
    Tree,
    Archive,
    Counts,
    Types,
    Sizes,
    Stat,
    Long,
    Paths,
    Names,
}

fn recognises(input: &Input<'_>) -> Match {
    match list(input) {
        Some(List::Dependencies | List::Tree | List::Stat) => Match::Certain,
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
    /// Lines that are neither a row nor a name.
    sentences: usize,
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
            if long::is_row(line) {
                seen.has_row = true;
            } else {
                seen.sentences += usize::from(is_sentence(line));
            }
            seen.members += usize::from(is_archive && archive::is_row(line));
        }
        seen
    }
}

fn list(input: &Input<'_>) -> Option<List> {
    if stat::is_stat(input) {
        return Some(List::Stat);
    }
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
    if input.program() == "file" {
        return types::is_types(input).then_some(List::Types);
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
    // Another command printed before the list.
    if seen.sentences * 4 > lines {
        return None;
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

/// Whether `line` is a message, not the name of a file: few names have many words, and at most a size precedes one.
fn is_sentence(line: &str) -> bool {
    const WORDS: usize = 4;
    let text = line.trim_ascii_start();
    let is_sized = text.starts_with(|sign: char| sign.is_ascii_digit());
    let is_below = text.len() < line.len() && !text.is_empty() && !is_sized;
    let is_long = || memchr::memchr_iter(b' ', text.as_bytes()).count() >= WORDS;
    let is_told = || line.find_text(": ").is_some_and(|at| at + 2 < line.len());
    is_below || (is_long() || is_told()) && !is_complaint(line)
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

fn reduce(input: &Input<'_>, output: &mut Output) {
    match list(input) {
        Some(List::Dependencies) => dependencies::reduce(input, output),
        Some(List::Tree) => tree::reduce(input, output),
        Some(List::Archive) => archive::reduce(input, output),
        Some(List::Counts) => counts::reduce(input, output),
        Some(List::Types) => types::reduce(input, output),
        Some(List::Stat) => stat::reduce(input, output),
        Some(List::Sizes) => sizes::reduce(input, output),
        Some(List::Long) => long::reduce(input, output),
        Some(List::Paths) => paths::reduce(input, output),
        Some(List::Names) => paths::names(input, output),
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

/// The folders of a list, shown in the rows of `output`.
fn folders<'a, 'o>(
    input: &Input<'a>,
    folds: &'static [Fold],
    output: &'o mut Output,
) -> Folders<'a, 'o> {
    Folders::new(folds, target_bytes(input), input.text.len(), output)
}

fn complain(line: &str, output: &mut Output) {
    output.failed();
    output.fact(&line::shorten(line, 240));
}

#[cfg(test)]
mod tests;
