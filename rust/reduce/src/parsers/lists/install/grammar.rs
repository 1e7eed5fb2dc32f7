//! Lines that package managers write, shown by how they begin.

mod beginnings;

use std::ops::Range;
use std::sync::LazyLock;

use crate::line;
use ethos_registry_core::find_text::FindText as _;

/// What a line of a package manager is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Fetching, unpacking, advertising.
    Noise,
    /// What was done.
    Result,
    /// What went wrong.
    Bad,
    /// A requirement that was met before: its name follows.
    Satisfied,
    /// A package that should not be used any more: its name follows.
    Deprecated,
    /// A package that was removed: its name follows.
    Removed,
    /// A package that a simulated run would install: its name follows.
    Simulated,
    /// The header of a list of packages with indented lines; what was done repeats them.
    List,
    /// The header of such a list of packages that nothing was done with.
    Hints,
    /// A command line that is quoted for many lines, up to the line with its folder.
    Quoted,
}

use Line::{Noise, Result};
use beginnings::BEGINNINGS;

/// Whether npm states in a line what went wrong.
pub(super) fn is_npm_error(line: &str) -> bool {
    line.starts_with("npm error") || line.starts_with("npm ERR!")
}

/// The beginnings in their order, so that one of a line is found by a few comparisons.
static SORTED: LazyLock<Vec<Beginning>> = LazyLock::new(|| {
    let mut sorted: Vec<_> = BEGINNINGS.to_vec();
    sorted.sort_unstable_by_key(|(text, _)| *text);
    sorted.dedup_by_key(|(text, _)| *text);
    let shorter = |at: usize, text: &str| {
        let before = sorted.get(..at).unwrap_or_default();
        before
            .iter()
            .rposition(|(other, _)| text.starts_with(other))
    };
    let beginnings = sorted.iter().enumerate();
    beginnings
        .map(|(at, (text, line))| Beginning {
            key: key(text),
            text,
            line: *line,
            shorter: shorter(at, text),
        })
        .collect()
});

struct Beginning {
    /// The first bytes of the text as a number, which are compared first.
    key: u128,
    text: &'static str,
    line: Line,
    /// The longest of the others with which it begins itself.
    shorter: Option<usize>,
}

/// The first bytes of `text` as a number that orders inputs as their bytes do; what is missing is zero.
fn key(text: &str) -> u128 {
    match text.as_bytes().first_chunk() {
        Some(first) => u128::from_be_bytes(*first),
        None => text
            .bytes()
            .chain(std::iter::repeat(0))
            .take(size_of::<u128>())
            .fold(0, |key, byte| key << u8::BITS | u128::from(byte)),
    }
}

/// Where those are in it that begin with each byte.
static RANGES: LazyLock<Vec<Range<usize>>> = LazyLock::new(|| {
    let behind = |byte: Option<u8>| {
        SORTED.partition_point(|beginning| beginning.text.as_bytes().first().copied() <= byte)
    };
    (0..=u8::MAX)
        .map(|byte| behind(byte.checked_sub(1))..behind(Some(byte)))
        .collect()
});

/// The longest beginning of `text` that is known.
fn beginning(text: &str) -> Option<&'static Beginning> {
    let first = text.as_bytes().first()?;
    let range = RANGES.get(usize::from(*first))?;
    let alike = SORTED
        .get(range.clone())
        .filter(|alike| !alike.is_empty())?;
    let key = key(text);
    let is_before = |beginning: &Beginning| {
        beginning.key < key || beginning.key == key && beginning.text <= text
    };
    let behind = range.start + alike.partition_point(is_before);
    // What begins `text` precedes it, and begins all that is between.
    let mut found = SORTED.get(behind.checked_sub(1)?)?;
    while !text.starts_with(found.text) {
        found = SORTED.get(found.shorter?)?;
    }
    Some(found)
}

/// What follows the count in a line like `2 upgraded, 17 newly installed`.
const COUNTED: [&str; 12] = [
    "upgraded, ",
    "packages are looking for funding",
    "package is looking for funding",
    "vulnerabilities",
    "vulnerability",
    "gem installed",
    "gems installed",
    "packages can be upgraded",
    "package can be upgraded",
    "moderate severity",
    "high severity",
    "critical severity",
];

/// Programs whose command lines builds print, also with the machine in front of their name.
const COMPILERS: [&str; 7] = ["gcc", "g++", "cc", "c++", "clang", "clang++", "ld"];
/// How lines end that mean nothing.
const ENDINGS: [&str; 3] = [
    "-- can't clean it",
    "-report.txt",
    "can't be found in the cache and will be fetched from the remote registry",
];

/// What ` + oak==1.0` or `  - Installing oak (1.0)` states was installed, with its version.
pub(super) fn installed(line: &str) -> Option<&str> {
    let text = line.strip_prefix(' ')?;
    if let Some(package) = text.strip_prefix("+ ") {
        let named = package.contains("==") && !package.contains(' ');
        return named.then_some(package);
    }
    let text = text.trim_start();
    let package = text
        .strip_prefix("- Installing ")
        .or_else(|| text.strip_prefix("• Installing "))?;
    let (name, version) = package.split_once(' ')?;
    let versioned = version.starts_with('(') && version.ends_with(')');
    (versioned && !name.is_empty() && !version.contains(' ')).then_some(package)
}

/// Whether `line` is for a package that the command itself asked for, or of a difference of locks.
pub(super) fn is_asked(line: &str) -> bool {
    if begins_with_sign(line) && !line.starts_with('C') {
        return false;
    }
    let text = without_marks(line);
    text.starts_with("Collecting ") && !text.ends_with(')')
        || line.starts_with('➤') && text.starts_with(['+', '-']) && !is_lock_context(line)
}

