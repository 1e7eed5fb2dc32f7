//! Trees of packages: `npm ls`, `pnpm list`, `yarn list`, `cargo tree`, `uv tree`.
//!
//! A row for each package that was asked for itself, with the same number of levels of what it needs as there is
//! room for; what is shown elsewhere or is optional goes, what is missing or does not fit stays.

use std::fmt::Write as _;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use hashbrown::HashSet;

use super::tree::drawn;
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use ethos_registry_core::find_text::any_of;

/// The percentage of the text that the packages of the deepest level shown may fill, for inputs up to
/// `SHORT_BYTES` and for longer ones.
const SHOWN_PERCENT: (usize, usize) = (60, 17);
const SHORT_BYTES: usize = 8_192;
/// Levels that were asked for are shown up to this many bytes.
const ASKED_BYTES: usize = 5_000;
const LEVEL_OPTIONS: [&str; 4] = ["--all", "-a", "--depth", "-L"];
const INVERTED: [&str; 2] = ["-i", "--invert"];
const MAX_LEVELS: usize = 16;
const LINE_CHARS: usize = 240;

/// Words of a package that is shown elsewhere, or need not be there.
const REPEATED: [&str; 4] = [" deduped", OPTIONAL, " (*)", "(deduplicated)"];
const OPTIONAL: &str = "UNMET OPTIONAL DEPENDENCY ";
/// How many optional packages are shown as they are in the source, and those shown by their name.
const OPTIONAL_ROWS: usize = 6;
const OPTIONAL_NAMES: usize = 12;
/// Words of packages that are there for one platform; most are never installed.
const PLATFORMS: [&str; 8] = [
    "-linux", "-win32", "-darwin", "-android", "-freebsd", "-x64", "-arm", "-wasm",
];
/// Before the place in a store to which a package is linked.
const STORED: &str = " -> ./node_modules/";
/// Before the versions that others ask for instead, and between them.
const INVALID: &str = " invalid: ";
const FURTHER: &str = ", \"";
/// Words of one that is wrong.
const PROBLEMS: [&str; 5] = [
    "UNMET DEPENDENCY",
    "UNMET PEER",
    " invalid",
    " extraneous",
    " missing",
];

static REPEAT: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(REPEATED));
static PROBLEM: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(PROBLEMS));

/// A package of the tree.
#[derive(Clone, Copy)]
struct Package<'a> {
    level: usize,
    name: &'a str,
}

/// Whether at least five branches are there, and most of them are packages.
pub(super) fn is_tree(branches: usize, packages: usize) -> bool {
    branches >= 5 && packages * 10 >= branches * 9
}

/// Whether `line` is a branch of a tree, and then whether it bears a package.
pub(super) fn bears_package(line: &str) -> Option<bool> {
    branch(line).map(|(_, name)| is_package(name))
}

/// `oak@1.2.3`, `oak v1.2.3`
fn is_package(name: &str) -> bool {
    let (said, _) = said(name);
    let said = said.split_once(INVALID).map_or(said, |(said, _)| said);
    let versioned = |mark: &str| {
        said.rsplit_once(mark).is_some_and(|(_, version)| {
            version
                .trim_start_matches(['^', '~', '>', '=', '<', '*'])
                .starts_with(|sign: char| sign.is_ascii_digit())
                || version.starts_with('*')
        })
    };
    versioned("@") || versioned(" v")
}

/// A package and the first problem with it, without the path in a store to which it is linked: `oak@1.2.3 invalid: "^2"
/// from node_modules/elm, "^3" from node_modules/ash`; and how many more problems there are.
fn said(name: &str) -> (&str, usize) {
    // Only names with more than a version contain a blank.
    if memchr::memchr(b' ', name.as_bytes()).is_none() {
        return (name, 0);
    }
    let said = name.split_once(STORED).map_or(name, |(said, _)| said);
    let wrong = said.split_once(INVALID);
    let others = wrong.and_then(|(_, wrong)| wrong.split_once(FURTHER));
    others.map_or((said, 0), |(_, others)| {
        let before = said.len() - others.len() - FURTHER.len();
        let more = others.split(FURTHER).count();
        (said.get(..before).unwrap_or(said), more)
    })
}

