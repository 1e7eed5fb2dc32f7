//! What tests log where nothing states which of them runs: lines of verbose runs without `=== RUN`, and
//! those at the beginning of an output whose head was cut away.

use memchr::memmem;

/// Lines of one test that are held.
const HELD: usize = 200;
/// What only verbose runs say, at the left edge.
const PASSED: &str = "--- PASS: ";
const RUNNING: &str = "=== RUN ";

/// Lines that wait for the verdict of their test, which is below them.
#[derive(Debug, Default)]
pub(super) struct Loose<'a> {
    held: Vec<&'a str>,
    /// Whether no line states which test runs, in a verbose run.
    is_bare: bool,
    is_verbose: bool,
    /// Whether no line was about a test so far.
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

    /// Holds `line`, if it may be logged; whether it was held.
    pub(super) fn holds(&mut self, line: &'a str) -> bool {
        let holds = (self.is_bare || self.at_top) && line.starts_with("    ");
        if holds && self.held.len() < HELD {
            self.held.push(line);
        }
        holds
    }

    /// The lines of a test above the first one that is named: without `-v` only what failed logs.
    pub(super) fn take_headless(&mut self) -> Vec<&'a str> {
        let is_first = std::mem::take(&mut self.at_top);
        if is_first && !self.is_verbose {
            self.take()
        } else {
            Vec::new()
        }
    }

    /// The lines that are held, which are forgotten.
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
    fn logs_of_verbose_runs_without_their_runs_stand_under_the_verdict_below_them() {
        let text = "    cart_test.go:3: fine\n--- PASS: TestOne (0.00s)\n    cart_test.go:9: total = 3, want 4\n        of nails\n\
                --- FAIL: TestTwo (0.00s)\n    --- FAIL: TestTwo/nails (0.00s)\n    cart_test.go:3: also fine\n"
            .to_owned()
            + &"--- PASS: TestThree (0.00s)\n".repeat(40)
            + "    cart_test.go:30: not ended\nFAIL\nFAIL\texample.org/shop\t0.012s\n";
        let reduced = reduced(&text);
        assert!(
            reduced.starts_with("--- FAIL: TestTwo\ncart_test.go:9: total = 3, want 4\nof nails\n"),
            "{reduced}"
        );
        assert!(
            reduced.contains("cart_test.go:30: not ended") && !reduced.contains("fine"),
            "{reduced}"
        );
    }

    #[test]
    fn logs_of_a_test_whose_head_was_cut_away_are_told() {
        let rest = "--- FAIL: TestShip (0.00s)\n    ship_test.go:9: no sail\n".to_owned()
            + &"ok  \texample.org/quay/pier\t0.004s\n".repeat(90)
            + "FAIL\texample.org/shop\t0.012s\nFAIL\n";
        let reduced = reduced(&format!(
            "        want 4\n    cart_test.go:14: total = 3\n{rest}"
        ));
        assert!(
            reduced.starts_with(
                "want 4\ncart_test.go:14: total = 3\n--- FAIL: TestShip\nship_test.go:9: no sail\n"
            ),
            "{reduced}"
        );
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

    #[test]
    fn logs_above_the_first_verdict_of_a_verbose_run_are_of_its_test() {
        let rest = "=== RUN   TestShip\n--- PASS: TestShip (0.00s)\n".repeat(20) + "FAIL\n";
        let top = "        want 4\n    cart_test.go:14: total = 3\n";
        let failed = reduced(&format!("{top}--- FAIL: TestCart (0.00s)\n{rest}"));
        assert!(
            failed.starts_with("--- FAIL: TestCart\nwant 4\ncart_test.go:14: total = 3\n["),
            "{failed}"
        );
        let passed = reduced(&format!("{top}--- PASS: TestCart (0.00s)\n{rest}"));
        assert!(!passed.contains("total"), "{passed}");
    }
}
