//! Outputs whose first line shows nothing, below those of others.

use super::{DIFF, Exit, passed, reduced};

/// What pyright states of `count` names.
fn typed(count: usize) -> String {
    let rows = (1..=count).map(|line| {
        format!(
            "  /w/src/oak.py:{line}:5 - error: \"leaf\" is not defined (reportUndefinedVariable)\n"
        )
    });
    let rows: Vec<String> = rows.collect();
    format!(
        "/w/src/oak.py\n{}{count} errors, 0 warnings, 0 informations\n",
        rows.concat()
    )
}

const GO: &str = "--- FAIL: TestLeaf (0.00s)\n    leaf_test.go:7: got 6, want 7\nFAIL\nFAIL\texample.org/oak\t0.01s\nFAIL\n";

#[test]
fn types_above_tests_without_a_head_are_all_told() {
    let quiet = "....F\n=================================== FAILURES ===================================\n\
                 __________________________________ test_leaf ___________________________________\n\n    \
                 def test_leaf():\n>       assert leaf() == 7\nE       assert 6 == 7\n\ntests/test_oak.py:8: AssertionError\n\
                 1 failed, 4 passed in 0.12s\n";
    for (tests, command, kept) in [
        (quiet, "pyright; pytest -q", "E assert 6 == 7\n"),
        (
            GO,
            "pyright; go test ./...",
            "leaf_test.go:7: got 6, want 7\n",
        ),
    ] {
        let (reduced, family) = reduced(&(typed(20) + tests), command, Exit::LastFailure);
        assert_eq!(family, Some("several"));
        assert!(reduced.contains(kept), "{reduced}");
        for line in 1..=20 {
            assert!(reduced.contains(&format!("oak.py:{line}:5")), "{reduced}");
        }
    }
}

#[test]
fn findings_and_steps_without_a_verdict_are_told_beside_a_run_of_tests() {
    let rows = |row: fn(usize) -> String| (1..=20).map(row).collect::<Vec<_>>().concat();
    let found = rows(|line| format!("src/oak.py:{line}:1: E302 expected 2 blank lines, found 0\n"));
    let installed = rows(|number| format!(" + leaf{number}==1.{number}\n"));
    let steps = format!("Resolved 20 packages in 5ms\nInstalled 20 packages in 9ms\n{installed}");
    let ran = "=== RUN   TestElm\n--- PASS: TestElm (0.00s)\n".repeat(40);
    let text = [found.as_str(), &steps, &ran, GO].concat();
    let (told, _) = reduced(&text, "flake8; uv sync; go test", Exit::LastFailure);
    for number in 1..=20 {
        assert!(told.contains(&format!("src/oak.py:{number}:1")), "{told}");
        assert!(
            told.contains(&format!("leaf{number}==1.{number}")),
            "{told}"
        );
    }
}

