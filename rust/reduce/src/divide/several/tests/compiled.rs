//! Builds and tests of compiled languages beside what other programs print.

use super::{Exit, reduced};

#[test]
fn a_build_of_maven_is_told_behind_tests_of_go() {
    let modules = "[INFO] Running org.oak.LeafTest\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in org.oak.LeafTest\n".repeat(60);
    let text = format!(
        "--- FAIL: TestLeaf (0.00s)\n    leaf_test.go:7: got 6\nFAIL\nFAIL\toak/leaf\t0.01s\nFAIL\n\
         [INFO] Scanning for projects...\n[INFO] -------------------------------------------------------\n\
         [INFO]  T E S T S\n[INFO] -------------------------------------------------------\n{modules}\
         [ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in org.oak.BarkTest\n\
         [ERROR] org.oak.BarkTest.isRough  Time elapsed: 0.01 s  <<< FAILURE!\n\
         java.lang.AssertionError: expected:<7> but was:<6>\n\tat org.oak.BarkTest.isRough(BarkTest.java:12)\n\n\
         [INFO] Results:\n[INFO]\n[ERROR] Failures:\n[ERROR]   BarkTest.isRough:12 expected:<7> but was:<6>\n[INFO]\n\
         [ERROR] Tests run: 121, Failures: 1, Errors: 0, Skipped: 0\n[INFO]\n\
         [INFO] ------------------------------------------------------------------------\n[INFO] BUILD FAILURE\n\
         [INFO] ------------------------------------------------------------------------\n[INFO] Total time:  1.2 s\n\
         [INFO] Finished at: 2026-01-02T10:00:00Z\n\
         [INFO] ------------------------------------------------------------------------\n\
         [ERROR] Failed to execute goal org.plugins:surefire:3.0:test (default-test) on project oak: There are test failures.\n"
    );
    for command in ["go test ./...; mvn -B verify", "make ci"] {
        let (reduced, family) = reduced(&text, command, Exit::Failure);
        assert_eq!(family, Some("several"), "{command}");
        for fact in [
            "--- FAIL: TestLeaf",
            "leaf_test.go:7: got 6",
            "expected:<7> but was:<6>",
            "BarkTest.isRough:12",
            "Tests run: 121, Failures: 1",
        ] {
            assert!(reduced.contains(fact), "{command}: {fact}: {reduced}");
        }
    }
}

/// Findings of a linter that states neither how it begins nor how it ends.
fn remarks() -> String {
    let remark = |line| {
        format!(
            "src/oak.py:{line}:80: E501 line too long ({} > 79 characters)\n",
            80 + line
        )
    };
    (1..=30).map(remark).collect::<Vec<_>>().concat()
}

#[test]
fn findings_behind_tests_of_rust_and_go_are_told_beside_them() {
    let passed: String = (0..200).fold(String::new(), |text, number| {
        text + &format!("test tests::grows_{number} ... ok\n")
    });
    let of_rust = format!(
        "\nrunning 41 tests\n{passed}test tests::falls ... FAILED\n\nfailures:\n\n---- tests::falls stdout ----\n\
         thread 'tests::falls' panicked at src/lib.rs:9:9:\nthe leaf fell\n\n\nfailures:\n    tests::falls\n\n\
         test result: FAILED. 40 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\n\
         error: test failed, to rerun pass `--lib`\n"
    );
    let of_go = format!(
        "--- FAIL: TestLeaf (0.00s)\n    leaf_test.go:7: got 6\nFAIL\nFAIL\tapp/oak\t0.012s\n{}FAIL\n",
        "ok  \tapp/elm\t0.004s\n".repeat(200)
    );
    for (tests, command, verdict) in [
        (of_rust, "cargo test; flake8 src", "src/lib.rs:9:9"),
        (of_go, "go test ./...; flake8 src", "leaf_test.go:7: got 6"),
    ] {
        let text = tests + &remarks();
        for command in [command, "make check"] {
            let (reduced, family) = reduced(&text, command, Exit::Failure);
            assert_eq!(family, Some("several"), "{command}");
            assert!(reduced.contains(verdict), "{command}: {reduced}");
            for line in 1..=30 {
                let place = format!("src/oak.py:{line}:80");
                assert!(reduced.contains(&place), "{command}: {reduced}");
            }
        }
    }
}

#[test]
fn a_build_of_rust_keeps_its_warnings_before_findings_that_are_counted() {
    let warnings: String = (1..=20).fold(String::new(), |text, line| {
        text + &format!(
            "warning: unused variable: `oak_{line}`\n --> src/lib.rs:{line}:9\n  |\n{line} |     let oak_{line} = 1;\n  |         ^^^^^\n\n"
        )
    });
    let text = format!(
        "   Compiling app v0.1.0 (/w/app)\n{warnings}warning: `app` (lib) generated 20 warnings\n    Finished `dev` profile [unoptimized] target(s) in 1.02s\n\
         src/oak.py:7: error: Name \"totl\" is not defined  [name-defined]\nFound 1 error in 1 file (checked 9 source files)\n"
    );
    for command in ["cargo clippy; mypy src", "make check"] {
        let (reduced, family) = reduced(&text, command, Exit::Failure);
        assert_eq!(family, Some("several"), "{command}");
        for fact in [
            "src/lib.rs:1:9",
            "src/lib.rs:20:9",
            "generated 20 warnings",
            "src/oak.py:7: error: Name \"totl\" is not defined",
            "Found 1 error in 1 file",
        ] {
            assert!(reduced.contains(fact), "{command}: {fact}: {reduced}");
        }
    }
}

#[test]
fn a_compiler_behind_a_silent_run_of_jest_is_told() {
    let error = |line: usize| {
        format!(
            "src/oak.ts({line},7): error TS2322: Type 'string' is not assignable to type 'leaf{line}'.\n"
        )
    };
    let errors: String = (10..40).map(error).collect();
    let text = format!(
        "FAIL test/oak.test.js\n  \u{25cf} grows\n\n    expect(received).toBe(expected)\n\n    Expected: 7\n    Received: 6\n\n      at Object.<anonymous> (test/oak.test.js:9:20)\n{}\n\
         Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 total\nSnapshots:   0 total\nTime:        0.728 s\n{errors}",
        "      at run (node_modules/jest-circus/build/run.js:71:3)\n".repeat(40)
    );
    let (reduced, family) = reduced(&text, "npm test; tsc -p .", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    assert!(
        reduced.contains("Received: 6") && reduced.contains("test/oak.test.js:9:20"),
        "{reduced}"
    );
    assert!(
        reduced.contains("src/oak.ts(25,7)") && reduced.contains("'leaf25'"),
        "{reduced}"
    );
}
