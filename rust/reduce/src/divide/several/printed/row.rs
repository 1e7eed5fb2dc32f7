//! The form of rows that programs print.

use std::ops::RangeInclusive;

use super::super::line::COMMIT_HEADS;
use super::names::Names;
use crate::line::is_number;
use crate::parsers::findings::rustc;
use ethos_registry_core::find_text::FindText as _;

/// The shortest and the longest commit id.
const COMMIT_DIGITS: RangeInclusive<usize> = 7..=64;

/// A row of `ls -l`, or the name of a folder above its rows.
pub(super) fn is_listed(line: &str) -> bool {
    // The inode number and the number of blocks precede it: `ls -lis`.
    let mut row = line.trim_start_matches(' ');
    for _ in 0..2 {
        row = match row.split_once(' ') {
            Some((number, rest)) if is_number(number) => rest.trim_start_matches(' '),
            _ => row,
        };
    }
    let mode = row.as_bytes().get(..10).unwrap_or_default();
    let is_row = mode.split_first().is_some_and(|(kind, rights)| {
        b"-dlbcps".contains(kind) && rights.iter().all(|right| b"-rwxsStT".contains(right))
    });
    is_row
        || line.is_empty()
        || line
            .strip_prefix("total ")
            .is_some_and(|size| size.starts_with(|sign: char| sign.is_ascii_digit()))
        || line.ends_with(':') && (!line.contains(' ') || line.starts_with(['.', '/', '\'']))
}

/// A row of `tree`, or the totals below.
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

/// A path below one of the folders that `find` searches. A path with a line number is from another program.
pub(super) fn is_found(line: &str, roots: &Names<'_>) -> bool {
    let is_place = |at: usize| {
        let behind = line.as_bytes().get(at + 1);
        behind.is_some_and(|sign| sign.is_ascii_digit() || *sign == b' ')
    };
    let is_below = if roots.is_empty() {
        line == "." || line.starts_with("./")
    } else {
        roots.have(line)
    };
    is_below && !memchr::memchr_iter(b':', line.as_bytes()).any(is_place)
}

/// This many counts before a name, as `wc` prints them; there is no name for piped input.
pub(super) fn is_counted(line: &str, counts: usize, names: &Names<'_>) -> bool {
    let mut name = line.trim_start_matches(' ');
    for _ in 0..counts {
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = name.split_at_checked(digits).unwrap_or_default();
        if number.is_empty() || !rest.is_empty() && !rest.starts_with(' ') {
            return false;
        }
        name = rest.trim_start_matches(' ');
    }
    let is_read = || name.is_empty() || name.contains(['/', '.']) && !name.contains(' ');
    name == "total"
        || if names.is_empty() {
            is_read()
        } else {
            names.have(name)
        }
}

