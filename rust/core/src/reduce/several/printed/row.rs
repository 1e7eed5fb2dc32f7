//! What a line is that a program prints when it is asked for rows.

use std::ops::RangeInclusive;

use super::super::super::line::is_number;
use crate::find_text::FindText as _;

/// The shortest and the longest name of a commit.
const COMMIT_DIGITS: RangeInclusive<usize> = 7..=64;

/// A row of `ls -l`, or the name of a folder above its rows.
pub(super) fn is_listed(line: &str) -> bool {
    let mode = line.as_bytes().get(..10).unwrap_or_default();
    let is_row = mode.split_first().is_some_and(|(kind, rights)| {
        b"-dlbcps".contains(kind) && rights.iter().all(|right| b"-rwxsStT".contains(right))
    });
    is_row
        || line.is_empty()
        || line
            .strip_prefix("total ")
            .is_some_and(|size| size.starts_with(|sign: char| sign.is_ascii_digit()))
        || line.starts_with("ls: ")
        || line.ends_with(':') && !line.contains(' ')
}

/// A row of `tree`, or what stands below them.
pub(super) fn is_outlined(line: &str) -> bool {
    line == "."
        || line.is_empty()
        || is_outline_sum(line)
        || ["├", "└", "│", "|-- ", "`-- ", "|   "]
            .iter()
            .any(|sign| line.trim_start_matches([' ', '\u{a0}']).starts_with(sign))
}

/// `12 directories, 30 files`.
pub(super) fn is_outline_sum(line: &str) -> bool {
    let mut words = line.split(' ');
    words.next().is_some_and(is_number)
        && words
            .next()
            .is_some_and(|word| word.starts_with("director"))
}

/// A path below one of the folders that `find` looks through.
pub(super) fn is_found(line: &str, words: &[String]) -> bool {
    let is_below = |root: &str| {
        let rest = line.strip_prefix(root);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || root.ends_with('/'))
    };
    let mut roots = words
        .iter()
        .skip(1)
        .take_while(|word| !word.starts_with('-'))
        .peekable();
    line.starts_with("find: ")
        || if roots.peek().is_some() {
            roots.any(|root| is_below(root))
        } else {
            is_below(".")
        }
}

/// Counts before one of the files that `words` name, or before their sum, as `wc` gives them.
pub(super) fn is_counted(line: &str, words: &[String]) -> bool {
    let mut row = line
        .split_ascii_whitespace()
        .skip_while(|word| is_number(word));
    let name = row.next();
    let is_name = |name: &str| {
        name == "total" || name.contains(['/', '.']) || words.iter().any(|word| word == name)
    };
    let begins = line
        .trim_ascii_start()
        .starts_with(|first: char| first.is_ascii_digit());
    begins && row.next().is_none() && name.is_none_or(is_name) || line.starts_with("wc: ")
}

