//! Unified diffs, stat and name lists: `git diff`, `git show`, `diff -u`, formatters.

mod alike;
mod changes;
mod file;
mod prose;
mod reader;

use file::File;
use prose::Prose;
use reader::Reader;

use super::git_log::{is_stat, is_total};
use super::input::Input;
use super::output::Output;
use super::route::{Family, Marks, Match};

pub(super) const FAMILY: Family = Family {
    name: "diff",
    runs,
    marks: Marks::OneOf(&[&["\n@@ -", "\n+++ ", "\n--- "], &["\ndiff --git a/"]]),
    recognises,
    reduce,
};

/// Changed lines are all shown up to so many bytes, and never more than these.
const MOST_BYTES: usize = 24_000;
/// Up to so many bytes of changes every changed line of a diff is told.
const SMALL_BYTES: usize = 8_000;
const LINE_CHARS: usize = 400;
const SHARED_LINE_CHARS: usize = 200;
/// However many files there are, one has so many bytes.
const LEAST_SHARE_BYTES: usize = 100;
/// Lines outside of hunks (a message, what a formatter says) that are shown.
const PROSE_LINES: usize = 80;
/// Lines that tell of something bad are shown beyond them.
const BAD_LINES: usize = 40;
/// With more commits than this their authors and dates go.
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
}