#[test]
fn what_is_indented_below_another_output_is_no_end_of_the_one_before() {
    let compiled =
        "src/a.ts(1,2): error TS2304: Cannot find name 'leaf'.\n  Did you mean 'leaves'?\n"
            .repeat(8);
    let checked = (1..=8)
        .map(|line| {
            format!("src/oak.py:{line}: error: Library stubs not installed for \"leaf{line}\"\n[import-untyped]\n    import leaf{line}\n    ^\n")
        })
        .collect::<Vec<String>>().concat();
    let text = format!("{compiled}{checked}Found 8 errors in 1 file (checked 2 source files)\n");
    let (told, family) = reduced(&text, "tsc; mypy --pretty .", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    assert!(told.contains("leaf8\" [import-untyped]"), "{told}");
}

#[test]
fn what_only_tests_print_above_their_first_mark_makes_no_second_output() {
    let text = format!("leaf 7 fell\n{}40 passed in 0.12s\n", passed(40));
    assert_eq!(
        reduced(&text, "pytest -q -s", Exit::Success).1,
        Some("pytest")
    );
}

#[test]
fn source_that_a_compiler_shows_ends_no_output() {
    let shown = |line: usize| {
        format!(
            "src/oak.ts:{line}:5 - error TS2304: Cannot find name 'leaf'.\n\n{line} leaf();\n  ~~~~\n\n"
        )
    };
    let errors = (1..=40).map(shown).collect::<Vec<_>>().concat();
    let tests = "PASS test/ash.test.js\n".repeat(20)
        + "FAIL test/oak.test.js\n  \u{25cf} leaf falls\n\n    expect(received).toBe(expected)\n\n    Expected: 7\n    Received: 6\n\n      at Object.toBe (test/oak.test.js:4:9)\n\nTests:       1 failed, 1 total\nRan all test suites.\n";
    let text =
        format!("{errors}\nFound 40 errors in the same file, starting at: src/oak.ts:1\n\n{tests}");
    let (told, family) = reduced(&text, "tsc; jest", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    for fact in [
        "src/oak.ts:40:5",
        "leaf falls",
        "Expected: 7",
        "test/oak.test.js:4:9",
    ] {
        assert!(told.contains(fact), "{told}");
    }
}

#[test]
fn an_outline_of_tests_ends_what_a_compiler_says_in_plain_form() {
    let errors =
        "src/oak.ts(1,2): error TS2304: Cannot find name 'leaf'.\n  Did you mean 'leaves'?\n"
            .repeat(30);
    let rows = "    \u{2714} falls\n".repeat(90);
    let tests = format!(
        "\n\n  leaf\n{rows}    1) grows\n\n\n  90 passing (8ms)\n  1 failing\n\n  1) leaf\n       grows:\n\n      AssertionError [ERR_ASSERTION]: 1 \
         == 2\n      at Context.<anonymous> (test/leaf.js:4:9)\n"
    );
    let (told, family) = reduced(&(errors + &tests), "tsc; mocha", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    for fact in [
        "src/oak.ts(1,2)",
        "90 passing",
        "1) leaf\ngrows:",
        "test/leaf.js:4:9",
    ] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
}

#[test]
fn findings_above_the_steps_of_a_build_are_told() {
    let checked = |line: usize| {
        format!("src/oak.py:{line}: error: Name \"leaf\" is not defined  [name-defined]\n")
    };
    let checked = (1..=30).map(checked).collect::<Vec<_>>().concat();
    let steps = "#1 [internal] load build definition from Dockerfile\n#1 transferring dockerfile: 32B done\n#1 DONE 0.0s\n\n\
                 #2 [1/2] RUN grow leaf\n#2 0.310 no leaf\n#2 ERROR: process \"/bin/sh -c grow leaf\" did not complete successfully: exit code: 1\n\
                 ------\n > [1/2] RUN grow leaf:\n0.310 no leaf\n------\nERROR: failed to solve: process \"/bin/sh -c grow leaf\" did not \
                 complete successfully: exit code: 1\n";
    let text = format!("{checked}Found 30 errors in 1 file (checked 2 source files)\n{steps}");
    let (told, family) = reduced(&text, "mypy .; docker build .", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    for line in 1..=30 {
        assert!(told.contains(&format!("src/oak.py:{line}")), "{told}");
    }
    assert!(told.contains("no leaf"), "{told}");
    assert_eq!(
        reduced(steps, "docker build .", Exit::Failure).1,
        Some("buildkit")
    );
}

#[test]
fn where_node_died_a_run_of_jest_is_over() {
    let tests = "PASS test/ash.test.js\n".repeat(40)
        + "FAIL test/oak.test.js\n  \u{25cf} leaf falls\n\n    Expected: 7\n    Received: 6\n\n      at Object.toBe (test/oak.test.js:4:9)\n\n\
           /w/oak.js:3\n  throw new Error('no leaf');\n  ^\n\nError: no leaf\n    at grow (/w/oak.js:3:9)\n\nNode.js v20.1.0\n";
    let errors: Vec<String> = (1..=30)
        .map(|line| format!("src/oak.ts({line},2): error TS2304: Cannot find name 'leaf'.\n"))
        .collect();
    let (told, _) = reduced(&(tests + &errors.concat()), "jest; tsc", Exit::LastFailure);
    assert!(
        told.contains("leaf falls") && told.contains("src/oak.ts(30,2)"),
        "{told}"
    );
}

#[test]
fn what_stands_around_a_protocol_of_tests_is_of_other_commands() {
    let point = |number: usize| {
        format!(
            "# Subtest: leaf {number}\nok {number} - leaf {number}\n  ---\n  duration_ms: 0.2\n  ...\n"
        )
    };
    let points: String = (1..30).map(point).collect();
    let run = format!(
        "TAP version 13\n{points}# Subtest: rings\nnot ok 30 - rings\n  ---\n  error: '3 rings'\n  ...\n1..30\n\
         # tests 30\n# pass 29\n# fail 1\n# duration_ms 41.5\n"
    );
    let checked = |number: usize| format!("the fence at row {number} is sound\n");
    let checks: String = (0..4).map(checked).collect();
    let text = format!("{run}{checks}{DIFF}");
    let (reduced, family) = reduced(&text, "node --test t; ./check; git diff", Exit::Success);
    assert_eq!(family, Some("several"));
    assert!(reduced.contains("not ok 30 - rings") && reduced.contains("# fail 1"));
    assert!(
        reduced.contains(&checks) && reduced.contains("+++ b/x.c"),
        "{reduced}"
    );
}
