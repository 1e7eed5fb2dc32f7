//! The parts of what the harness of tests states.

/// Where in the output the next line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// Before the first test.
    Build,
    Tests,
    /// In what a failed test printed, this many lines kept.
    Failure {
        printed: usize,
    },
    /// In what tests printed that passed.
    Successes,
    /// Among their names.
    Passed,
    /// Among the names of failed tests.
    Names,
}
