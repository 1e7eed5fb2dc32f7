//! Line-by-line diffs of two values in a failed assertion.

use super::LINE_CHARS;
use crate::line::shorten;
use crate::output::Output;

/// How many changed lines of one difference are shown.
const CHANGED_LINES: usize = 16;

/// The state of the diffs of a failure: two sides of a value, or rows of a snapshot.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// Whether lines of two sides follow.
    is_open: bool,
    /// Whether rows of a snapshot follow: tables that tests print look the same.
    in_snapshot: bool,
    shown: usize,
}

impl Difference {
    /// Reads `line` if it belongs to a diff; equal parts are left out.
    pub(super) fn takes(&mut self, line: &str, body: &str, output: &mut Output) -> bool {
        if body.starts_with("Diff < left / right >") {
            self.is_open = true;
            self.shown = 0;
            output.fact(body.trim_end());
            return true;
        }
        if self.is_open {
            self.is_open = line.starts_with([' ', '<', '>']);
            if line.starts_with(['<', '>']) {
                self.show(body, output);
            }
            return self.is_open;
        }
        if matches!(body, "-old snapshot" | "+new results") {
            self.in_snapshot = true;
            self.shown = 0;
            return true;
        }
        if !self.in_snapshot {
            return false;
        }
        // `    6       │-  minutes: 20,`: with its line numbers before and after.
        let row = body.split_once('\u{2502}').filter(|(numbers, _)| {
            let mut numbers = numbers.bytes();
            numbers.all(|byte| byte.is_ascii_digit() || byte == b' ')
        });
        // The ruler above the rows looks like any other.
        self.in_snapshot = row.is_some() || !body.contains('\u{2534}');
        if let Some((_, row)) = row.filter(|(_, row)| row.starts_with(['-', '+'])) {
            self.show(row, output);
        }
        row.is_some()
    }

    fn show(&mut self, row: &str, output: &mut Output) {
        self.shown += 1;
        if self.shown <= CHANGED_LINES {
            output.fact(&shorten(row.trim_end(), LINE_CHARS));
        }
    }
}
