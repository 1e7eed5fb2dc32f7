//! Lists of files: `ls`, `find`, `tree`, `du`; trees of packages.

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
static COMPLAINTS: Beginnings<6> =
    Beginnings::new(["ls: ", "find: ", "du: ", "tree: ", "fd: ", "[fd error]"]);

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "ls" | "find" | "fd" | "fdfind" | "tree" | "du" | "exa" | "eza" | "locate" | "wc"
    ) || input.git_is(&["ls-files", "ls-tree"])
}

/// What kind of list a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Dependencies,
    Tree,
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
    with_slash: usize,
    paths: usize,
    has_row: bool,
}

impl Seen {
    fn of(input: &Input<'_>) -> Self {
        let mut seen = Self::default();
        for line in input.beginning() {
            seen.lines += 1;
            if let Some(is_package) = dependencies::bears_package(line) {
                seen.branches += 1;
                seen.packages += usize::from(is_package);
            }
            seen.complaints += usize::from(is_complaint(line));
            seen.sizes += usize::from(size(line).is_some());
            seen.with_slash += usize::from(memchr::memchr(b'/', line.as_bytes()).is_some());
            seen.paths += usize::from(is_path(line));
            seen.has_row = seen.has_row || long::is_row(line);
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
    if input.git_is(&["ls-tree", "ls-files"]) {
        return Some(List::Paths);
    }
    let lines = seen.lines - seen.complaints;
    let of_paths = seen.with_slash * 2 > lines;
    if seen.sizes * 2 > lines && (input.program() == "du" || of_paths) {
        return Some(List::Sizes);
    }
    if seen.has_row {
        return Some(List::Long);
    }
    if matches!(input.program(), "ls" | "exa" | "eza") {
        return Some(List::Names);
    }
    (seen.paths > 0 && seen.paths + seen.paths / 8 >= lines).then_some(List::Paths)
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

/// The path of a row of git that begins with its mode and its object: `100644 blob 5e1c309d\tREADME`.
fn without_object(line: &str) -> &str {
    let is_mode =
        matches!(line.as_bytes(), [b'1', _, _, _, _, _, b' ', ..]) || line.starts_with("040000 ");
    // Most lines of most lists have no mode, and are not searched for a tab.
    match is_mode.then(|| line.split_text("\t")).flatten() {
        Some((_, path)) => path,
        None => line,
    }
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
        let path = without_object(path);
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
        folders.add(folder, name.unwrap_or_default(), "");
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
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::super::input::Exit;
    use super::*;

    fn reduced(text: &str, command: &str) -> String {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let input = Input {
            text,
            words: &words,
            exit: Exit::Success,
        };
        assert_ne!(recognises(&input), Match::No, "{text}");
        let mut output = Output::default();
        reduce(&input, &mut output);
        output.finish(text.lines().count(), usize::MAX)
    }

    #[test]
    fn rows_of_a_tree_of_git_are_told_by_their_paths() {
        let rows = ["docs/a.md", "docs/b.md", "src/oak/leaf.rs"]
            .iter()
            .map(|path| {
                format!("100644 blob 5e1c309dae7f45e0f39b1bf3ac3cd9db12e7d689     320\t{path}\n")
            })
            .collect::<Vec<_>>()
            .concat();
        assert_eq!(
            reduced(&rows, "git ls-tree -r -l HEAD"),
            "docs: a.md b.md\nsrc/oak: leaf.rs\n[0 of 3 lines left out]"
        );
    }

    #[test]
    fn found_names_stand_under_their_folder() {
        let text = "./top\n./top/a.c\n./top/b.c\n./top/inner/c.c\n./.git/objects/01\n";
        assert_eq!(
            reduced(text, "find ."),
            "./top: a.c b.c\n./top/inner: c.c\n.git: … (1)\n[2 of 5 lines left out]"
        );
    }

    #[test]
    fn names_asked_for_by_a_pattern_are_all_there() {
        use std::fmt::Write as _;
        let mut text = String::new();
        for number in 0..900_u32 {
            let letter = char::from_u32(97 + number % 26).unwrap();
            writeln!(text, "./source/{letter}{number}x.stories").unwrap();
        }
        let all = text.replace("./source/", "");
        let short = reduced(
            &all.replace(|sign: char| sign.is_ascii_digit(), "q"),
            "find -name x",
        );
        assert!(short.matches("qx.stories").count() == 900, "{short}");
        assert!(reduced(&text, "find .").len() < text.len() / 5);
    }

    #[test]
    fn folders_of_a_recursive_list_keep_their_path() {
        let text = "src:\nlib\nmain.c\n\nsrc/lib:\n\nsrc/lib/deep:\nx.c\n";
        assert_eq!(
            reduced(text, "ls -R src"),
            "src: main.c\nsrc/lib/deep: x.c\n[4 of 8 lines left out]"
        );
    }

    #[test]
    fn sizes_keep_the_sums_and_the_largest() {
        use std::fmt::Write as _;
        let mut text = String::new();
        for number in 0..200 {
            let size = if number == 70 { "3.2G" } else { "4.0K" };
            writeln!(text, "{size}\t./store/part_{number}").unwrap();
        }
        text.push_str("3.3G\t.\n");
        let short = reduced(&text, "du -ah .");
        assert!(short.contains("3.2G\t./store/part_70\n") && short.contains("3.3G\t.\n"));
        assert!(short.len() * 5 < text.len(), "{short}");
    }

    #[test]
    fn rows_asked_for_by_a_last_stage_are_all_there() {
        use super::super::terminal;
        let rows: String = (0..80).fold(String::new(), |rows, number| {
            rows + &format!("{number}M\t./store/part_{number}\n")
        });
        let reduced = |command| terminal::reduce(&rows, Some(command), Exit::Success, usize::MAX);
        assert_eq!(reduced("du -ah . | sort -h | tail -n 80"), None);
        assert!(reduced("du -ah . | sort -h").is_some());
    }

    #[test]
    fn a_complaint_is_a_failure_and_stays() {
        let text = "find: './x': Permission denied\n./a\n./b\n";
        let words = ["find".to_owned()];
        let input = Input {
            text,
            words: &words,
            exit: Exit::Failure,
        };
        let mut output = Output::default();
        reduce(&input, &mut output);
        assert!(output.saw_failure());
        let short = output.finish(3, usize::MAX);
        assert!(
            short.starts_with("find: './x': Permission denied\n"),
            "{short}"
        );
    }
}
