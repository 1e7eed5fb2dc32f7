#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod compiled;
mod marked;
mod shown;
mod unopened;

use super::*;
use crate::input::Exit;
use crate::tested::unmarked as terminal;

fn reduced(text: &str, command: &str, exit: Exit) -> (String, Option<&'static str>) {
    terminal::reduce(text, Some(command), exit, usize::MAX).unwrap()
}

fn finding(number: usize) -> String {
    format!(
        "F401 [*] `oak{number}` imported but unused\n --> src/a.py:{number}:8\n  |\n{number} | import oak{number}\n  |        ^^\n  |\nhelp: Remove it\n\n"
    )
}

fn findings(count: usize) -> String {
    let all: Vec<String> = (1..=count).map(finding).collect();
    all.concat() + &format!("Found {count} errors.\n[*] {count} fixable with `--fix`.\n")
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
fn findings_before_a_test_run_are_told_as_findings() {
    let text = format!(
        "{}F                                                                        [100%]\n{FAILURE}1 failed in 0.12s\n",
        findings(6)
    );
    let (reduced, family) = reduced(&text, "ruff check . ; pytest -q", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    for number in 1..=6 {
        let row = format!("src/a.py:{number}:8: F401 [*] `oak{number}`");
        assert!(reduced.contains(&row), "{reduced}");
    }
    assert!(reduced.contains("Found 6 errors.\n"), "{reduced}");
    assert!(
        reduced.contains("E assert 6 == 7\n") && reduced.contains("1 failed in 0.12s\n"),
        "{reduced}"
    );
}

#[test]
fn a_test_run_before_a_diff_keeps_its_failures_and_counts() {
    let text = format!(
        "===== test session starts =====\n{}{FAILURE}===== 1 failed, 40 passed in 0.12s =====\n{DIFF}",
        passed(40)
    );
    let (reduced, _) = reduced(&text, "pytest -v; git diff", Exit::Success);
    assert_eq!(
        reduced,
        "E assert 6 == 7\n_ test_leaf _ tests/test_oak.py:8\n1 failed, 40 passed in 0.12s\n\
        +++ b/x.c\n@@ -1,2 +1,2 @@\n top\n-old\n+new\n[49 of 58 lines left out]"
    );
}

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
fn a_test_that_prints_a_verdict_does_not_end_the_run() {
    let other = FAILURE
        .replace("test_leaf", "test_twig")
        .replace(":8:", ":19:");
    let other = other.split_once('\n').unwrap().1;
    let text = format!(
        "{}===== test session starts =====\n{}{FAILURE}----------------------------- Captured stdout call -----------------------------\n===== 3 passed in 0.10s =====\n{other}===== 2 failed, 40 passed in 0.12s =====\n",
        findings(4),
        passed(40)
    );
    let (reduced, family) = reduced(&text, "ruff check . ; pytest -v", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    assert!(
        reduced.contains("test_twig") && reduced.contains("tests/test_oak.py:19"),
        "{reduced}"
    );
    assert!(reduced.ends_with("left out]") && reduced.contains("2 failed, 40 passed in 0.12s\n"));
}

#[test]
fn a_failed_test_below_a_diff_is_no_file_of_it() {
    let rows: Vec<String> = (0..40).map(|row| format!("+row {row}\n")).collect();
    let rows = rows.concat();
    let text = format!(
        "diff a.go.orig a.go\n--- a.go.orig\n+++ a.go\n@@ -1,1 +1,41 @@\n top\n{rows}--- FAIL: TestOak (0.00s)\n    oak_test.go:3: got 3, want 4\n{}FAIL\nFAIL\texample.com/oak\t0.005s\nFAIL\n",
        "=== RUN   TestElm\n--- PASS: TestElm (0.00s)\n".repeat(30)
    );
    let (reduced, _) = reduced(&text, "gofmt -d . ; go test ./...", Exit::LastFailure);
    assert!(
        reduced.contains("--- FAIL: TestOak\n")
            && reduced.contains("oak_test.go:3: got 3, want 4\n"),
        "{reduced}"
    );
    assert!(reduced.contains("+row 39\n"), "{reduced}");
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
fn what_no_family_knows_may_be_why_the_command_failed() {
    let text = format!(
        "{}===== test session starts =====\n{}===== 40 passed in 0.12s =====\nno table oak\n",
        DIFF,
        passed(40)
    );
    let (reduced, family) = reduced(&text, "git diff; pytest -v && ./move", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    assert!(
        reduced.contains("40 passed in 0.12s\nno table oak\n"),
        "{reduced}"
    );
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
fn reducing_twice_is_reducing_once() {
    let text = format!("{}{DIFF}", findings(6));
    let (once, _) = reduced(&text, "ruff check . ; git diff", Exit::Success);
    let command = Some("ruff check . ; git diff");
    assert_eq!(
        terminal::reduce(&once, command, Exit::Success, usize::MAX),
        None
    );
}

#[test]
fn findings_of_eslint_do_not_claim_the_tests_above_them() {
    let passed: String = "    \u{2714} works\n".repeat(90);
    let finding = "  2:14  error  'oak' is not defined  no-undef\n";
    let text = format!(
        "  leaves\n{passed}\n\n  90 passing (6ms)\n  1 failing\n\n  1) leaves\n       fall:\n     Error: too green\n      at Context.<anonymous> (test/leaf.js:3:31)\n\n\n/srv/oak/a.js\n{finding}\n/srv/oak/b.js\n{finding}\n\u{2716} 2 problems (2 errors, 0 warnings)\n"
    );
    let (reduced, family) = reduced(&text, "npx mocha; npx eslint .", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    for fact in [
        "90 passing",
        "1 failing",
        "too green",
        "no-undef",
        "2 problems",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
}

#[test]
fn findings_whose_count_was_cut_off_end_where_tests_begin() {
    let text = format!(
        "{}===== test session starts =====\n{}{FAILURE}===== 1 failed, 40 passed in 0.12s =====\n",
        (1..=4).map(finding).collect::<Vec<_>>().concat(),
        passed(40)
    );
    let (reduced, _) = reduced(
        &text,
        "ruff check . | head -40; pytest -v",
        Exit::LastFailure,
    );
    assert!(
        reduced.contains("src/a.py:4:8: F401") && reduced.contains("1 failed, 40 passed in 0.12s"),
        "{reduced}"
    );
}

#[test]
fn what_failed_before_the_last_command_is_told_by_its_content() {
    let text = format!(
        "===== test session starts =====\n{}{FAILURE}===== 1 failed, 40 passed in 0.12s =====\n",
        passed(40)
    );
    let (reduced, family) = reduced(&text, "pytest -v && ruff check .", Exit::LastFailure);
    assert_eq!(family, Some("pytest"));
    assert_eq!(
        reduced,
        "E assert 6 == 7\n_ test_leaf _ tests/test_oak.py:8\n1 failed, 40 passed in 0.12s\n[46 of 50 lines left out]"
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
fn what_is_shown_after_a_test_run_does_not_make_it_a_text() {
    let rows: Vec<String> = (0..60)
        .map(|row| format!("<case name=\"leaf {row}\" weight=\"{}\"/>\n", row * row))
        .collect();
    let text = format!(
        "===== test session starts =====\n{}{FAILURE}===== 1 failed, 40 passed in 0.12s =====\n{}",
        passed(40),
        rows.concat()
    );
    let (reduced, family) = reduced(&text, "pytest -v; cat report.xml", Exit::Success);
    assert_eq!(family, Some("several"));
    assert!(
        reduced.starts_with(
            "E assert 6 == 7\n_ test_leaf _ tests/test_oak.py:8\n1 failed, 40 passed in 0.12s\n<case"
        ),
        "{reduced}"
    );
}

#[test]
fn a_short_status_at_the_end_makes_no_status_of_what_stands_before() {
    let errors: Vec<String> = (1..=30)
        .map(|number| {
            format!("src/a.rs:{number}: unused function 'oak_{number}' (60% confidence)\n")
        })
        .collect();
    let text = format!("{} M src/a.rs\n?? b.txt\n", errors.concat());
    let command = Some("vulture src; git status --short");
    let reduced = terminal::reduce(&text, command, Exit::Success, usize::MAX);
    let reduced = reduced.map_or(text, |(reduced, _)| reduced);
    for number in 1..=30 {
        let place = format!("src/a.rs:{number}");
        assert!(reduced.contains(&place), "{reduced}");
    }
    assert!(reduced.contains("?? b.txt"), "{reduced}");
}

#[test]
fn much_of_no_family_before_a_test_run_is_told_beside_it() {
    let rows: Vec<String> = (1..=40)
        .map(|number| {
            format!("page {number}: the word oak_{number} is not known at row {number}\n")
        })
        .collect();
    let text = format!(
        "{}.....                                                                    [100%]\n5 passed in 0.03s\n",
        rows.concat()
    );
    let (reduced, family) = reduced(&text, "spell pages; pytest -q", Exit::Success);
    assert_eq!(family, Some("several"));
    assert!(
        reduced.contains("page 1: the word oak_1") && reduced.contains("5 passed in 0.03s"),
        "{reduced}"
    );
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

#[test]
fn what_no_family_knows_behind_a_run_that_passed_was_asked_for() {
    let rows: String = ["oak", "elm", "ash", "yew", "fir"]
        .iter()
        .flat_map(|one| {
            ["leaf", "bud", "root", "bark", "twig", "seed"]
                .map(|other| format!("{one} has a {other}, as all know\n"))
        })
        .collect();
    let text = format!(
        "===== test session starts =====\ncollected 9 items\n\n{}\n===== 9 passed in 0.2s =====\n{rows}",
        "tests/test_oak.py .........                [100%]\n".repeat(40)
    );
    let told = terminal::reduce(
        &text,
        Some("pytest; cat trees.txt"),
        Exit::Success,
        usize::MAX,
    );
    let (told, _) = told.unwrap();
    assert!(told.contains(&rows), "{told}");
}