/// The columns before the branch of `line`, and what it bears.
fn branch(line: &str) -> Option<(usize, &str)> {
    let (columns, name) = drawn(line).or_else(|| drawn_by_yarn(line))?;
    Some((columns, name.trim_ascii_end()))
}

/// The same for a package of `yarn list`, whose branches are shorter: `│  └─ oak@1.2.3`.
fn drawn_by_yarn(line: &str) -> Option<(usize, &str)> {
    if !line.starts_with(['├', '└', '│', ' ']) {
        return None;
    }
    let rest = line.trim_start_matches(['│', ' ']);
    let name = rest.strip_prefix("├─ ").or(rest.strip_prefix("└─ "))?;
    let before = line.get(..line.len() - rest.len())?;
    (!name.contains(' ') && is_package(name)).then(|| (before.chars().count(), name))
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    // npm draws a level with two columns, yarn with three, cargo and uv with four.
    let narrow = input
        .beginning()
        .any(|line| drawn(line).is_some_and(|(columns, _)| columns % 4 == 2));
    let of_yarn = || input.beginning().any(|line| drawn_by_yarn(line).is_some());
    let level_columns = if narrow {
        2
    } else if of_yarn() {
        3
    } else {
        4
    };
    let package = |line| {
        branch(line).map(|(columns, name)| Package {
            level: columns / level_columns + 1,
            name,
        })
    };
    let levels = match output.asked_lines() {
        0 => levels(input, package),
        _ => usize::MAX,
    };
    // Who needs a package is shown where it is again, too.
    let inverted = INVERTED.iter().any(|option| input.has(option));
    let mut optional = Optional::default();
    let mut row = Row::default();
    let mut wrong = HashSet::new();
    for line in input.lines() {
        match package(line) {
            Some(package) if is_told_wrong(package, &mut wrong) => {}
            Some(Package { level: 1, name }) => {
                row.flush(output);
                row.begin(name);
                note(name, output);
            }
            Some(package) if is_shown(package, levels) || inverted && package.level <= levels => {
                row.add(package);
                note(package.name, output);
            }
            Some(package) => optional.add(package.name),
            None if line.trim().is_empty() => {}
            None if row.lines > 0 && is_inner_head(line) => {
                let head = without_branches(line);
                let before = line.get(..line.len() - head.len()).unwrap_or_default();
                row.close(before.chars().count() / level_columns + 1);
                row.text.push(' ');
                row.text.push_str(head);
                row.lines += 1;
            }
            None => {
                row.flush(output);
                note(line, output);
                output.fact(&shorten(line.trim_end(), LINE_CHARS));
            }
        }
    }
    row.flush(output);
    optional.write(output);
}

/// Whether `line` is the header of some packages of one that is drawn above: `│   [build-dependencies]`.
fn is_inner_head(line: &str) -> bool {
    let head = without_branches(line);
    head.len() < line.len() && head.starts_with('[') && head.ends_with("dependencies]")
}

fn without_branches(line: &str) -> &str {
    line.trim_start_matches(['│', '|', ' ', '\u{a0}'])
        .trim_end()
}

/// Optional packages that are not there, in the order in which they came.
#[derive(Default)]
struct Optional<'a> {
    names: Vec<&'a str>,
    count: usize,
}

