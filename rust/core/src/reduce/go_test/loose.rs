//! What tests log where nothing says which of them runs: lines of verbose runs without `=== RUN`.

use memchr::memmem;

/// Lines of one test that are held.
const HELD: usize = 200;
/// What only verbose runs say, at the left edge.
const PASSED: &str = "--- PASS: ";
const RUNNING: &str = "=== RUN ";

/// Lines that wait for the verdict of their test, which stands below them.
#[derive(Debug, Default)]
pub(super) struct Loose<'a> {
    held: Vec<&'a str>,
    is_on: bool,
}

impl<'a> Loose<'a> {
    /// On where `text` tells of tests that passed, and never that one runs.
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let begins = |at: usize| at == 0 || bytes.get(at - 1) == Some(&b'\n');
        let is_on = memmem::find_iter(bytes, PASSED).any(begins)
            && memmem::find(bytes, RUNNING.as_bytes()).is_none();
        Self {
            held: Vec::new(),
            is_on,
        }
    }

    /// Holds `line`, if it may be logged; whether it was held.
    pub(super) fn holds(&mut self, line: &'a str) -> bool {
        let holds = self.is_on && line.starts_with("    ");
        if holds && self.held.len() < HELD {
            self.held.push(line);
        }
        holds
    }

    /// The lines that are held, which are forgotten.
    pub(super) fn take(&mut self) -> Vec<&'a str> {
        std::mem::take(&mut self.held)
    }
}
