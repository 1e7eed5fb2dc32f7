//! What `XCTest` and Swift Testing say: `swift test`, `xcodebuild test`.
//!
//! ```text
//! Test Case 'OakTests.testGrows' started at 2026-01-05 10:00:00.124
//! OakTests.swift:52: error: OakTests.testGrows : XCTAssertEqual failed: ("6") is not equal to ("7")
//! Test Case 'OakTests.testGrows' failed (0.004 seconds)
//!      Executed 30 tests, with 1 failure (0 unexpected) in 0.011 (0.011) seconds
//! ```

use ethos_registry_core::find_text::FindText as _;

/// The text after the name of a test or a suite in a trimmed line.
fn said(trimmed: &str) -> Option<&str> {
    let name = trimmed.strip_prefix("Test ")?;
    let name = name
        .strip_prefix("Case '")
        .or_else(|| name.strip_prefix("Suite '"))?;
    name.rsplit_text("' ").map(|(_, said)| said)
}

/// Whether a trimmed line reports that a test or a suite begins or passed.
pub(super) fn is_passed(trimmed: &str) -> bool {
    let beginnings = ["started", "passed"];
    said(trimmed).is_some_and(|said| beginnings.iter().any(|word| said.starts_with(word)))
        || trimmed.starts_with('\u{25c7}')
}

/// Whether a trimmed line reports that a test failed.
pub(super) fn is_failure(trimmed: &str) -> bool {
    trimmed.starts_with("Test Case '")
        && said(trimmed).is_some_and(|said| said.starts_with("failed ("))
}

/// Whether a trimmed line reports that a suite failed, which its tests show as well.
pub(super) fn is_noise(trimmed: &str) -> bool {
    trimmed.starts_with("Test Suite '")
        && said(trimmed).is_some_and(|said| said.starts_with("failed at "))
}

/// Whether a trimmed line counts the tests that ran and those that failed.
pub(super) fn is_verdict(trimmed: &str) -> bool {
    match trimmed.as_bytes().first() {
        Some(b'E') => {
            let counted = trimmed.strip_prefix("Executed ");
            counted.is_some_and(|text| text.has_text(" test") && text.has_text(", with "))
        }
        // A check or a cross.
        Some(0xE2) => {
            let counted = trimmed
                .get(3..)
                .and_then(|text| text.strip_prefix(" Test run with "));
            counted.is_some_and(|text| text.has_text(" test") && text.has_text(" after "))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_pass_are_told_from_those_that_fail() {
        for line in [
            "Test Case 'OakTests.testGrows' started at 2026-01-05 10:00:00.124",
            "Test Case '-[Grove.OakTests testGrows]' started.",
            "Test Case 'OakTests.testGrows' passed (0.0 seconds)",
            "Test Suite 'OakTests' passed at 2026-01-05 10:00:00.140",
            "◇ Test \"grows\" started.",
        ] {
            assert!(is_passed(line), "{line}");
        }
        let failed = "Test Case 'OakTests.testGrows' failed (0.004 seconds)";
        assert!(is_failure(failed) && !is_passed(failed));
        assert!(is_noise(
            "Test Suite 'OakTests' failed at 2026-01-05 10:00:00.140"
        ));
        assert!(!is_noise(failed));
    }

    #[test]
    fn counts_of_both_are_verdicts() {
        for line in [
            "Executed 30 tests, with 1 failure (0 unexpected) in 0.011 (0.011) seconds",
            "✘ Test run with 4 tests in 2 suites failed after 0.012 seconds with 1 issue.",
            "✔ Test run with 1 test passed after 0.001 seconds.",
        ] {
            assert!(is_verdict(line), "{line}");
        }
        assert!(!is_verdict("✔ Test \"grows\" passed after 0.001 seconds."));
    }
}
