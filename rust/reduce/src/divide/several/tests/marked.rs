use super::*;

/// An input that no family knows.
fn unknown(lines: usize) -> String {
    let line = |number: usize| format!("leaf {number} of the oak is green\n");
    (0..lines).map(line).collect()
}

fn listed(files: usize) -> String {
    let file =
        |number: usize| format!("-rw-r--r-- 1 me me {number}4 Jan  2 10:01 leaf_{number}.rs\n");
    "total 8\n".to_owned() + &(0..files).map(file).collect::<String>()
}

#[test]
fn what_stands_below_a_remark_is_of_the_commands_behind_it() {
    let text = format!(
        "=== files ===\n{}=== data ===\n{}=== diff ===\n{DIFF}",
        listed(30),
        "{\"oaks\": [{\"name\": \"a\", \"ok\": true}, {\"name\": \"b\", \"ok\": false}]}\n",
    );
    let command = "echo '=== files ==='; ls -la; echo '=== data ==='; cat oaks.json; echo '=== diff ==='; git diff";
    let (reduced, family) = reduced(&text, command, Exit::Success);
    assert_eq!(family, Some("several"));
    assert!(
        reduced.starts_with("=== files ===\nleaf_0.rs … leaf_"),
        "{reduced}"
    );
    assert!(reduced.contains("\n=== data ===\n{\"oaks\": "), "{reduced}");
    assert!(reduced.contains("\n=== diff ===\n+++ b/x.c"), "{reduced}");
}

#[test]
fn a_remark_tells_how_the_command_above_it_ended() {
    let text = format!("{}exit: 1\n{DIFF}", unknown(200));
    let command = "./leaves; echo \"exit: $?\"; git diff";
    let (of_both, _) = reduced(&text, command, Exit::Success);
    assert!(of_both.contains("\nexit: 1\n+++ b/x.c"), "{of_both}");
    // A run that states that all is well and ends with another code is not reported as one that went well.
    let lying = format!("{}===== 40 passed in 0.12s =====\nexit: 1\n", passed(40));
    let (lying, _) = reduced(&lying, "pytest -v; echo \"exit: $?\"", Exit::Success);
    assert!(
        lying.contains("test_7 PASSED\n") || lying.contains("PASSED (+39 similar)"),
        "{lying}"
    );
    assert!(lying.contains("\nexit: 1\n"), "{lying}");
}

#[test]
fn what_programs_print_as_well_is_no_remark() {
    let text = format!("---\n{}---\n{}---\n", unknown(60), listed(20));
    let command = "cat oak.yaml; echo ---; ls -la";
    let told = terminal::reduce(&text, Some(command), Exit::Success, usize::MAX);
    assert_ne!(told.and_then(|(_, family)| family), Some("several"));
}

#[test]
fn commands_behind_a_remark_that_was_not_printed_did_not_run() {
    let text = format!("== lint\n{}", findings(6));
    let command = "echo '== lint' && ruff check . && echo '== tests' && pytest -q";
    let (reduced, _) = reduced(&text, command, Exit::Failure);
    assert!(reduced.starts_with("== lint\n"), "{reduced}");
    assert!(reduced.contains("src/a.py:6:8: F401") && reduced.contains("Found 6 errors."));
}

#[test]
fn in_a_loop_a_remark_is_printed_again() {
    let round = |name: &str| format!("== {name}\n{}", listed(12));
    let text = ["oak", "elm", "ash"].map(round).concat() + "== end\n" + DIFF;
    let command =
        "for d in oak elm ash; do echo \"== $d\"; (cd $d && ls -la); done; echo '== end'; git diff";
    let (reduced, _) = reduced(&text, command, Exit::Success);
    for name in ["oak", "elm", "ash"] {
        let rows = format!("== {name}\nleaf_0.rs … leaf_");
        assert!(reduced.contains(&rows), "{reduced}");
    }
    assert!(reduced.contains("== end\n+++ b/x.c"), "{reduced}");
}

#[test]
fn a_line_for_a_shell_is_divided_too() {
    let text = format!("== files\n{}== diff\n{DIFF}", listed(30));
    for command in [
        "bash -lc 'echo == files; ls -la; echo == diff; git diff'",
        "ssh oak 'cd app && echo == files && ls -la && echo == diff && git diff'",
    ] {
        let (reduced, family) = reduced(&text, command, Exit::Success);
        assert_eq!(family, Some("several"), "{command}");
        assert!(reduced.starts_with("== files\nleaf_0.rs"), "{reduced}");
    }
}

