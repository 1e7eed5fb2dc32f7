//! What the runner of Dart and Flutter states: how long it runs, how many tests passed, were skipped and failed, and
//! which one is next.
//!
//! ```text
//! 00:02 +20 ~1 -1: test/oak_test.dart: grows
//! 00:02 +20 ~1 -2: test/oak_test.dart: grows [E]
//! 00:04 +39 ~1 -2: Some tests failed.
//! ```

use crate::line::is_number;

/// The text after the counts of a trimmed line, and whether they include a failure.
fn counted(trimmed: &str) -> Option<(&str, bool)> {
    let time = trimmed.get(..6)?;
    let is_time = time.bytes().enumerate().all(|(at, byte)| match at {
        2 => byte == b':',
        5 => byte == b' ',
        _ => byte.is_ascii_digit(),
    });
    let (counts, name) = trimmed.get(6..).filter(|_| is_time)?.split_once(": ")?;
    let mut words = counts.split(' ');
    let counts = |word: &str, sign: char| word.strip_prefix(sign).is_some_and(is_number);
    let passed = counts(words.next()?, '+');
    let mut failed = false;
    let rest = words.all(|word| {
        let of_failures = counts(word, '-');
        failed |= of_failures;
        of_failures || counts(word, '~')
    });
    (passed && rest).then_some((name, failed))
}

/// Whether a trimmed line shows which test is next.
pub(super) fn is_passed(trimmed: &str) -> bool {
    counted(trimmed).is_some() && !is_failure(trimmed) && !is_verdict(trimmed)
}

/// Whether a trimmed line names a test that failed.
pub(super) fn is_failure(trimmed: &str) -> bool {
    trimmed.ends_with(" [E]") && counted(trimmed).is_some()
}

/// Whether a trimmed line reports how all tests ended.
pub(super) fn is_verdict(trimmed: &str) -> bool {
    const VERDICTS: [&str; 4] = [
        "All tests passed!",
        "All other tests passed!",
        "All tests skipped.",
        "Some tests failed.",
    ];
    counted(trimmed).is_some_and(|(name, _)| VERDICTS.contains(&name))
}

/// Whether a verdict counts failures.
pub(super) fn fails(verdict: &str) -> bool {
    counted(verdict).is_some_and(|(_, failed)| failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_failed_is_told_from_the_next_one() {
        let failed = "00:02 +20 ~1 -2: test/oak_test.dart: grows [E]";
        let next = "00:02 +20 ~1 -2: test/oak_test.dart: falls";
        assert!(is_failure(failed) && !is_passed(failed));
        assert!(is_passed(next) && !is_failure(next));
    }

    #[test]
    fn the_end_of_all_tests_is_a_verdict() {
        let (good, bad) = (
            "00:04 +40: All tests passed!",
            "00:04 +39 -1: Some tests failed.",
        );
        assert!(is_verdict(good) && !fails(good));
        assert!(is_verdict(bad) && fails(bad));
    }

    #[test]
    fn a_log_with_times_is_no_run() {
        for line in [
            "12:30 +2: late",
            "12:30:01 +2: oak",
            "00:02 oak: grows",
            "00:02 +a: oak",
        ] {
            assert!(!is_verdict(line) && !is_failure(line), "{line}");
        }
    }
}
