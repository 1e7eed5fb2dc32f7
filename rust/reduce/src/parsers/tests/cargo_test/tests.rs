#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::tested::unmarked::reduce_kind as reduce;
use crate::{Kind, Request};

fn reduced(text: &str, code: i64) -> String {
    let request = Request {
        command: Some("cargo test"),
        ranged: false,
        ok: code == 0,
        exit_code: Some(code),
        budget_chars: usize::MAX,
        policy: None,
    };
    reduce(Kind::Terminal, &request, text).unwrap()
}

fn passing(number: usize) -> String {
    (0..number)
        .map(|number| format!("test tests::n{number} ... ok\n"))
        .collect::<Vec<_>>()
        .concat()
}

const FAILURE: &str = "test tests::b ... FAILED\n\nfailures:\n\n---- tests::b stdout ----\n\nthread 'tests::b' (7) panicked at src/lib.rs:9:5:\nassertion `left == right` failed\n  left: 1\n right: 2\nstack backtrace:\n   0: core::panicking::panic\n             at /rustc/abc/library/core/src/panicking.rs:1:2\n   1: app::tests::b\n             at ./src/lib.rs:9:5\nnote: run with `RUST_BACKTRACE=1`\n\n\nfailures:\n    tests::b\n\ntest result: FAILED. 40 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\nerror: test failed, to rerun pass `--lib`\n";

#[test]
fn a_failed_test_keeps_name_place_and_values() {
    let text = "     Running unittests src/lib.rs (target/debug/deps/app-1)\n\nrunning 41 tests\n"
        .to_owned()
        + &passing(40)
        + FAILURE;
    let reduced = reduced(&text, 101);
    assert_eq!(
        reduced.rsplit_once('\n').unwrap().0,
        "thread 'tests::b' (7) panicked at src/lib.rs:9:5:\nassertion `left == right` failed\n\
        left: 1\nright: 2\nRunning unittests src/lib.rs\n\
        test result: FAILED. 40 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
        error: test failed, to rerun pass `--lib`"
    );
}

#[test]
fn a_run_that_was_cut_off_names_what_failed_and_gets_no_verdict() {
    let text = "running 41 tests\n".to_owned() + &passing(60) + "test tests::b ... FAILED\n";
    let reduced = reduced(&text, 101);
    assert!(reduced.contains("test tests::b ... FAILED\n"), "{reduced}");
    assert!(!reduced.contains("test result"), "{reduced}");
}

#[test]
fn results_that_differ_in_time_alone_are_counted() {
    let empty = "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; finished in 0.00s\n";
    let text = "\nrunning 40 tests\n".to_owned()
        + &passing(40)
        + "\ntest result: ok. 40 passed; 0 failed; finished in 0.02s\n"
        + &empty.repeat(3);
    let reduced = reduced(&text, 0);
    assert!(
            reduced.starts_with("test result: ok. 40 passed; 0 failed; finished in 0.02s\ntest result: ok. 0 passed; 0 failed; finished in 0.00s \u{d7}3\n["),
            "{reduced}"
        );
}

#[test]
fn a_documentation_test_keeps_its_name() {
    let text = "running 1 test\ntest src/lib.rs - f (line 3) ... FAILED\n".to_owned()
        + &passing(40)
        + "\nfailures:\n\n---- src/lib.rs - f (line 3) stdout ----\nTest executable failed (exit status: 101).\n\nstderr:\n\nthread 'main' (7) panicked at src/lib.rs:5:1:\nno\n\n\nfailures:\n    src/lib.rs - f (line 3)\n\ntest result: FAILED. 0 passed; 1 failed\n";
    let reduced = reduced(&text, 101);
    assert!(
        reduced.starts_with("src/lib.rs - f (line 3)\nTest executable failed"),
        "{reduced}"
    );
    assert!(
        reduced.contains("panicked at src/lib.rs:5:1:\nno\n"),
        "{reduced}"
    );
}

#[test]
fn errors_of_the_build_before_the_tests_stay() {
    let text = "   Compiling app v0.1.0\n".repeat(40)
        + "error[E0425]: cannot find value `x`\n --> src/lib.rs:3:5\n  |\n3 |     x\n  |     ^ not found in this scope\n\nerror: could not compile `app` (lib test) due to 1 previous error\n";
    let reduced = reduced(&text, 101);
    assert!(
            reduced.starts_with("error[E0425]: cannot find value `x` src/lib.rs:3:5 (not found in this scope)\nerror: could not compile"),
            "{reduced}"
        );
}

