use super::*;

const TESTS: &str = "F.                                      [100%]\n=========================== short test summary info ============================\nFAILED t.py::oak\n1 failed, 1 passed in 0.10s\n";

/// Each part, with the command that is known to have printed it.
fn told(line: &str, text: &str) -> Vec<(String, String)> {
    let line = CommandLine::read(line).unwrap_or_default();
    let found = parts(text);
    let told = aligned(text, found.as_deref(), &line).unwrap_or_default();
    let of = |(part, giver): Told<'_>| {
        let words = match giver {
            Giver::Command(command) => command.words.join(" "),
            Giver::PerhapsFile | Giver::Unknown => String::new(),
        };
        (part.text.to_owned(), words)
    };
    told.into_iter().map(of).collect()
}

fn expected(parts: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(text, words): &(&str, &str)| ((*text).to_owned(), (*words).to_owned());
    parts.iter().map(owned).collect()
}

#[test]
fn what_stands_first_and_last_is_of_the_commands_that_print_such_lines() {
    let run = "building oak\nbuilding elm\n";
    let text = format!(" M oak.rs\n{run}4ce410c Rings are counted\n");
    assert_eq!(
        told("git status -s; ./build; git log --oneline -1", &text),
        expected(&[
            (" M oak.rs\n", "git status -s"),
            (run, "./build"),
            ("4ce410c Rings are counted\n", "git log --oneline -1"),
        ])
    );
}

#[test]
fn a_command_that_printed_nothing_of_its_kind_leaves_the_text_to_the_others() {
    let failure = "fatal: not a git repository\n";
    let text = format!("{failure}./oak.rs\n./elm.rs\n");
    assert_eq!(
        told("git status -s; find . -name '*.rs'", &text),
        expected(&[
            (failure, "git status -s"),
            ("./oak.rs\n./elm.rs\n", "find . -name *.rs"),
        ])
    );
}

#[test]
fn what_cargo_builds_and_what_it_tests_is_of_one_command() {
    let tests = "   Compiling oak v0.1.0\n    Finished `test` profile in 0.1s\n     Running unittests src/lib.rs\n\nrunning 1 test\ntest leaf ... ok\n\ntest result: ok. 1 passed\n";
    let text = format!("the oak has leaves\n{tests}");
    assert_eq!(
        told("cat oak.txt; cargo test", &text),
        expected(&[
            ("the oak has leaves\n", "cat oak.txt"),
            (tests, "cargo test")
        ])
    );
}

#[test]
fn a_commit_that_another_command_prints_is_not_of_the_log_before_it() {
    let commit = format!("commit {:040x}\nAuthor: Ann\n\n    Prune\n", 7);
    let found = format!("Bisecting: 3 left\n{commit}is the first bad one\n");
    assert_eq!(
        told("git log -1; ./bisect.sh", &format!("{commit}{found}")),
        expected(&[(&commit, "git log -1"), (&found, "./bisect.sh")])
    );
}

#[test]
fn a_row_in_another_form_is_not_of_the_tests_beside_it() {
    let rows = "src/oak.rs\nthe elm\nsrc/fir.rs\n";
    let of_first = told("git ls-files; pytest -q", &format!("{rows}{TESTS}"));
    assert_eq!(
        of_first,
        expected(&[
            ("src/oak.rs\n", "git ls-files"),
            ("the elm\nsrc/fir.rs\n", ""),
            (TESTS, "pytest -q"),
        ])
    );
    let of_last = told("pytest -q; git ls-files", &format!("{TESTS}{rows}"));
    assert_eq!(
        of_last,
        expected(&[
            (TESTS, "pytest -q"),
            ("src/oak.rs\nthe elm\n", ""),
            ("src/fir.rs\n", "git ls-files"),
        ])
    );
}

#[test]
fn a_script_of_node_is_no_run_of_tests() {
    let tests = "TAP version 13\n# Subtest: oak\nnot ok 1 - oak\n1..1\n# tests 1\n# pass 0\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 4.2\n";
    let told = told("npm test; node oak.js", &format!("{tests}3 leaves\n"));
    assert!(
        !told
            .iter()
            .any(|(text, words)| words == "node oak.js" && text.contains("not ok")),
        "{told:?}"
    );
}