/// Whether `line` is a field that `pip show` prints of a package.
pub(super) fn is_told_of_package(line: &str) -> bool {
    line.starts_with(['N', 'V', 'L', 'R'])
        && [
            "Name: ",
            "Version: ",
            "Location: ",
            "Requires: ",
            "Required-by: ",
        ]
        .iter()
        .any(|field| line.starts_with(field))
}

/// Whether `line` shows which installed packages do not fit each other: `oak 1.0 has requirement leaf>=2, but you have
/// leaf 1.0.`
pub(super) fn is_conflict(line: &str) -> bool {
    line.ends_with('.')
        && (line.has_text(" has requirement ") && line.has_text(", but you have ")
            || line.has_text(" requires ") && line.ends_with(", which is not installed."))
}

/// What `line` is for and what follows its beginning; `None` when no package manager is known to
/// write such a line.
pub(super) fn known(line: &str) -> Option<(Line, &str)> {
    let text = without_marks(line);
    let found = beginning(text)?;
    Some((found.line, text.get(found.text.len()..)?))
}

/// Whether `line` begins with a count of packages, or with how far apt is, and whether that is of use.
pub(super) fn counted(line: &str) -> Option<Line> {
    let text = line.trim_start();
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    if rest.len() == text.len() {
        return None;
    }
    if rest.starts_with("% [") && rest.ends_with(']') {
        return Some(Noise);
    }
    let rest = rest.trim_start();
    let found = COUNTED.iter().find(|words| rest.starts_with(**words))?;
    let advert = found.ends_with("for funding");
    Some(if advert { Noise } else { Result })
}

/// Whether `line` names the archive that a build has made; of a package it is only a step.
pub(super) fn is_built_archive(line: &str) -> bool {
    const ENDINGS: [&str; 2] = [".whl", ".tar.gz"];
    let archive = |name: &str| ENDINGS.iter().any(|ending| name.ends_with(ending));
    let built = without_marks(line).strip_prefix("Successfully built ");
    built.is_some_and(|names| names.split(' ').any(archive))
}

/// Why a file was passed over, without the address that each such file has of its own.
pub(super) fn without_link(line: &str) -> &str {
    const WHY: &str = "Link requires a different Python (";
    let is_link = line.trim_start().starts_with(WHY);
    let told = is_link.then(|| line.split_text("): ")).flatten();
    told.map_or(line, |(why, _)| line.get(..=why.len()).unwrap_or(line))
}

/// Whether `line` states something that is the same in every run of its kind.
pub(super) fn is_boilerplate(line: &str) -> bool {
    let text = line.trimmed();
    let program = text.split_text(" ").map_or(text, |(program, _)| program);
    let is_compiler = COMPILERS.iter().any(|name| {
        program
            .strip_suffix(name)
            .is_some_and(|head| head.is_empty() || head.ends_with(['-', '/']))
    });
    is_compiler && text.has_text(" -")
        || ENDINGS.iter().any(|ending| text.ends_with(ending))
        || is_lock_context(text)
        || text.starts_with("Ignoring ") && text.has_text(": markers '")
        || line::place(text).is_some_and(|place| {
            place.path.contains("site-packages/") && place.rest.contains("Warning: ")
        })
}

/// Whether `line` begins with the name of an error of a program: `Bundler::HTTPError: Could not reach host oak`.
pub(super) fn is_error(line: &str) -> bool {
    let name = line.split_text(": ").map_or("", |(name, _)| name);
    name.ends_with("Error") && name.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Whether yarn shows with `text` what does not change in a lock file, or a sum of a package that
/// does: `➤ YN0000: │  version: 4`.
fn is_lock_context(text: &str) -> bool {
    let told = text
        .strip_prefix("➤ ")
        .and_then(|text| text.split_once(": │"));
    told.is_some_and(|(code, rest)| {
        let unchanged = code == "YN0000" && (rest.starts_with("  ") || rest.starts_with(" @@ "));
        let sum = rest.trim_start_matches([' ', '-', '+']);
        unchanged || sum.starts_with("checksum: ") || rest.trim().is_empty()
    })
}

/// Whether `line` begins with a letter or a digit of ASCII, as most do: there is no mark before it.
fn begins_with_sign(line: &str) -> bool {
    line.as_bytes()
        .first()
        .is_some_and(u8::is_ascii_alphanumeric)
}

/// `line` without blanks, parts of boxes and the code in front that yarn gives every line.
pub(super) fn without_marks(line: &str) -> &str {
    if begins_with_sign(line) {
        return line;
    }
    let text = line.trim_start();
    let text = text
        .strip_prefix("➤ ")
        .and_then(|text| text.split_text(": "))
        .map_or(text, |(_, text)| text);
    text.trim_start_matches([' ', '│', '|'])
}

/// What a run of npm that changes nothing reports that it would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Add,
    Change,
    Remove,
}

/// Such a step and the name of its package: `add oak 1.0.2`, `change elm 1.0.0 => 2.0.0`.
pub(super) fn planned(line: &str) -> Option<(Step, &str)> {
    let (step, rest) = line.split_once(' ')?;
    let step = match step {
        "add" => Step::Add,
        "change" => Step::Change,
        "remove" => Step::Remove,
        _ => return None,
    };
    let mut words = rest.split(' ');
    let (name, version) = (words.next()?, words.next()?);
    let is_changed = match words.next() {
        Some("=>") => words.next().is_some_and(is_version),
        Some(_) => false,
        None => step != Step::Change,
    };
    (is_version(version) && is_changed && words.next().is_none()).then_some((step, name))
}

fn is_version(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.')
}

#[cfg(test)]
mod tests;