#[test]
fn remarks_that_are_all_of_a_text_divide_nothing() {
    let round = |number: usize| format!("== request {number}\n200\n");
    let text: String = (0..90).map(round).collect();
    let command = "for i in $(seq 90); do echo \"== request $i\"; curl -s oak; done";
    let (reduced, family) = reduced(&text, command, Exit::Success);
    assert_ne!(family, Some("several"), "{reduced}");
}

#[test]
fn files_that_several_commands_show_are_shown_as_by_one() {
    let number = |number: usize| format!("def leaf_{number}():\n    return {number}\n\n\n");
    let text: String = (0..60).map(number).collect();
    for command in [
        "cat oak.py; cat elm.py",
        "head -90 oak.py; sed -n 1,80p elm.py",
        "sed -n 1,9p oak.py; cat elm.py",
    ] {
        assert_eq!(
            terminal::reduce(&text, Some(command), Exit::Success, usize::MAX),
            None,
            "{command}"
        );
    }
    let long = text.repeat(20);
    let (reduced, family) = reduced(&long, "sed -n 1,9p oak.py; cat elm.py", Exit::Success);
    assert_eq!(family, Some("file"));
    assert!(reduced.contains("237:def leaf_59():"), "{reduced}");
}

#[test]
fn a_remark_that_is_made_when_a_command_failed_tells_so() {
    let text = format!(
        "{}===== 40 passed in 0.12s =====\n== failed\n{DIFF}",
        passed(40)
    );
    let (of_failed, _) = reduced(
        &text,
        "pytest -v || echo '== failed'; git diff",
        Exit::Success,
    );
    assert!(of_failed.contains("PASSED"), "{of_failed}");
    let (other, _) = reduced(
        &text,
        "pytest -v; echo '== failed'; git diff",
        Exit::Success,
    );
    assert!(!other.contains("PASSED"), "{other}");
}

#[test]
fn of_like_remarks_the_first_was_made_where_each_waits_for_the_last() {
    let text = format!("{}---\n{DIFF}", listed(30));
    let command = "ls -la && echo --- && git diff && echo --- && ./oak";
    let (reduced, _) = reduced(&text, command, Exit::Failure);
    assert!(reduced.contains("leaf_0.rs …"), "{reduced}");
}

#[test]
fn the_head_of_a_file_in_a_diff_is_no_remark() {
    let diff = DIFF.replace("+++ b/x.c", "--- a/x.c\n+++ b/x.c");
    let text = format!("--- x.c\n{diff}--- y.c\n{diff}");
    let command = "for f in x.c y.c; do echo \"--- $f\"; git diff \"$f\"; done";
    let (reduced, _) = reduced(&text, command, Exit::Success);
    assert!(
        reduced.starts_with("--- x.c\n") && reduced.contains("\n--- y.c\n"),
        "{reduced}"
    );
    assert_eq!(reduced.matches("--- ").count(), 2, "{reduced}");
}

#[test]
fn what_failed_without_a_word_leaves_nothing_to_tell() {
    let text = format!("== files\n{}== check\n", listed(30));
    let command = "echo '== files'; ls -la; echo '== check'; ./check > log";
    let (reduced, family) = reduced(&text, command, Exit::Failure);
    assert_eq!(family, Some("several"));
    assert!(reduced.contains("leaf_0.rs … leaf_"), "{reduced}");
}

#[test]
fn parts_of_a_file_that_were_asked_for_stay_below_a_remark() {
    let row = |number: usize| format!("value_{number} = leaf({number}) of the oak\n");
    let rows: String = (0..60).map(row).collect();
    let text = format!("== oak\n{rows}== files\n{}", listed(30));
    let command = "echo '== oak'; sed -n 1,60p oak.txt; echo '== files'; ls -la";
    let (reduced, _) = reduced(&text, command, Exit::Success);
    assert!(
        reduced.contains(&rows) && reduced.contains("leaf_0.rs …"),
        "{reduced}"
    );
}

#[test]
fn a_function_says_its_remark_wherever_it_is_called() {
    let text = format!("=== files ===\n{}=== diff ===\n{DIFF}", listed(30));
    let command =
        "say() { printf '\\n=== %s ===\\n' \"$1\"; }; say files; ls -la; say diff; git diff";
    let (reduced, family) = reduced(&text, command, Exit::Success);
    assert_eq!(family, Some("several"));
    assert!(reduced.contains("\n=== diff ===\n+++ b/x.c"), "{reduced}");
}
