//! Findings that show their source, and runs that ended early, beside what other programs print.

use super::{Exit, FAILURE, passed, reduced};

#[test]
fn findings_of_ruff_with_place_and_message_in_one_line_are_of_ruff() {
    let finding = |number: usize| {
        format!(
            "src/a.py:{number}:8: F401 [*] `oak{number}` imported but unused\n  |\n{number} | import oak{number}\n  |        ^^ F401\n  |\n  = help: Remove it\n\n"
        )
    };
    let findings: String = (1..=9).map(finding).collect();
    let text = format!(
        "{findings}Found 9 errors.\nF                                                                        [100%]\n{FAILURE}1 failed in 0.12s\n"
    );
    let (reduced, family) = reduced(&text, "ruff check .; pytest -q", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    assert!(
        reduced.contains("src/a.py:3:8: F401 [*] `oak3` imported but unused"),
        "{reduced}"
    );
    assert!(!reduced.contains("3 | import oak3"), "{reduced}");
    assert!(reduced.contains("E assert 6 == 7"), "{reduced}");
}

#[test]
fn a_run_behind_tests_that_ended_the_process_is_of_its_own() {
    let text = format!(
        "running 3 tests\ntest bark ... ok\ntest root ... FAILED\nthread caused non-unwinding panic. aborting.\nerror: test failed, to rerun pass `--lib`\n\nCaused by:\n  process didn't exit successfully: `/oak/target/debug/deps/oak-1` (signal: 6, SIGABRT: process abort signal)\n===== test session starts =====\n{}{FAILURE}===== 1 failed, 30 passed in 0.12s =====\n",
        passed(30)
    );
    let (reduced, family) = reduced(&text, "cargo test; pytest -v", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    for fact in [
        "test root ... FAILED",
        "signal: 6, SIGABRT",
        "E assert 6 == 7",
        "tests/test_oak.py:8",
        "1 failed, 30 passed",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
}

#[test]
fn source_below_findings_of_flake8_is_of_flake8() {
    let finding = |number: usize| {
        format!("src/a.py:{number}:1: E302 expected 2 blank lines\ndef leaf_{number}(): pass\n^\n")
    };
    let findings: String = (10..30).map(finding).collect();
    let text = format!(
        "{findings}F                                                                        [100%]\n{FAILURE}1 failed in 0.12s\n"
    );
    let (reduced, _) = reduced(
        &text,
        "flake8 --show-source src; pytest -q",
        Exit::LastFailure,
    );
    assert!(
        reduced.starts_with("src/a.py:10:1: E302 expected 2 blank lines; also src/a.py:11:1 "),
        "{reduced}"
    );
    assert!(reduced.contains("E assert 6 == 7"), "{reduced}");
}

#[test]
fn warnings_of_a_compiler_are_no_tests_of_python() {
    let warning = |number: usize| {
        format!(
            "src/a.c:{number}:5: warning: comparison of integers (signed) [-Wsign-compare]\n{number:>5} |   if (a < b) {{\n      |     ^\n"
        )
    };
    let warnings: String = (10..30).map(warning).collect();
    let text = format!(
        "{warnings}..E\n======================================================================\nERROR: test_leaf (oak.TestOak.test_leaf)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/p/oak.py\", line 3, in test_leaf\nValueError: no fog\n\n----------------------------------------------------------------------\nRan 3 tests in 0.010s\n\nFAILED (errors=1)\n"
    );
    let (reduced, family) = reduced(&text, "make check", Exit::Failure);
    assert_eq!(family, Some("several"));
    for fact in ["src/a.c:10:5", "[-Wsign-compare]", "ValueError: no fog"] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
}