#[test]
fn a_test_that_nextest_names_is_not_named_again_by_its_panic() {
    let text = "    Starting 41 tests across 1 binary\n        FAIL [   0.007s] ( 1/41) app tests::b\n  stdout ───\n\n    running 1 test\n    test tests::b ... FAILED\n\n    failures:\n\n    failures:\n        tests::b\n\n    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 40 filtered out; finished in 0.00s\n\n  stderr ───\n\n    thread 'tests::b' (7) panicked at src/lib.rs:9:5:\n    the oak is down\n    note: run with `RUST_BACKTRACE=1`\n\n".to_owned()
        + &"        PASS [   0.005s] ( 2/41) app tests::a\n".repeat(40)
        + "     Summary [   0.141s] 41 tests run: 40 passed, 1 failed, 0 skipped\nerror: test run failed\n";
    let reduced = reduced(&text, 100);
    assert!(
        reduced.starts_with("FAIL app tests::b\npanicked at src/lib.rs:9:5:\nthe oak is down\n"),
        "{reduced}"
    );
    assert!(
        reduced.contains("41 tests run: 40 passed, 1 failed"),
        "{reduced}"
    );
}

#[test]
fn a_test_that_panicked_with_another_text_says_which_it_should_have() {
    let text = "running 41 tests\n".to_owned()
        + &passing(40)
        + "test tests::b - should panic ... FAILED\n\nfailures:\n\n---- tests::b stdout ----\n\nthread 'tests::b' (7) panicked at src/lib.rs:9:5:\nthe oak is up\nnote: panic did not contain expected string\n      panic message: \"the oak is up\"\n expected substring: \"the oak is down\"\n\nfailures:\n    tests::b\n\ntest result: FAILED. 40 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";
    let reduced = reduced(&text, 101);
    assert!(
        reduced.contains(
            "the oak is up\nnote: panic did not contain expected string\nexpected substring: \"the oak is down\"\n"
        ),
        "{reduced}"
    );
}

#[test]
fn a_test_that_did_not_panic_says_so() {
    let text = "running 41 tests\n".to_owned()
        + &passing(40)
        + "test tests::b - should panic ... FAILED\n\nfailures:\n\n---- tests::b stdout ----\nnote: test did not panic as expected at src/lib.rs:56:8\n\nfailures:\n    tests::b\n\ntest result: FAILED. 40 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";
    let reduced = reduced(&text, 101);
    assert!(
        reduced.contains("tests::b\nnote: test did not panic as expected at src/lib.rs:56:8\n"),
        "{reduced}"
    );
}

