//! Log lines of tests without a line that shows the test: verbose runs without `=== RUN`, and the start of an output
//! whose header was cut off.

use memchr::memmem;

/// How many lines of one test are held.
const HELD: usize = 200;
/// Only verbose runs print this without indentation.
const PASSED: &str = "--- PASS: ";
const RUNNING: &str = "=== RUN ";

/// Lines that wait for the verdict of their test, which follows.
#[derive(Debug, Default)]
pub(super) struct Loose<'a> {
    held: Vec<&'a str>,
    /// Whether the run is verbose and no line shows which test runs.
    is_bare: bool,
    is_verbose: bool,
    /// Whether no line has been about a test so far.
    at_top: bool,
}

impl<'a> Loose<'a> {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let begins = |at: usize| at == 0 || bytes.get(at - 1) == Some(&b'\n');
        let runs = memmem::find(bytes, RUNNING.as_bytes()).is_some();
        let is_bare = !runs && memmem::find_iter(bytes, PASSED).any(begins);
        Self {
            held: Vec::new(),
            is_bare,
            is_verbose: runs || is_bare,
            at_top: true,
        }
    }

    /// Holds `line` if a test may have logged it; returns whether it was held.
    pub(super) fn holds(&mut self, line: &'a str) -> bool {
        let holds = (self.is_bare || self.at_top) && line.starts_with("    ");
        if holds && self.held.len() < HELD {
            self.held.push(line);
        }
        holds
    }

    /// The lines of a test above the first test name: without `-v` only failed tests log.
    pub(super) fn take_headless(&mut self) -> Vec<&'a str> {
        let is_first = std::mem::take(&mut self.at_top);
        if is_first && !self.is_verbose {
            self.take()
        } else {
            Vec::new()
        }
    }

    /// Removes and returns the held lines.
    pub(super) fn take(&mut self) -> Vec<&'a str> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::super::FAMILY;
    use crate::input::Exit;
    use crate::tested;

    fn reduced(text: &str) -> String {
        tested::reduced(&FAMILY, text, "go test ./...", Exit::Failure)
    }

    #[test]
    fn logs_of_such_a_test_that_differ_in_numbers_are_all_told() {
        let log = |cart: u32| {
            format!(
                "cart_test.go:14: total of cart {cart} = {}, want 4\n",
                cart * 7
            )
        };
        let logs = (0..20).fold(String::new(), |logs, cart| logs + "    " + &log(cart));
        let rest = "ok  \texample.org/quay/pier\t0.004s\n".repeat(90);
        let reduced = reduced(&format!("{logs}--- FAIL: TestShip (0.00s)\n{rest}FAIL\n"));
        for cart in 0..20 {
            assert!(reduced.contains(log(cart).trim_end()), "{reduced}");
        }
    }
}