/// A size before a path, as `du` gives them.
pub(super) fn is_sized(line: &str) -> bool {
    line.split_once('\t').is_some_and(|(size, _)| {
        let digits = size.trim_end_matches(['K', 'M', 'G', 'T', 'P']);
        !digits.is_empty()
            && digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// A row of `df`, which tells a share and where it is mounted.
pub(super) fn is_file_system(line: &str) -> bool {
    line.has_text("% /") || line.has_text("- /")
}

pub(super) fn is_head_of_processes(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace().take(4);
    line.has_text(" CMD") && words.any(|word| word == "PID") || line.has_text(" COMMAND")
}

/// A row of `ps`: the number of a process is its first word or the second one.
pub(super) fn is_process(line: &str) -> bool {
    let words = || line.split_ascii_whitespace();
    words().nth(3).is_some() && words().take(2).any(is_number)
}

/// What `npm ls` and `cargo tree` say above their rows: `oak@1.0.0 /srv/oak`, `oak v1.0.0 (/srv/oak)`.
pub(super) fn is_package_root(line: &str) -> bool {
    let (name, behind) = line.split_once(' ').unwrap_or((line, ""));
    name.contains('@') && behind.starts_with('/')
        || behind.starts_with('v') && behind.ends_with(')')
}

pub(super) fn is_head_of_packages(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    words.next() == Some("Package") && words.next() == Some("Version")
}

/// A row of `pip list`: a name, a version, perhaps where it is.
pub(super) fn is_package(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace().skip(1);
    line.starts_with("---")
        || words.next().is_some_and(|version| {
            version.starts_with(|sign: char| sign.is_ascii_digit()) && words.count() <= 2
        })
}

/// `PATH=/usr/bin`.
pub(super) fn is_set(line: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    line.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(is_name))
}

/// How many matches a file holds: `src/oak.rs:12`.
pub(super) fn is_tallied(line: &str) -> bool {
    is_number(line.rsplit_text(":").map_or(line, |(_, count)| count))
}

/// A match with its number, or a line around one, with or without the name of a file.
pub(super) fn is_match(line: &str) -> bool {
    is_numbered(line)
        || memchr::memchr3_iter(b':', b'-', b'=', line.as_bytes())
            .any(|at| line.get(at + 1..).is_some_and(is_numbered))
}

/// Whether a number stands first, and a sign behind it.
fn is_numbered(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && matches!(line.as_bytes().get(digits), Some(b':' | b'-' | b'='))
}

/// A line around a match, or the head of its function: `oak.rs-12-leaf`, `oak.rs=3=fn oak() {`.
pub(super) fn is_around(line: &str) -> bool {
    let behind = |at: usize| line.get(at + 1..).unwrap_or_default();
    let is_place = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && matches!(rest.as_bytes().get(digits), Some(b'-' | b'='))
    };
    is_place(line)
        || memchr::memchr2_iter(b'-', b'=', line.as_bytes()).any(|at| is_place(behind(at)))
}

/// `line` without the lines of a graph before it.
pub(super) fn graphed(line: &str) -> &str {
    line.trim_start_matches(['*', '|', '/', '\\', '_', ' ', '-', '.'])
}

/// `4ce410c Rings are counted`.
pub(super) fn is_commit(line: &str) -> bool {
    let (id, _) = line
        .split_once([' ', '\t', ',', '|', ';'])
        .unwrap_or((line, ""));
    COMMIT_DIGITS.contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What stands of a commit above its files: its name, who made it and when, and what for.
pub(super) fn is_of_commit(line: &str) -> bool {
    const HEADS: [&str; 7] = [
        "    ",
        "Author:",
        "AuthorDate:",
        "Commit:",
        "CommitDate:",
        "Date:",
        "Merge:",
    ];
    line.strip_prefix("commit ").is_some_and(is_commit)
        || HEADS.iter().any(|head| line.starts_with(head))
}

/// A line of `git blame`: `4ce410c1 (Ann 2026-01-02 10:01:02 +0100 12) leaf`.
pub(super) fn is_blamed(line: &str) -> bool {
    let place = line.split_text(") ").map(|(place, _)| place);
    let mut words = place.unwrap_or(line).trim_end_matches(')').rsplit(' ');
    let is_numbered = words.next().is_some_and(is_number);
    let time = words.find(|word| !word.is_empty()).unwrap_or_default();
    // The end of a time is its zone, or the day when that is all of it.
    let is_time = time.contains(['+', '-']) && time.bytes().all(|byte| !byte.is_ascii_alphabetic());
    is_commit(line.trim_start_matches('^')) && is_numbered && is_time
}

/// The name of a commit with that of what stands there: `4ce4… refs/heads/main`.
pub(super) fn is_reference(line: &str) -> bool {
    let mut names = line.split([' ', '\t']).skip(1).take(2);
    names.any(|name| name == "HEAD" || name.starts_with("refs/"))
}

/// ` src/oak.rs | 12 ++--`, and their sum.
pub(super) fn is_changed(line: &str) -> bool {
    line.starts_with(' ') && (line.has_text(" | ") || line.has_text(" changed"))
}

/// `R100\tsrc/oak.rs\tsrc/elm.rs`.
pub(super) fn is_renamed(line: &str) -> bool {
    line.split_once('\t').is_some_and(|(state, _)| {
        state.starts_with(['M', 'A', 'D', 'R', 'C', 'T', 'U', 'X', 'B'])
            && state.bytes().skip(1).all(|byte| byte.is_ascii_digit())
    })
}

/// A word that may be a path.
pub(super) fn is_path(line: &str) -> bool {
    line.contains(['/', '.']) && !line.contains([' ', '\t', '(', ')', ':'])
}

/// ` M src/oak.rs`, `## main...origin/main`.
pub(super) fn is_state(line: &str) -> bool {
    let (state, rest) = line.as_bytes().split_at_checked(2).unwrap_or_default();
    line.starts_with("## ")
        || rest.first() == Some(&b' ')
            && state != b"  "
            && state.iter().all(|sign| b" MTADRCU?!".contains(sign))
}

/// `* main`, `  oak 4ce410c Rings are counted`, `  remotes/origin/HEAD -> origin/main`.
pub(super) fn is_branch(line: &str) -> bool {
    let Some((sign, rest)) = line.split_at_checked(2) else {
        return false;
    };
    let (name, behind) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_tip = |behind: &str| is_commit(behind) || behind.starts_with("-> ");
    let is_detached = sign == "* " && name.starts_with('(');
    let is_plain = || !name.is_empty() && (behind.is_empty() || is_tip(behind.trim_start()));
    ["* ", "  ", "+ "].contains(&sign) && (is_detached || is_plain())
}

/// A line of JSON with a member or an item in each.
pub(super) fn is_of_json(line: &str) -> bool {
    let text = line.trim_ascii();
    let value = text.trim_end_matches(',');
    let is_plain = || matches!(value, "true" | "false" | "null") || value.parse::<f64>().is_ok();
    let ends = || value.ends_with(['"', '{', '[', '}', ']']) || value.has_text("\": ");
    matches!(
        text.as_bytes().first(),
        Some(b'"' | b'{' | b'}' | b'[' | b']')
    ) && ends()
        || is_plain()
}

/// A line of TOML, as of `Cargo.toml` and the locks of packages.
pub(super) fn is_of_toml(line: &str) -> bool {
    let text = line.trim_ascii();
    let is_head = || text.starts_with('[') && text.ends_with(']');
    let is_item = || text.starts_with(['"', '{', '}', ']']) && text.ends_with([',', ']', '}']);
    let is_pair = || {
        let pair = text.split_text(" = ");
        pair.is_some_and(|(key, _)| !key.contains(' ') || key.starts_with('"'))
    };
    text.is_empty() || text.starts_with('#') || is_head() || is_item() || is_pair()
}