fn recognises(input: &Input<'_>) -> Match {
    let (mut before_last, mut last) = ("", "");
    let mut likely = false;
    for line in input.beginning() {
        let unified =
            line.starts_with("@@ -") && last.starts_with("+++ ") && before_last.starts_with("--- ");
        if unified || line.starts_with("diff --git a/") {
            return Match::Certain;
        }
        likely |= is_file_row(line) || reader::is_start(line) || is_normal_change(line);
        (before_last, last) = (last, line);
    }
    if likely && runs(input) {
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
    // A history with its diffs is looked over, a diff is read.
    let is_history = diff.commits > COMMITS_WITH_AUTHOR;
    if is_history || !is_read_line_by_line(input, &diff) {
        diff.changes.fold(&mut diff.files);
    }
    let changed = changed_bytes(&diff.files);
    let all = changed <= MOST_BYTES && !(is_history && changed > input.text.len() / 10);
    let mut prose = Prose::new(input, &diff, is_history);
    let share = if all {
        usize::MAX
    } else {
        let heads = diff.files.iter();
        let heads: usize = heads.map(|file| file.head_bytes(&diff.changes) + 24).sum();
        let target = (input.text.len() * 18 / 100).min(MOST_BYTES);
        share(&diff.files, target.saturating_sub(heads + prose.bytes()))
    };
    let line_chars = if all { LINE_CHARS } else { SHARED_LINE_CHARS };
    for (index, file) in diff.files.iter().enumerate() {
        prose.write_before(index, output);
        output.failed();
        file.write(&diff.changes, share.min(file.bytes()), line_chars, output);
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

/// Whether each changed line counts: those of a few changes that somebody made, not of words in long lines,
/// of both sides of a merge, or of what a formatter would do.
fn is_read_line_by_line(input: &Input<'_>, diff: &Reader<'_>) -> bool {
    let by_words = ["--word-diff", "--color-words"];
    changed_bytes(&diff.files) <= SMALL_BYTES
        && input.git_is(&["diff", "show"])
        && !by_words.iter().any(|option| input.has(option))
        && memchr::memmem::find(input.text.as_bytes(), b"\n@@@ ").is_none()
}

fn changed_bytes(files: &[File<'_>]) -> usize {
    files.iter().map(File::bytes).sum()
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
mod tests {
    use std::fmt::Write as _;

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
    fn changed_lines_stay_and_lines_around_them_go() {
        let text = "diff --git a/x.c b/x.c\nindex 1..2 100644\n--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@ int \
                    main()\n one\n--- two\n+++ three\n four\ndiff --git a/old b/new\nsimilarity index \
                    100%\nrename from old\nrename to new\ndiff --git a/run b/run\nold mode 100644\nnew \
                    mode 100755\n";
        assert_eq!(
            reduced(text, "git diff"),
            "+++ b/x.c\n@@ -1,3 +1,3 @@ int main()\n--- two\n+++ three\nrename from old\nrename to \
             new\ndiff --git a/run b/run\nold mode 100644\nnew mode 100755\n[7 of 16 lines left out]"
        );
    }

    #[test]
    fn a_large_diff_names_every_file_and_shares_the_room() {
        let mut text = String::new();
        for file in 0..10 {
            let _ = writeln!(
                text,
                "diff --git a/f{file}.py b/f{file}.py\n--- a/f{file}.py\n+++ b/f{file}.py\n@@ -0,0 +1,{} @@",
                1 + file * 400
            );
            for line in 0..=file * 400 {
                let word = "abcdefghij".repeat(1 + line % 40);
                let _ = writeln!(
                    text,
                    "+value_{word} = compute({line}, {file}, {})",
                    "x".repeat(line / 40)
                );
            }
        }
        let short = reduced(&text, "git diff");
        for file in 0..10 {
            assert!(short.contains(&format!("+++ b/f{file}.py\n")));
        }
        assert!(
            short.contains("+value_abcdefghij = compute(0, 0, )\n")
                && short.contains(" more lines\n")
        );
        assert!(short.len() < 25_000, "{}", short.len());
    }

    #[test]
    fn a_formatter_keeps_files_places_and_its_verdict() {
        let text = "--- src/a.py\t2026-01-01 10:00\n+++ src/a.py\t2026-01-01 10:01\n@@ -4,3 +4,3 @@\n \
                    x\n-y=1\n+y = 1\n z\nwould reformat src/a.py\n1 file would be reformatted.\n";
        assert_eq!(
            reduced(text, "black --diff ."),
            "+++ src/a.py\n@@ -4,3 +4,3 @@\n-y=1\n+y = 1\nwould reformat src/a.py\n1 file would be \
             reformatted.\n[3 of 9 lines left out]"
        );
    }

    #[test]
    fn bars_of_a_stat_go_and_its_rows_stay() {
        let text = "commit 12345678\nAuthor: Ada <a@b.c>\n\n    Subject\n\n a/b.c  | 38 ++++++++----\n \
                    c.png  | Bin 0 -> 12 bytes\n 2 files changed, 30 insertions(+), 8 deletions(-)\n";
        assert_eq!(
            reduced(text, "git show --stat"),
            "commit 12345678\nAuthor: Ada <a@b.c>\nSubject\na/b.c 38 +-\nc.png Bin 0 -> 12 bytes\n2 files \
             changed, 30 insertions(+), 8 deletions(-)\n[2 of 8 lines left out]"
        );
    }

    #[test]
    fn a_list_of_names_with_states_stays() {
        let text = "M\ta.c\nA\tb.c\nR100\tc.c\td.c\n";
        let words = ["git".to_owned(), "diff".to_owned()];
        let input = Input {
            text,
            words: &words,
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), Match::Likely);
        let mut output = Output::default();
        reduce(&input, &mut output);
        assert!(output.is_to_stay());
    }

    #[test]
    fn heads_of_hunks_that_count_wrong_lose_no_change_and_no_commit() {
        let mut text = String::new();
        for commit in 0..5 {
            let name = format!("{commit:08x}").repeat(5);
            let _ = write!(
                text,
                "commit {name}\nAuthor: Ada <a@b.c>\n\n    Subject {commit}\n\ndiff --git a/x{commit} b/x{commit}\n--- \
                 a/x{commit}\n+++ b/x{commit}\n@@ -1,{} +1,{} @@\n context\n-old {commit}\n+new \
                 {commit}\n more context\n\n",
                1 + commit * 9,
                1 + commit * 9
            );
        }
        let short = reduced(&text, "git log -p");
        for commit in 0..5 {
            let told = format!("commit {commit:08x}\nSubject {commit}\n+++ b/x{commit}\n");
            assert!(short.contains(&told), "{told}: {short}");
        }
        assert!(!short.contains("context"), "{short}");
    }

    /// A diff that deletes a file of `lines` lines.
    fn deletion(lines: usize) -> String {
        let mut text = format!(
            "diff --git a/old.py b/old.py\ndeleted file mode 100644\n--- a/old.py\n+++ /dev/null\n@@ \
             -1,{lines} +0,0 @@\n"
        );
        for line in 0..lines {
            let word = "abcdefghij".repeat(1 + line % 5);
            let _ = writeln!(text, "-    {word}{} = {line}", "x".repeat(line / 5));
        }
        text
    }

    #[test]
    fn a_small_diff_tells_every_line_of_a_deleted_file() {
        let text = deletion(40);
        let short = reduced(&text, "git diff");
        let told = |line: &str| short.lines().any(|row| row == line);
        assert!(text.lines().skip(5).all(told), "{short}");
        assert!(reduced(&deletion(300), "git diff").contains("... 300 more lines\n"));
    }

    #[test]
    fn a_small_diff_tells_lines_that_differ_by_numbers_only() {
        let rows: Vec<String> = (0..9).map(|row| format!("-P{row},8{row}\n")).collect();
        let rows = rows.concat();
        let diff =
            format!("diff --git a/p b/p\n--- a/p\n+++ b/p\n@@ -1,11 +1,2 @@\n a\n{rows} z\n");
        assert!(reduced(&diff, "git diff").contains("-P4,84\n"));
        assert!(reduced(&diff, "git log -p").contains("... 7 alike"));
        let merge = diff.replace("@@", "@@@").replace("--git a/p b/p", "--cc p");
        assert!(reduced(&merge, "git diff").contains("... 7 alike"));
    }

    #[test]
    fn what_is_no_diff_is_not_taken_for_one() {
        for text in [
            "--- a\n+++ b\nand more\n",
            "@@ -1 +1 @@ alone\n",
            "no diff at all\n",
        ] {
            let input = Input {
                text,
                words: &[],
                exit: Exit::Unknown,
            };
            assert_eq!(recognises(&input), Match::No, "{text}");
        }
    }
}
