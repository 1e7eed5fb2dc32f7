//! The sections of the output of a test harness.

/// The section of the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// Before the first test.
    Build,
    Tests,
    /// In the output of a failed test; counts the lines kept.
    Failure {
        printed: usize,
    },
    /// In the output of passed tests.
    Successes,
    /// Among their names.
    Passed,
    /// In the list of failed tests.
    Names,
}