#[test]
fn an_assertion_without_words_is_told_once_and_its_values_each_time() {
    let failure = |name: &str, value: usize| {
        format!(
            "---- tests::{name} stdout ----\n\nthread 'tests::{name}' (9) panicked at src/oak.rs:{value}:5:\n\
             assertion `left == right` failed\n  left: {value}\n right: 0\n\n"
        )
    };
    let text = format!(
        "     Running unittests src/lib.rs (/srv/build/target/debug/deps/oak-51660bc0667b7e5c)\n\nrunning 9 tests\n\
         test tests::ash ... FAILED\ntest tests::elm ... FAILED\n{}\nfailures:\n\n{}{}\nfailures:\n    tests::ash\n    tests::elm\n\n\
         test result: FAILED. 7 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.06s\n\n\
         error: test failed, to rerun pass `--lib`\n",
        "test tests::fir ... ok\n".repeat(40),
        failure("ash", 3),
        failure("elm", 4)
    );
    let reduced = reduced(&text, 101);
    assert_eq!(
        reduced.matches("assertion `left == right` failed").count(),
        1,
        "{reduced}"
    );
    for fact in [
        "src/oak.rs:3:5",
        "src/oak.rs:4:5",
        "left: 3",
        "left: 4",
        "tests::ash",
        "tests::elm",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
    assert!(
        reduced.contains("Running unittests src/lib.rs\n"),
        "{reduced}"
    );
}

#[test]
fn why_the_tests_of_a_target_ended_stays_below_the_line_that_says_so() {
    let ended = "running 2 tests\n\nerror: test failed, to rerun pass `--test quay`\n\nCaused by:\n  process didn't exit successfully: `/t/quay-1a2b` (exit status: 3)\n\
                 note: test exited abnormally; to see the full output pass --no-capture to the harness.\n";
    let text = [&passing(60), FAILURE, ended].concat();
    let reduced = reduced(&text, 3);
    assert!(
        reduced.contains(
            "to rerun pass `--test quay`\nCaused by:\n  process didn't exit successfully: `/t/quay-1a2b` (exit status: 3)\n"
        ),
        "{reduced}"
    );
}

#[test]
fn failed_tests_are_all_named_where_the_head_of_their_list_was_cut_away() {
    let name = |n| format!("    oak::tests::leaf{n}\n");
    let names = (1..40).map(name).collect::<Vec<_>>().concat();
    let text = format!(
        "{names}    outside\n\ntest result: FAILED. 3 passed; 40 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\nerror: test failed, to rerun pass `--lib`\n"
    );
    let reduced = reduced(&text, 0);
    for name in (1..40).map(|n| format!("oak::tests::leaf{n}\n")) {
        assert!(reduced.contains(&name), "{reduced}");
    }
    assert!(
        reduced.contains("\noutside\ntest result: FAILED. "),
        "{reduced}"
    );
}

#[test]
fn what_nextest_shows_of_a_test_stands_below_its_row() {
    let shown = |name: &str, said: &str| {
        format!(
            "        FAIL [   0.014s] (1/60) app::quay {name}\n  stdout ───\n\n    running 1 test\n    test {name} ... FAILED\n\n    {said}\n\n"
        )
    };
    let passed = "        PASS [   0.014s] (3/60) app::quay fine\n".repeat(60);
    let text = shown("exits", "(test failed with exit code 3)")
        + &shown("hangs", "(test aborted with signal 6: SIGABRT)")
        + &passed
        + "────────────\n     Summary [   1.901s] 62 tests run: 60 passed, 2 failed, 0 skipped\n";
    assert!(
        reduced(&text, 100).starts_with(
            "FAIL app::quay exits\n(test failed with exit code 3)\nFAIL app::quay hangs\n(test aborted with signal 6: SIGABRT)\nSummary "
        ),
        "{}",
        reduced(&text, 100)
    );
}

#[test]
fn steps_behind_the_line_that_tests_failed_are_no_cause_of_it() {
    let next = "     Running tests/wheel.rs (target/debug/deps/wheel-a0b9)\n\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let text = [&passing(60), FAILURE, next].concat();
    let reduced = reduced(&text, 101);
    assert!(!reduced.contains("wheel-a0b9"), "{reduced}");
}

#[test]
fn steps_that_went_well_are_left_out_and_targets_without_tests_beside_failures() {
    let built = "    Finished `test` profile [unoptimized] target(s) in 1.30s\n     Running unittests src/lib.rs (target/debug/deps/oak-a0)\n\n";
    let empty = "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let ran = format!(
        "running 60 tests\n{}\ntest result: ok. 60 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n",
        passing(60)
    );
    let passed = reduced(&[built, &ran, empty].concat(), 0);
    assert!(
        passed.contains(" 60 passed; 0 failed") && passed.contains(" 0 passed; 0 failed"),
        "{passed}"
    );
    assert!(!passed.contains("Finished"), "{passed}");
    let failed = reduced(&[built, &passing(60), FAILURE, empty].concat(), 101);
    assert!(!failed.contains(" 0 passed"), "{failed}");
}

#[test]
fn a_target_that_began_and_gave_no_result_is_told() {
    let ran = format!(
        "     Running unittests src/lib.rs (target/debug/deps/oak-a0)\n\nrunning 60 tests\n{}\ntest result: ok. 60 passed; 0 failed\n\n",
        passing(60)
    );
    let left = "     Running tests/leaf.rs (target/debug/deps/leaf-a0)\n\nrunning 2 tests\n";
    let next = "   Doc-tests oak\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed\n";
    assert!(
        reduced(&[ran.as_str(), left, next].concat(), 0).starts_with(
            "test result: ok. 60 passed; 0 failed\nRunning tests/leaf.rs\nrunning 2 tests\ntest result: ok. 0 passed"
        )
    );
}