#[test]
fn a_verdict_that_begins_with_a_number_is_no_count_of_a_file() {
    let verdict = "3 failed, 9 passed in 0.1s\n2 oaks\n";
    let counts = "  3 src/oak.rs\n 12 Makefile\n 15 total\n";
    assert_eq!(
        told(
            "./check; wc -l src/oak.rs Makefile",
            &format!("{verdict}{counts}")
        ),
        expected(&[(verdict, "./check"), (counts, "wc -l src/oak.rs Makefile")])
    );
}

#[test]
fn a_file_whose_form_tells_its_end_is_of_the_command_that_shows_it() {
    let rest = "growing oaks\n[INFO] 3 oaks\n";
    for (file, text) in [
        (
            "oak.json",
            "{\n  \"oaks\": [\n    3,\n    \"old\"\n  ]\n}\n",
        ),
        (
            "Oak.toml",
            "# oaks\n[oak]\nname = \"oak\"\nleaves = [\n  \"green\",\n]\n\n",
        ),
    ] {
        let (command, both) = (format!("cat {file}"), format!("{text}{rest}"));
        assert_eq!(
            told(&format!("{command} && ./grow"), &both),
            expected(&[(text, &command), (rest, "./grow")])
        );
    }
}

#[test]
fn a_table_without_its_head_is_of_no_command() {
    let text = "12 oaks stand here, 3 are old\n14 elms stand there, 4 are old\n";
    assert_eq!(told("./count; ps", text), expected(&[]));
}

#[test]
fn why_nothing_was_prepared_is_not_of_the_tests_beside_it() {
    let why = "bash: line 1: cd: oak: No such file or directory\n";
    assert_eq!(
        told("cd oak; pytest -q", &format!("{why}{TESTS}")),
        expected(&[(why, ""), (TESTS, "pytest -q")])
    );
    assert_eq!(
        told("pytest -q; cp oak elm", &format!("{TESTS}{why}")),
        expected(&[(TESTS, "pytest -q"), (why, "")])
    );
    assert_eq!(told("cd oak && pytest -q", &format!("{why}{TESTS}")), []);
}

#[test]
fn rows_of_a_command_are_told_where_what_it_was_joined_with_printed_nothing() {
    let sizes = "4.0K\toak\n8.0K\telm\n";
    assert_eq!(
        told(
            "pytest -q || du -sh * || ./grow",
            &format!("{TESTS}{sizes}")
        ),
        expected(&[(TESTS, "pytest -q"), (sizes, "du -sh *")])
    );
}

#[test]
fn rows_before_what_tests_print_first_are_of_their_command() {
    let sizes = "4.0K\toak\n8.0K\telm\n";
    assert_eq!(
        told(
            "./grow; du -sh *; pytest -q",
            &format!("an oak\n{sizes}a leaf falls\n{TESTS}")
        ),
        expected(&[
            ("an oak\n", "./grow"),
            (sizes, "du -sh *"),
            ("a leaf falls\n", "pytest -q"),
            (TESTS, "pytest -q"),
        ])
    );
}

#[test]
fn what_env_prints_is_its_own() {
    let variables = "OAK=1\nELM=two\n";
    assert_eq!(
        told("env; pytest -q", &format!("{variables}{TESTS}")),
        expected(&[(variables, "env"), (TESTS, "pytest -q")])
    );
}

#[test]
fn rows_in_another_form_between_those_of_commands_are_of_none() {
    let (state, row, commit) = (" M oak.rs\n", "the elm\n", "4ce410c Rings are counted\n");
    assert_eq!(
        told(
            "git status -s; git log --oneline -1",
            &format!("{state}{row}{commit}")
        ),
        expected(&[
            (state, "git status -s"),
            (row, ""),
            (commit, "git log --oneline -1"),
        ])
    );
}

#[test]
fn one_tool_that_ran_twice_is_told_apart_by_lines_and_never_by_how_many_parts_there_are() {
    let first = "src/oak.rs:3:leaf\nsrc/elm.rs:7:leaf\n";
    let second = "./tests/oak.rs:9:root\n";
    assert_eq!(
        told(
            "grep -rn leaf src; grep -rn root .",
            &format!("{first}{second}")
        ),
        expected(&[(first, "grep -rn leaf src"), (second, "grep -rn root ."),])
    );
    let text = format!("growing\n{TESTS}grown\n");
    let nobody = told("./grow oak; ./grow elm; ./grow fir", &text);
    assert!(
        nobody.iter().all(|(_, words)| words.is_empty()),
        "{nobody:?}"
    );
}
