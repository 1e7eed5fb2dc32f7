//! Output of git commands that change something: merges, rebases, conflicts, pushes, clones.

mod bisect;
mod patch;

use bisect::{bisect, bisected};
use patch::Patch;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line;
use crate::line::beginnings::Beginnings;
use crate::output::Output;
use crate::parsers::git::git_log::{is_total, without_bar};
use crate::parsers::git::git_status::is_state;
use crate::rows::names::{FOLDS, Folders};
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "git action",
    runs,
    marks: Marks::Never,
    recognises,
    reduce,
};

const LINE_CHARS: usize = 240;
/// How many rows of one kind (files of a merge, modes, branches) are shown.
const ROWS: usize = 100;
/// The space for names of further files of a commit; the first fold that is sufficient is used.
const FILES_BYTES: usize = 4_000;
const FILE_FOLDS: usize = 8;
/// Prefixes of lines that report a failure.
static FAILURES: Beginnings<12> = Beginnings::new([
    "error: ",
    "fatal: ",
    "CONFLICT ",
    "Automatic merge failed",
    " ! [rejected]",
    " ! [remote rejected]",
    "! [rejected]",
    "Aborting",
    "Patch failed",
    "warning: Cannot merge",
    "ERROR: ",
    "remote: ERROR",
]);
/// Prefixes of lines that report work under way, or how to do what.
static NOISE: Beginnings<22> = Beginnings::new([
    "Auto-merging ",
    "remote: Enumerating objects",
    "remote: Counting objects",
    "remote: Compressing objects",
    "remote: Total ",
    "Enumerating objects",
    "Counting objects",
    "Compressing objects",
    "Writing objects",
    "Receiving objects",
    "Resolving deltas",
    "remote: Resolving deltas",
    "Unpacking objects",
    "Updating files",
    "Delta compression using",
    "Total ",
    "POST git-",
    "hint: ",
    "Checking out files",
    "Filtering content",
    "Removing ",
    "Rebasing (",
]);
/// Hints about how to end an operation or to integrate remote changes.
const WAYS_OUT: [&str; 4] = ["--continue", "--abort", "--skip", "git pull"];
/// Prefixes of lines that only proof that git speaks.
static SIGNS: Beginnings<12> = Beginnings::new([
    "CONFLICT (",
    "Automatic merge failed",
    "Fast-forward",
    "Merge made by the ",
    "Cloning into ",
    "Switched to ",
    "Successfully rebased",
    "Rebasing (",
    "Bisecting: ",
    "Applying: ",
    "Everything up-to-date",
    "Already up to date",
]);

fn runs(input: &Input<'_>) -> bool {
    input.git_is(&[
        "merge",
        "rebase",
        "cherry-pick",
        "revert",
        "pull",
        "push",
        "fetch",
        "clone",
        "am",
        "apply",
        "bisect",
        "checkout",
        "switch",
        "commit",
        "submodule",
        "gc",
        "worktree",
        "add",
        "rm",
        "mv",
        "clean",
        "restore",
        "reset",
        "remote",
    ])
}

fn recognises(input: &Input<'_>) -> Match {
    let known = |line: &str| {
        SIGNS.begin(line) || FAILURES.begin(line) || NOISE.begin(line) || is_total(line)
    };
    if input.beginning().any(known) && runs(input) {
        Match::Likely
    } else {
        Match::No
    }
}

/// Rows that can have many similar ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Many {
    Stat,
    Mode,
    Branch,
    Other,
}