impl<'a> Optional<'a> {
    /// Takes note of `name` if it is such a package.
    fn add(&mut self, name: &'a str) {
        let Some(name) = name.strip_prefix(OPTIONAL) else {
            return;
        };
        self.count += 1;
        let is_of_platform = PLATFORMS.iter().any(|platform| name.contains(platform));
        if self.names.len() < OPTIONAL_NAMES && !is_of_platform && !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// Writes them in one row, closed by the count of all when some are not in it.
    fn write(&self, output: &mut Output) {
        if self.names.is_empty() {
            return;
        }
        let between = if self.names.len() <= OPTIONAL_ROWS {
            [" ", OPTIONAL].concat()
        } else {
            " ".to_owned()
        };
        let mut row = [OPTIONAL, &self.names.join(&between)].concat();
        if self.count > self.names.len() {
            // Writing to a `String` cannot fail.
            let _ = write!(row, " … ({})", self.count);
        }
        output.context_of(&row, self.names.len());
    }
}

/// How many levels of packages there is room for; at least one.
fn levels<'a>(input: &Input<'a>, package: impl Fn(&'a str) -> Option<Package<'a>>) -> usize {
    let mut bytes = [0_usize; MAX_LEVELS];
    for package in input.lines().filter_map(package) {
        let told = package.level == 1 || is_shown(package, MAX_LEVELS);
        if let Some(bytes) = bytes.get_mut(package.level - 1).filter(|_| told) {
            *bytes += said(package.name).0.len() + 1;
        }
    }
    let percent = if input.text.len() <= SHORT_BYTES {
        SHOWN_PERCENT.0
    } else {
        SHOWN_PERCENT.1
    };
    let asked = if asks_for_levels(input) {
        ASKED_BYTES
    } else {
        0
    };
    let most = (input.text.len() / 100 * percent).max(asked);
    let mut sum = 0;
    let fits = bytes.iter().take_while(|bytes| {
        sum += **bytes;
        sum <= most
    });
    fits.count().max(1)
}

/// Whether the command reports how deep the tree is to be: `npm ls --all`, `pnpm list --depth 3`.
fn asks_for_levels(input: &Input<'_>) -> bool {
    LEVEL_OPTIONS.iter().any(|option| input.has(option))
}

/// Whether `package` is again, and what is wrong with it is among what was shown of it.
fn is_told_wrong<'a>(package: Package<'a>, wrong: &mut HashSet<&'a str>) -> bool {
    let Some((before, _)) = package.name.split_once(INVALID) else {
        return false;
    };
    let (name, is_again) = match before.strip_suffix(" deduped") {
        Some(name) => (name, true),
        None => (before, false),
    };
    !wrong.insert(name) && is_again
}

fn is_shown(package: Package<'_>, levels: usize) -> bool {
    // Every one of these words follows a blank.
    let is_plain = memchr::memchr(b' ', package.name.as_bytes()).is_none();
    let holds = |words: &LazyLock<Option<AhoCorasick>>| {
        !is_plain
            && words
                .as_ref()
                .is_some_and(|words| words.is_match(package.name))
    };
    holds(&PROBLEM) || package.level <= levels && !holds(&REPEAT)
}

/// Takes note of a package that is wrong, or of an error.
fn note(text: &str, output: &mut Output) {
    let wrong = PROBLEMS.iter().any(|word| text.contains(word));
    if wrong || text.starts_with("npm error") || text.starts_with("npm ERR!") {
        output.failed();
    }
}

/// The row of a package that was asked for: what others of it need follows them in brackets.
#[derive(Default)]
struct Row {
    text: String,
    lines: usize,
    /// The level of the last package, and those of the brackets that are open.
    last: usize,
    open: Vec<usize>,
}

impl Row {
    fn begin(&mut self, name: &str) {
        self.say(name);
        self.lines = 1;
        self.last = 1;
    }

    fn say(&mut self, name: &str) {
        let (said, more) = said(name);
        self.text.push_str(said);
        if more > 0 {
            // Writing to a `String` cannot fail.
            let _ = write!(self.text, " … {more} more");
        }
    }

    fn add(&mut self, package: Package<'_>) {
        self.close(package.level);
        self.text.push_str(if self.lines == 1 {
            ": "
        } else if package.level > self.last && self.last > 1 {
            self.open.push(package.level);
            " ("
        } else {
            " "
        });
        self.say(package.name);
        self.lines += 1;
        self.last = package.level;
    }

    /// Closes what is deeper than `level`.
    fn close(&mut self, level: usize) {
        while self.open.last().is_some_and(|open| *open > level) {
            self.open.pop();
            self.text.push(')');
        }
    }

    fn flush(&mut self, output: &mut Output) {
        self.close(0);
        if self.lines > 0 {
            output.summary(&self.text, self.lines);
        }
        self.text.clear();
        self.lines = 0;
    }
}

#[cfg(test)]
mod tests;
