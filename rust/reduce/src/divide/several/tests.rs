#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod compiled;
mod marked;
mod unopened;

use super::*;
use crate::input::Exit;
use crate::tested::unmarked as terminal;

fn reduced(text: &str, command: &str, exit: Exit) -> (String, Option<&'static str>) {
    terminal::reduce(text, Some(command), exit, usize::MAX).unwrap()
}

fn passed(count: usize) -> String {
    (0..count)
        .map(|number| format!("tests/test_oak.py::test_{number} PASSED\n"))
        .collect::<Vec<_>>()
        .concat()
}

const FAILURE: &str = "=================================== FAILURES ===================================\n__________________________________ test_leaf ___________________________________\n\n    def test_leaf():\n>       assert leaf() == 7\nE       assert 6 == 7\n\ntests/test_oak.py:8: AssertionError\n";
const DIFF: &str = "diff --git a/x.c b/x.c\nindex 1..2 100644\n--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n top\n-old\n+new\n";

#[test]
fn what_a_test_prints_is_no_output_of_another_program() {
    let text = format!(
        "===== test session starts =====\n{}{FAILURE}----------------------------- Captured stdout call -----------------------------\n{DIFF}Found 3 errors.\n===== 1 failed, 40 passed in 0.12s =====\n",
        passed(40)
    );
    let (_, family) = reduced(&text, "true; pytest -v", Exit::LastFailure);
    assert_eq!(family, Some("pytest"));
}

#[test]
fn parts_that_went_well_do_not_hide_that_the_command_failed() {
    let text = format!(
        "All checks passed!\n===== test session starts =====\n{}===== 40 passed in 0.12s =====\n",
        passed(40)
    );
    let (reduced, family) = reduced(&text, "ruff check . && pytest -v", Exit::LastFailure);
    assert_ne!(family, Some("several"));
    assert!(reduced.contains("test_0 PASSED"), "{reduced}");
}

#[test]
fn one_program_after_another_of_its_kind_is_no_several() {
    let run = format!(
        "===== test session starts =====\n{}===== 40 passed in 0.12s =====\n",
        passed(40)
    );
    let text = format!("== one\n{run}== two\n{run}");
    let (_, family) = reduced(
        &text,
        "for x in one two; do echo $x; pytest $x; done",
        Exit::Success,
    );
    assert_eq!(family, Some("pytest"));
}

#[test]
fn a_status_before_the_diff_of_a_merge_is_a_part_of_its_own() {
    let hunks: Vec<String> = (0..30)
        .map(|hunk| format!("  same\n++<<<<<<< HEAD\n +ours({hunk})\n++=======\n+ theirs({hunk})\n++>>>>>>> oak\n"))
        .collect();
    let hunks = hunks.concat();
    let text = format!(
        "On branch main\nYou have unmerged paths.\n\nUnmerged paths:\n\tboth modified:   a.py\n\ndiff --cc a.py\nindex 1,2..0\n--- a/a.py\n+++ b/a.py\n@@@ -1,60 -1,60 +1,180 @@@\n{hunks}"
    );
    let found = parts::parts(&text).unwrap();
    let programs: Vec<_> = found.iter().map(|part| part.program.unwrap()).collect();
    assert_eq!(
        programs,
        [program::Program::GitStatus, program::Program::Diff]
    );
    let command = Some("git status; git diff");
    let reduced = terminal::reduce(&text, command, Exit::Success, usize::MAX);
    let reduced = reduced.map_or(text, |(reduced, _)| reduced);
    assert!(
        reduced.contains("both modified:") && reduced.contains("theirs(0)"),
        "{reduced}"
    );
}

#[test]
fn a_text_that_shows_a_test_run_is_no_test_run() {
    let notes: Vec<String> = (0..40)
        .map(|number| format!("Oak {number} stands beside elm {}.\n\n", number * 7))
        .collect();
    let text = format!(
        "# Trees\n\n===== test session starts =====\n{}===== 1 passed in 0.12s =====\n\n{}",
        passed(1),
        notes.concat()
    );
    let reduced = terminal::reduce(
        &text,
        Some("echo; cat trees.txt"),
        Exit::Success,
        usize::MAX,
    );
    assert!(reduced.is_none_or(|(_, family)| family != Some("pytest")));
}

#[test]
fn what_an_unknown_program_printed_first_leaves_a_log_its_commits() {
    let generated: Vec<String> = (1..=30)
        .map(|number| format!("wrote leaf {number} of oak into out/leaf_{number}.txt\n"))
        .collect();
    let commits: Vec<String> = (1..=40)
        .map(|number| {
            format!(
                "commit {number:040x}\nAuthor: Ann Oak <ann@oak.example>\nDate:   Mon Jan 5 10:00:00 2026 +0000\n\n    Prune branch {number}\n\n"
            )
        })
        .collect();
    let text = generated.concat() + &commits.concat();
    let (reduced, family) = reduced(&text, "./gen.sh && git log -40", Exit::Success);
    assert_eq!(family, Some("several"));
    assert!(
        reduced.contains("wrote leaf 1 of oak into out/leaf_1.txt"),
        "{reduced}"
    );
    for number in 1..=40 {
        assert!(
            reduced.contains(&format!("Prune branch {number}")),
            "{reduced}"
        );
    }
}