#[test]
fn what_passed_before_a_failure_stands_before_it() {
    let before = format!(
        "running 60 tests\n{}\ntest result: ok. 60 passed; 0 failed\n\n",
        passing(60)
    );
    let told = reduced(&(before + "running 41 tests\n" + FAILURE), 101);
    assert!(
        told.starts_with("test result: ok. 60 passed; 0 failed\nthread 'tests::b' (7) panicked"),
        "{told}"
    );
}

#[test]
fn tests_that_passed_are_not_listed_where_their_output_is_shown() {
    let (before, behind) = FAILURE.split_once("\nfailures:\n").unwrap();
    let shown = "\nsuccesses:\n\n---- tests::a stdout ----\na leaf\n\nsuccesses:\n    tests::a\n    tests::oak\n";
    let told = reduced(
        &[&passing(40), before, shown, "\nfailures:\n", behind].concat(),
        101,
    );
    assert!(
        !told.contains("tests::a") && !told.contains("tests::oak"),
        "{told}"
    );
}

#[test]
fn of_a_drawn_difference_the_changed_lines_stay() {
    let alike = "     Leaf {\n         green: true,\n     },\n".repeat(9);
    let text = passing(40)
        + &FAILURE.replace(
            "assertion `left == right` failed\n  left: 1\n right: 2\n",
            &format!(
                "assertion failed: `(left == right)`\n\nDiff < left / right > :\n Oak {{\n{alike}<    years: 64,\n>    years: 65,\n }}\n\n\n"
            ),
        );
    let reduced = reduced(&text, 101);
    assert!(
        reduced.contains(
            "assertion failed: `(left == right)`\nDiff < left / right > :\n<    years: 64,\n>    years: 65,\n"
        ),
        "{reduced}"
    );
    assert!(!reduced.contains("green"), "{reduced}");
}

#[test]
fn changed_rows_of_a_snapshot_stay() {
    let rule = "\u{2500}".repeat(40);
    let snapshot = format!(
        "---- tests::b stdout ----\nSnapshot: oak\nSource: src/lib.rs:9\n{rule}\nExpression: oak()\n{rule}\n-old snapshot\n+new results\n{rule}\n    2     2 \u{2502}     leaf: 7,\n    6       \u{2502}-    years: 64,\n          6 \u{2502}+    years: 65,\n{rule}\n"
    );
    let text = passing(40) + &FAILURE.replace("---- tests::b stdout ----\n", &snapshot);
    let reduced = reduced(&text, 101);
    assert!(
        reduced.contains("-    years: 64,\n+    years: 65,\n"),
        "{reduced}"
    );
    assert!(!reduced.contains("leaf: 7"), "{reduced}");
}

#[test]
fn rows_of_a_table_that_a_test_prints_are_none_of_a_snapshot() {
    let table =
        "---- tests::b stdout ----\n\u{2502} tree \u{2502} rings \u{2502}\n7 \u{2502} oak\n";
    let text = passing(40) + &FAILURE.replace("---- tests::b stdout ----\n", table);
    let reduced = reduced(&text, 101);
    assert!(
        reduced.contains("\u{2502} tree \u{2502} rings \u{2502}\n7 \u{2502} oak\n"),
        "{reduced}"
    );
}

#[test]
fn tests_behind_long_warnings_of_their_build_are_tests() {
    let warning = |number: usize| {
        format!(
            "warning: unused variable: `oak{number}`\n --> src/lib.rs:{number}:9\n  |\n{number} |     let oak{number} = 1;\n  |         ^^^^\n\n"
        )
    };
    let warnings: String = (100..400).map(warning).collect();
    let text = warnings
        + "     Running unittests src/lib.rs (target/debug/deps/app-1)\n\nrunning 41 tests\n"
        + &passing(40)
        + FAILURE;
    for command in ["cargo test", "make test"] {
        let name = crate::family(&text, Some(command));
        assert_eq!(name, "cargo test", "{command}");
    }
    let reduced = reduced(&text, 101);
    assert!(
        reduced.contains("thread 'tests::b' (7) panicked at src/lib.rs:9:5:\nassertion `left == right` failed\nleft: 1\nright: 2\n"),
        "{reduced}"
    );
    assert!(!reduced.contains(" ... ok"), "{reduced}");
}