fn many(line: &str) -> Many {
    let text = line.trim_start();
    if text.len() == line.len() {
        return Many::Other;
    }
    let mode = [
        "create mode ",
        "delete mode ",
        "rename ",
        "mode change ",
        "rewrite ",
    ];
    if mode.iter().any(|beginning| text.starts_with(beginning)) {
        Many::Mode
    } else if text.find_text(" -> ").is_some() || text.starts_with("* [") {
        Many::Branch
    } else if text.find_text(" | ").is_some() {
        Many::Stat
    } else {
        Many::Other
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let bisects = input
        .beginning()
        .filter(|line| bisected(line).is_some())
        .count();
    if bisects > 1 {
        output.failed();
        return bisect(input, output);
    }
    let mut shown = [0_usize; 4];
    let mut left_out = 0;
    let mut patch = Patch::default();
    let mut files = Vec::new();
    for line in input.lines() {
        if patch.passes(line, output) {
            continue;
        }
        let text = line.trim_start();
        let failure = FAILURES.begin(line) || FAILURES.begin(text);
        if failure {
            output.failed();
        }
        // The last state of a counter reports the end. A hint about a rejected push gives the reason; all other hints
        // only explain what to do.
        let is_told = || {
            text.ends_with("done.")
                || text.contains("100%")
                || WAYS_OUT.iter().any(|way| text.contains(way))
        };
        let noise = text.is_empty() || text == "hint:" || NOISE.begin(text);
        if noise && !failure && !is_told() {
            continue;
        }
        let many = many(line);
        let count = shown.get_mut(many as usize);
        let full = count.is_some_and(|count| {
            *count += 1;
            *count > ROWS && many != Many::Other || *count > 4 * ROWS
        });
        if full && !failure && !is_total(line) && !line::is_bad(line) {
            if many == Many::Mode {
                files.push(text.trim_end());
            } else {
                left_out += 1;
            }
            continue;
        }
        output.gap(std::mem::take(&mut left_out));
        let row = if is_state(line) {
            line.into()
        } else {
            without_bar(line)
        };
        output.fact(&line::shorten(&row, LINE_CHARS));
    }
    output.gap(left_out);
    patch.end(output);
    more_files(&files, output);
    output.stays_unless_shorter(input.text);
}

/// Writes the files of a commit that are not shown individually, grouped by what happened to them and by folder.
fn more_files(files: &[&str], output: &mut Output) {
    let folds = FOLDS.get(1..FILE_FOLDS).unwrap_or_default();
    let bytes = files.iter().map(|file| file.len() + 1).sum();
    let mut folders = Folders::new(folds, FILES_BYTES, bytes, output);
    for file in files {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        folders.add(folder, name, "");
    }
    folders.write(0);
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::input::Exit;

    fn outcome(text: &str, command: &str) -> (bool, String) {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let input = Input {
            text,
            words: &words,
            exit: Exit::Unknown,
        };
        assert_eq!(recognises(&input), Match::Likely, "{text}");
        let mut output = Output::default();
        reduce(&input, &mut output);
        let failed = output.saw_failure();
        (failed, output.finish(text.lines().count(), usize::MAX))
    }

    #[test]
    fn conflicts_stay_and_files_that_merged_go() {
        let text = "Auto-merging a.c\nAuto-merging b.c\nCONFLICT (content): Merge conflict in b.c\nAutomatic merge \
                    failed; fix conflicts and then commit the result.\n";
        let (failed, short) = outcome(text, "git merge x");
        assert!(failed);
        assert_eq!(
            short,
            "CONFLICT (content): Merge conflict in b.c\nAutomatic merge failed; fix conflicts and then commit the \
             result.\n[2 of 4 lines left out]"
        );
    }

    #[test]
    fn a_pull_keeps_its_files_and_total() {
        let mut text = String::from(
            "remote: Counting objects: 100% (3/3), done.\nUpdating 1..2\nFast-forward\n",
        );
        for number in 0..140 {
            let _ = writeln!(text, " src/file_{number}.c | 4 ++--");
        }
        text.push_str(" 140 files changed, 200 insertions(+), 200 deletions(-)\n");
        let (failed, short) = outcome(&text, "git pull");
        assert!(!failed);
        assert!(
            short.contains("src/file_0.c 4 +-\n") && short.contains("[40 lines left out]\n"),
            "{short}"
        );
        assert!(
            short.contains("140 files changed, 200 insertions(+)"),
            "{short}"
        );
    }

    #[test]
    fn files_of_a_long_commit_stand_below_their_folder() {
        let row = |number: usize| format!(" create mode 100644 oak/leaf_{number}.c\n");
        let rows: String = (0..150).map(row).collect();
        let text = format!(
            "[main 1a2b3c4] Grow\n 151 files changed, 151 insertions(+)\n{rows} delete mode 100644 oak/bark.c\n"
        );
        let (_, short) = outcome(&text, "git commit -m Grow");
        for fact in [
            "create mode 100644 oak/leaf_99.c\n",
            "create mode 100644 oak: leaf_100.c … leaf_149.c (50)\n",
            "delete mode 100644 oak: bark.c\n",
        ] {
            assert!(short.contains(fact), "{fact}: {short}");
        }
    }

    #[test]
    fn states_of_files_keep_their_columns() {
        let text =
            " M src/oak.py\nM  src/elm.py\nAM src/ash.py\n?? notes\nSwitched to branch 'main'\n";
        let (_, short) = outcome(text, "git checkout main");
        for row in [" M src/oak.py\n", "\nM  src/elm.py\n", "\nAM src/ash.py\n"] {
            assert!(short.contains(row), "{row}: {short}");
        }
    }

    #[test]
    fn a_rejected_push_is_a_failure() {
        let text = "To host:x\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs\nhint: \
                    Updates were rejected\n";
        let (failed, short) = outcome(text, "git push");
        assert!(failed && short.contains("(fetch first)"), "{short}");
    }

    #[test]
    fn what_patches_looked_for_is_told_of_the_first_ones() {
        let mut text = String::new();
        for file in 0..9 {
            let _ = write!(
                text,
                "Checking patch src/{file}.c...\nerror: while searching for:\nint a{file};\nint b{file};\nint \
                 c{file};\nint d{file};\n\nerror: patch failed: src/{file}.c:7\nerror: src/{file}.c: patch does \
                 not apply\n"
            );
        }
        text.push_str("Checking patch cut.c...\nerror: other.c: gone\n");
        text.push_str("Checking patch fine.c...\nChecking patch end.c...\n");
        let (failed, short) = outcome(&text, "git apply --check -v");
        assert!(
            failed && short.contains("searching for:\nint a0;\n"),
            "{short}"
        );
        assert!(
            short.contains("int d3;\n") && !short.contains("int a4;"),
            "{short}"
        );
        assert!(
            short
                .contains("error: patch failed: src/8.c:7\nerror: src/8.c: patch does not apply\n")
        );
        assert!(
            short.contains("Checking patch fine.c...\nChecking patch end.c...\n"),
            "{short}"
        );
        assert!(
            !short.contains("Checking patch src") && short.contains("Checking patch cut.c...\n")
        );
    }

    #[test]
    fn what_git_does_not_say_is_not_known() {
        let words = ["git".to_owned(), "commit".to_owned()];
        let input = Input {
            text: "12 checks of the hook passed\n",
            words: &words,
            exit: Exit::Failure,
        };
        assert_eq!(recognises(&input), Match::No);
    }
}
