//! Builds and tests of compiled languages beside what other programs print.

use super::{Exit, reduced};

/// Findings of a linter whose output has neither a first nor a last line of its own.
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
