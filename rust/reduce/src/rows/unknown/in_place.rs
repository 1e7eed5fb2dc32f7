//! Unrecognised lines in reports whose order shows what belongs together.

use crate::line::fingerprint::without_numbers;
use crate::line::{is_bad, shorten};
use crate::output::Output;
use crate::rows::report::is_rule;

const LINE_CHARS: usize = 200;
const LINES: usize = 12;
const BAD_LINES: usize = 20;
/// How many lines that differ only in numbers are shown.
const ALIKE_LINES: usize = 2;

/// Unrecognised lines that are shown in place if they are few; more of them if they report a problem.
#[derive(Debug, Default)]
pub(crate) struct UnknownInPlace {
    plain: usize,
    bad: usize,
    /// The kinds of the plain lines that are shown, which differ in more than numbers, and how many lines were left out
    /// because of them.
    kinds: Vec<u64>,
    alike: usize,
}

impl UnknownInPlace {
    /// Shows `line` unless too many similar lines were shown before.
    pub(crate) fn show(&mut self, line: &str, output: &mut Output) {
        let full = self.plain >= LINES;
        if (full && self.bad >= BAD_LINES) || line.trim().is_empty() || is_rule(line) {
            return;
        }
        if is_bad(line) {
            if self.bad >= BAD_LINES {
                return;
            }
            self.bad += 1;
        } else if full {
            return;
        } else {
            let kind = without_numbers(line);
            let known = self.kinds.iter().filter(|known| **known == kind).count();
            if known >= ALIKE_LINES {
                self.alike += 1;
                // After this number of similar lines, those that follow are assumed to be similar too.
                self.plain += usize::from(self.alike.is_multiple_of(LINES));
                return;
            }
            self.kinds.push(kind);
            self.plain += 1;
        }
        output.context(&shorten(line.trim_end(), LINE_CHARS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_unknown_lines_are_not_all_shown_and_bad_ones_longer() {
        let mut output = Output::default();
        let mut unknown = UnknownInPlace::default();
        for number in 0..100 {
            unknown.show(&format!("note {number}"), &mut output);
            unknown.show(&format!("error {number}"), &mut output);
        }
        let text = output.finish(200, usize::MAX);
        assert!(
            !text.contains("note 2\n") && text.contains("error 19\n"),
            "{text}"
        );
    }
}
