//! Lines of googletest and catch2 around the failures of a test.

use crate::line::beginnings::Beginnings;

/// Prefixes of lines without information about a test.
static NOISE: Beginnings<7> = Beginnings::new([
    "with expansion:",
    "..........",
    "~~~~~~~~~~",
    "Running main() from ",
    "Note: Randomizing tests' orders ",
    "Note: Google Test filter = ",
    "YOU HAVE ",
]);
/// Prefixes of lines below a failure that repeat others.
static BELOW: Beginnings<3> = Beginnings::new([
    "Expected equality of these values:",
    "Expected: true",
    "Expected: false",
]);

/// Whether a trimmed line reports that a test begins or that it passed.
pub(super) fn is_passed(trimmed: &str) -> bool {
    trimmed.starts_with("[ RUN      ]") || trimmed.starts_with("[       OK ]")
}

/// Whether a trimmed line reports that the tests of a program begin.
pub(super) fn is_start(trimmed: &str) -> bool {
    trimmed.starts_with("[==========] Running ")
}

/// Whether a trimmed line can be left out: `1.0 evaluates to 1,` after a failure in this format, `[  FAILED  ] 2 tests,
/// listed below:`.
pub(crate) fn is_noise(trimmed: &str, after_failure: bool) -> bool {
    NOISE.begin(trimmed)
        || (trimmed.starts_with('[') && trimmed.ends_with(", listed below:"))
        || after_failure && (BELOW.begin(trimmed) || evaluates(trimmed))
}

/// Below a comparison: its expressions, whose values are in the first line.
fn evaluates(trimmed: &str) -> bool {
    let text = trimmed.trim_end_matches([',', '.']);
    let text = text.strip_suffix(", and").unwrap_or(text);
    text.split_once(" evaluates to ")
        .is_some_and(|(name, value)| {
            let number = |text: &str| text.trim().parse::<f64>().is_ok();
            number(name) && number(value)
        })
}

/// The location in `src/tide.cpp:8: Failure`.
pub(super) fn place(trimmed: &str) -> Option<&str> {
    trimmed.strip_suffix(": Failure").filter(|place| {
        let line = place.rsplit_once(':').map_or("", |(_, line)| line);
        !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_noise_and_values_are_not() {
        for line in [
            "Running main() from /usr/src/gtest_main.cc",
            "Expected equality of these values:",
            "1.0 evaluates to 1,",
            "1.5 evaluates to 1.5, and",
            "[  FAILED  ] 6 tests, listed below:",
        ] {
            assert!(is_noise(line, true), "{line}");
        }
        for line in [
            "Which is: { 1, 3 }",
            "a.size() evaluates to 4, and",
            "Expected: (a) < (18), actual: 18 vs 18",
            "[  FAILED  ] Tide.Low (0 ms)",
        ] {
            assert!(!is_noise(line, true), "{line}");
        }
    }

    #[test]
    fn values_of_other_formats_are_no_noise() {
        assert!(!is_noise("Expected: true", false));
        assert!(!is_noise("1.0 evaluates to 1", false));
    }

    #[test]
    fn a_failure_has_a_place() {
        assert_eq!(place("/srv/a b.cpp:8: Failure"), Some("/srv/a b.cpp:8"));
        assert_eq!(place("unknown file: Failure"), None);
    }
}
