//! Unified diffs, stat and name lists: `git diff`, `git show`, `diff -u`, formatters.

mod alike;
mod changes;
mod file;
mod prose;
mod reader;

use changes::CONFLICT;
use file::{File, Room};
use prose::Prose;
pub(crate) use reader::hunk_lines;
use reader::{ChangedWords, Reader};

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::output::Output;
use crate::parsers::git::git_log::{is_stat, is_total};

pub(crate) const FAMILY: Family = Family {
    name: "diff",
    runs,
    marks: Marks::OneOf(&[
        &["\n@@ -", "\n+++ ", "\n--- "],
        &["\ndiff --git a/"],
        &["\n< "],
        &["\n> "],
    ]),
    recognises,
    reduce,
};

/// Up to this many bytes all changed lines can be shown.
const MOST_BYTES: usize = 24_000;
/// Up to this many bytes of changes, every changed line is shown.
const SMALL_BYTES: usize = 8_000;
/// The same for the changes of all commits in a history.
const SMALL_HISTORY_BYTES: usize = 2_000;
const LINE_CHARS: usize = 400;
const SHARED_LINE_CHARS: usize = 200;
/// Up to this many bytes, lines are represented by similar ones only if these are at least this share of the changes.
const FOLDED_BYTES: usize = 12_000;
const FOLDED_SHARE: usize = 5;
/// Up to this many bytes, all changes of a formatter are shown; of more, the locations and some lines.
const FORMATTED_BYTES: usize = 1_500;
/// Up to this many bytes, all conflicting lines of a merge are shown.
const CONFLICT_BYTES: usize = 3_000;
/// The base size of a long reduced diff, to which a share of the diff is added.
const LONG_BYTES: usize = 3_000;
/// The least space for each file, however many there are.
const LEAST_SHARE_BYTES: usize = 100;
/// How many lines outside of hunks are shown: commit messages, messages of a formatter.
const PROSE_LINES: usize = 80;
/// How many further lines that report a problem are shown.
const BAD_LINES: usize = 40;
/// How many changes in the format of `diff` without `-u` prove that it is a diff.
const NORMAL_CHANGES: usize = 2;
/// With more commits, their authors and dates are left out.
const COMMITS_WITH_AUTHOR: usize = 3;

fn runs(input: &Input<'_>) -> bool {
    input.git_is(&[
        "diff",
        "show",
        "format-patch",
        "stash",
        "log",
        "diff-tree",
        "diff-index",
        "range-diff",
    ]) || matches!(
        input.program(),
        "diff" | "colordiff" | "black" | "isort" | "patch" | "interdiff" | "yapf" | "autopep8"
    ) || (matches!(
        input.program(),
        "ruff" | "cargo" | "rustfmt" | "gofmt" | "shfmt" | "terraform"
    ) && (input.has("--diff") || input.has("-d") || input.has("--check")))
        || (input.program() == "shellcheck" && input.words.iter().any(|word| asks_for_diff(word)))
}

/// Whether a command word is the format `diff`, or an option with it: `-fdiff`, `--format=diff`.
fn asks_for_diff(word: &str) -> bool {
    let form = word.strip_prefix("-f").or(word.strip_prefix("--format="));
    form.unwrap_or(word) == "diff"
}

fn recognises(input: &Input<'_>) -> Match {
    let (mut before_last, mut last) = ("", "");
    let mut likely = false;
    let mut normal = 0;
    for line in input.beginning() {
        let unified =
            line.starts_with("@@ -") && last.starts_with("+++ ") && before_last.starts_with("--- ");
        normal += usize::from(
            is_normal_change(last) && (line.starts_with("< ") || line.starts_with("> ")),
        );
        if unified || line.starts_with("diff --git a/") || normal >= NORMAL_CHANGES {
            return Match::Certain;
        }
        likely |= is_file_row(line) || reader::is_start(line) || is_normal_change(line);
        (before_last, last) = (last, line);
    }
    // The first lines may all be those of a long hunk whose header was cut off.
    let later = || memchr::memmem::find(input.text.as_bytes(), b"\ndiff --").is_some();
    if runs(input) && (likely || later()) {
        Match::Likely
    } else {
        Match::No
    }
}

/// A row of `--stat`, its total, or a row of `--name-status` and `--numstat`.
fn is_file_row(line: &str) -> bool {
    is_total(line)
        || is_stat(line)
        || line.split_once('\t').is_some_and(|(state, _)| {
            let state = state.as_bytes();
            state
                .first()
                .is_some_and(|first| b"ACDMRTUX-0123456789".contains(first))
                && state.iter().skip(1).all(u8::is_ascii_digit)
        })
}