/// A size before a path, as `du` prints it.
pub(super) fn is_sized(line: &str, names: &Names<'_>) -> bool {
    line.split_once('\t').is_some_and(|(size, path)| {
        let digits = size.trim_end_matches(['K', 'M', 'G', 'T', 'P']);
        !digits.is_empty()
            && !path.contains('\t')
            && names.have(path)
            && digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// A row of `df`, with a percentage and a mount point.
pub(super) fn is_file_system(line: &str) -> bool {
    line.has_text("% /") || line.has_text("- /")
}

pub(super) fn is_head_of_processes(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace().take(4);
    line.has_text(" CMD") && words.any(|word| word == "PID") || line.has_text(" COMMAND")
}

/// A row of `ps`: the process id is among the first words, the running time follows.
pub(super) fn is_process(line: &str) -> bool {
    let words = || line.split_ascii_whitespace();
    let is_time = |word: &str| {
        word.split_once(':').is_some_and(|(hours, rest)| {
            hours
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
                && rest.starts_with(|sign: char| sign.is_ascii_digit())
        })
    };
    words().take(5).any(is_number) && words().skip(2).take(11).any(is_time)
}

/// The line above the rows of `npm ls` and `cargo tree`: `oak@1.0.0 /srv/oak`, `oak v1.0.0 (/srv/oak)`.
pub(super) fn is_package_root(line: &str) -> bool {
    let (name, behind) = line.split_once(' ').unwrap_or((line, ""));
    name.contains('@') && behind.starts_with('/')
        || line.starts_with('[') && line.ends_with("dependencies]")
        || behind.strip_prefix('v').is_some_and(|version| {
            version.starts_with(|sign: char| sign.is_ascii_digit())
                && (version.ends_with(')') || !version.contains(' '))
        })
}

pub(super) fn is_head_of_packages(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    words.next() == Some("Package") && words.next() == Some("Version")
}

/// A row of `pip list`: a name, a version, perhaps a location.
pub(super) fn is_package(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let is_name = |name: &str| line.starts_with(name) && !name.ends_with([':', ',']);
    let is_version = |version: &str| {
        let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || b".+!-_".contains(&byte);
        version.starts_with(|sign: char| sign.is_ascii_digit()) && version.bytes().all(is_of_it)
    };
    line.starts_with("---")
        || words.next().is_some_and(is_name)
            && words.next().is_some_and(is_version)
            && words.count() <= 1
}

/// `PATH=/usr/bin`.
pub(super) fn is_set(line: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    line.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(is_name))
}

/// `line` without the drawn graph before it.
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

/// Whether `line` is a line of `git log` with a commit id, complete or abbreviated: `commit 4ce410c`.
pub(super) fn names_commit(line: &str) -> bool {
    line.strip_prefix("commit ").is_some_and(is_commit)
}

/// A line of a commit above its files: id, author, date or message.
pub(super) fn is_of_commit(line: &str) -> bool {
    // Steps of cargo can be indented as deeply.
    let is_message = || line.starts_with("    ") && !rustc::is_step(line);
    names_commit(line) || COMMIT_HEADS.iter().any(|head| line.starts_with(head)) || is_message()
}

/// A line of `git blame`: `4ce410c1 (Ann 2026-01-02 10:01:02 +0100 12) leaf`.
pub(super) fn is_blamed(line: &str) -> bool {
    let place = line.split_text(") ").map(|(place, _)| place);
    let mut words = place.unwrap_or(line).trim_end_matches(')').rsplit(' ');
    let is_numbered = words.next().is_some_and(is_number);
    let time = words.find(|word| !word.is_empty()).unwrap_or_default();
    // A time ends with its zone, or is only a date.
    let is_time = time.contains(['+', '-']) && time.bytes().all(|byte| !byte.is_ascii_alphabetic());
    is_commit(line.trim_start_matches('^')) && is_numbered && is_time
}

/// A commit id with a reference: `4ce4… refs/heads/main`.
pub(super) fn is_reference(line: &str) -> bool {
    let mut names = line.split([' ', '\t']).skip(1).take(2);
    names.any(|name| name == "HEAD" || name.starts_with("refs/"))
}

/// ` src/oak.rs | 12 ++--`, `3\t1\tsrc/oak.rs`, and their totals.
pub(super) fn is_changed(line: &str) -> bool {
    const SUMMARIES: [&str; 4] = [
        " create mode ",
        " delete mode ",
        " rename ",
        " mode change ",
    ];
    let is_count = |count: &str| count == "-" || is_number(count);
    line.starts_with(' ') && line.has_text(" | ")
        || is_sum_of_changes(line)
        || SUMMARIES.iter().any(|summary| line.starts_with(summary))
        || line
            .split('\t')
            .take(2)
            .filter(|count| is_count(count))
            .count()
            == 2
}

/// ` 3 files changed, 4 insertions(+)`.
pub(super) fn is_sum_of_changes(line: &str) -> bool {
    let counted = line.strip_prefix(' ').and_then(|sum| sum.split_once(' '));
    counted.is_some_and(|(count, rest)| is_number(count) && rest.has_text(" changed"))
}

/// `R100\tsrc/oak.rs\tsrc/elm.rs`.
pub(super) fn is_renamed(line: &str) -> bool {
    line.split_once('\t').is_some_and(|(state, _)| {
        state.starts_with(['M', 'A', 'D', 'R', 'C', 'T', 'U', 'X', 'B'])
            && state.bytes().skip(1).all(|byte| byte.is_ascii_digit())
    })
}

/// A word that may be a path, or a common file name without an extension.
pub(super) fn is_path(line: &str) -> bool {
    const PLAIN: [&str; 14] = [
        "AUTHORS",
        "CHANGELOG",
        "CHANGES",
        "CODEOWNERS",
        "CONTRIBUTING",
        "COPYING",
        "LICENSE",
        "NOTICE",
        "README",
        "VERSION",
        "configure",
        "gradlew",
        "justfile",
        "mvnw",
    ];
    // Test results: `..F.s`.
    let is_marks = || line.bytes().all(|byte| b".FEsxX".contains(&byte));
    let is_plain = || line.ends_with("file") || PLAIN.contains(&line);
    !line.contains([' ', '\t', '(', ')', ':'])
        && (line.contains('/') || line.contains('.') && !is_marks() || is_plain())
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

/// The output of a program that is asked for its version: `v20.1.0`, `Python 3.12.1`.
pub(super) fn is_version(line: &str, program: &str) -> bool {
    let first = line
        .split(' ')
        .next()
        .unwrap_or(line)
        .trim_start_matches('v');
    let is_number = |sign: char| sign.is_ascii_digit() || sign == '.';
    let name = program.trim_end_matches(is_number);
    let is_named = || {
        let head = line.get(..name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name)) || line.starts_with("Version ")
    };
    line.bytes().any(|byte| byte.is_ascii_digit())
        && (first.contains('.') && first.chars().all(is_number) || is_named())
}

/// `Mon Jan  5 10:01:02 UTC 2026`, and dates or times that consist of digits.
pub(super) fn is_date(line: &str) -> bool {
    const OF_DIGITS: &[u8] = b"0123456789-:.+/TZ _";
    let day = line.split([' ', ',']).next().unwrap_or(line);
    let is_day = || ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(&day);
    let is_digits = || line.bytes().all(|byte| OF_DIGITS.contains(&byte));
    is_day() && line.contains(':')
        || line.starts_with("20") && is_digits()
        || line.len() > 9 && is_number(line)
}

/// An error message of git and other programs that could not do what was requested.
pub(super) fn is_refusal(line: &str, program: &str) -> bool {
    const OF_GIT: [&str; 3] = ["fatal: ", "Use '--' to separate paths", "'git <command> ["];
    if program == "git" {
        return OF_GIT.iter().any(|beginning| line.starts_with(beginning));
    }
    let of_program = line.strip_prefix(program);
    of_program.is_some_and(|rest| rest.starts_with(": "))
        || line.ends_with("not found") && line.split(": ").any(|word| word == program)
}