/// `3,4c3`, which `diff` without `-u` writes before changed lines.
fn is_normal_change(line: &str) -> bool {
    line.starts_with(|sign: char| sign.is_ascii_digit())
        && line.bytes().filter(|byte| b"acd".contains(byte)).count() == 1
        && line
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"acd,".contains(&byte))
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut diff = Reader::read(input);
    // In a history with diffs, less detail is needed than in a single diff.
    let is_history = diff.commits > COMMITS_WITH_AUTHOR;
    let (is_formatter, has_conflicts) = (is_formatter(input), has_conflicts(input));
    if has_conflicts {
        diff.changes.keep_conflicts(&mut diff.files);
        diff.changes.leave_out_places(&mut diff.files);
    } else if is_history || !is_read_line_by_line(input, &diff) {
        let unfolded = changed_bytes(&diff.files);
        diff.changes.fold(&mut diff.files);
        let is_worth_it = changed_bytes(&diff.files) <= unfolded - unfolded / FOLDED_SHARE;
        if !is_history && !is_formatter && unfolded <= FOLDED_BYTES && !is_worth_it {
            diff.changes.unfold(&mut diff.files);
        }
        if !is_formatter {
            diff.changes.leave_out_places(&mut diff.files);
        }
    }
    let changed = changed_bytes(&diff.files);
    let is_every_place =
        is_formatter && changed > FORMATTED_BYTES || has_conflicts && changed > CONFLICT_BYTES;
    let is_looked_over = is_history && changed > (input.text.len() / 10).max(SMALL_HISTORY_BYTES)
        || is_every_place && changed > input.text.len() * 18 / 100;
    let all = changed <= MOST_BYTES && !is_looked_over;
    let mut prose = Prose::new(input, &diff, is_history);
    let share = if all {
        usize::MAX
    } else {
        let heads = diff.files.iter();
        let places =
            |file: &File<'_>| file.place_bytes(&diff.changes) * usize::from(is_every_place);
        let heads = heads.map(|file| file.head_bytes(&diff.changes) + places(file) + 24);
        let heads: usize = heads.sum();
        let target = target_bytes(input.text.len());
        share(&diff.files, target.saturating_sub(heads + prose.bytes()))
    };
    let line_chars = if all { LINE_CHARS } else { SHARED_LINE_CHARS };
    for (index, file) in diff.files.iter().enumerate() {
        prose.write_before(index, output);
        output.failed();
        let room = Room {
            bytes: share.min(file.bytes()),
            line_chars,
            is_every_place,
        };
        file.write(&diff.changes, &room, output);
    }
    prose.write_before(diff.files.len(), output);
    output.gap(prose.left_out + diff.left_out as usize);
    if diff.files.is_empty() {
        if !diff.has_file_rows {
            return;
        }
        output.failed();
    }
    output.stays_unless_shorter(input.text);
}

/// Whether one of the hunks is a merge conflict.
fn has_conflicts(input: &Input<'_>) -> bool {
    let lines = input.text.as_bytes();
    memchr::memmem::find(lines, b"\n@@@ ").is_some()
        && memchr::memmem::find(lines, format!("\n{CONFLICT} ").as_bytes()).is_some()
}

/// Whether each changed line matters: in a small change by a person, but not in long lines with changed words, on both
/// sides of a merge, or in the changes of a formatter.
fn is_read_line_by_line(input: &Input<'_>, diff: &Reader<'_>) -> bool {
    changed_bytes(&diff.files) <= SMALL_BYTES
        && (input.git_is(&["diff", "show"]) || compares(input))
        && ChangedWords::of(input) != ChangedWords::Unmarked
        && memchr::memmem::find(input.text.as_bytes(), b"\n@@@ ").is_none()
}

/// Whether the program only compares files.
fn compares(input: &Input<'_>) -> bool {
    matches!(input.program(), "diff" | "colordiff" | "interdiff")
}

/// Whether the changes are those that a formatter would make.
fn is_formatter(input: &Input<'_>) -> bool {
    runs(input) && !compares(input) && !matches!(input.program(), "git" | "patch")
}

fn changed_bytes(files: &[File<'_>]) -> usize {
    files.iter().map(File::bytes).sum()
}

/// How many bytes a long diff of this many bytes may have: of a very long one a smaller share.
fn target_bytes(bytes: usize) -> usize {
    (bytes * 15 / 100)
        .min(bytes * 3 / 100 + LONG_BYTES)
        .min(MOST_BYTES)
}

/// How many bytes each file may have so that all have `target`: what a small one leaves goes to
/// the others.
fn share(files: &[File<'_>], target: usize) -> usize {
    let mut sizes: Vec<usize> = files.iter().map(File::bytes).collect();
    sizes.sort_unstable();
    let mut room = target;
    let mut left = sizes.len();
    let mut share = 0;
    for size in sizes {
        share = room / left.max(1);
        if size > share {
            break;
        }
        room -= size;
        left -= 1;
    }
    share.max(LEAST_SHARE_BYTES)
}

#[cfg(test)]
mod tests;
