//! Pairs of consecutive long lines whose difference would be cut away.

use super::{Mark, Output, Weight};
use crate::line::long_line::{NOTE_HEAD, NOTE_TAIL};
use crate::line::shorten;

/// A longer line is not remembered.
const LINE_BYTES: usize = 64 * 1_024;
/// The label of a value ends within this many bytes: `Expected: `, `left: `, `a_test.go:7: got: `.
const NAME_BYTES: usize = 64;
/// The symbol of a changed line ends within this many bytes: `- `, `E + `.
const SIGN_BYTES: usize = 3;
/// How many ends of labels are tried.
const NAMES: usize = 4;
/// Two values must share this many bytes at the start or the end to be shown around their difference.
const SAME_BYTES: usize = 32;

/// The last shortened line with a value.
#[derive(Debug)]
pub(super) struct Compared {
    line: String,
    /// The positions before and after its row.
    before: Mark,
    behind: Mark,
}

impl Output {
    /// Writes a line that contains a value, in at most `chars` characters. If two consecutive long values differ, both
    /// are shown around the difference.
    pub(crate) fn compared(&mut self, line: &str, chars: usize, weight: Weight) {
        let row = shorten(line, chars);
        if row.len() == line.len() || line.len() > LINE_BYTES {
            self.compared = None;
            self.row(&row, 1, weight);
            return;
        }
        let last = self.compared.take();
        let last = last.filter(|last| self.is_at(last.behind));
        if let Some(last) = last
            && let Some((first, second)) = shortened(&last.line, line, chars)
        {
            self.back_to(last.before);
            self.row(&first, 1, weight);
            self.row(&second, 1, weight);
            return;
        }
        let before = self.mark();
        self.row(&row, 1, weight);
        self.compared = Some(Compared {
            line: line.to_owned(),
            before,
            behind: self.mark(),
        });
    }

    fn is_at(&self, mark: Mark) -> bool {
        self.text.len() == mark.bytes && self.rows.len() == mark.rows
    }
}

/// Two lines of about `chars` characters each, cut to show where their values begin to differ. `None` if a cut in the
/// middle shows that too, or if they have little in common.
fn shortened(first: &str, second: &str, chars: usize) -> Option<(String, String)> {
    let (mut best, mut same) = ((0, 0), 0);
    for one in names(first) {
        for other in names(second) {
            let values = first.as_bytes().get(one..)?;
            let others = second.as_bytes().get(other..)?;
            let equal = common(values.iter(), others.iter());
            if equal > same {
                (best, same) = ((one, other), equal);
            }
        }
    }
    let window = |line: &str, name: usize| {
        let differs = floor(line, name + same);
        let shown = shorten(line, chars);
        let cut = shown.find(NOTE_HEAD)?;
        // What is before the first cut is shown anyway.
        (same >= SAME_BYTES && differs >= cut).then(|| around(line, differs, chars))
    };
    Some((window(first, best.0)?, window(second, best.1)?))
}

/// The start of `line`, the part from a little before `differs` on, and the end.
fn around(line: &str, differs: usize, chars: usize) -> String {
    let head = floor(line, chars / 4);
    let from = floor(line, differs.saturating_sub(chars / 8)).max(head);
    let to = floor(line, from + chars / 2);
    let tail = floor(line, line.len() - chars / 8).max(to);
    let mut row = line.get(..head).unwrap_or_default().to_owned();
    for (hidden, shown) in [((head, from), (from, to)), ((to, tail), (tail, line.len()))] {
        let count = line
            .get(hidden.0..hidden.1)
            .map_or(0, |hidden| hidden.chars().count());
        if count > 0 {
            row.push_str(NOTE_HEAD);
            row.push_str(&count.to_string());
            row.push_str(NOTE_TAIL);
        }
        row.push_str(line.get(shown.0..shown.1).unwrap_or_default());
    }
    row
}

/// Where the value of a line may begin: at the start, or after a label.
fn names(line: &str) -> impl Iterator<Item = usize> + '_ {
    let near = line.as_bytes().get(..NAME_BYTES).unwrap_or(line.as_bytes());
    let behind = near.iter().enumerate().filter_map(|(at, byte)| {
        let sign = at < SIGN_BYTES && matches!(byte, b'-' | b'+') || *byte == b':';
        let blanks = near
            .get(at + 1..)?
            .iter()
            .take_while(|byte| **byte == b' ')
            .count();
        (sign && blanks > 0).then_some(at + 1 + blanks)
    });
    std::iter::once(0).chain(behind.take(NAMES))
}

fn common<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>) -> usize {
    one.zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// The last character boundary at or before `at`.
fn floor(line: &str, at: usize) -> usize {
    let mut at = at.min(line.len());
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> String {
        let mut output = Output::default();
        for line in lines {
            output.compared(line, 80, Weight::Fact);
        }
        output.finish(lines.len(), usize::MAX)
    }

    #[test]
    fn two_long_values_are_shown_where_they_differ() {
        let leaves = "leaf ".repeat(60);
        let first = format!("Expected: \"{leaves}oak{leaves}\"");
        let second = format!("Received: \"{leaves}elm{leaves}\"");
        let text = told(&[&first, &second]);
        assert!(
            text.contains("leaf leaf oakleaf") && text.contains("leaf leaf elmleaf"),
            "{text}"
        );
        assert!(
            text.starts_with("Expected: \"leaf") && text.contains("\nReceived: \"leaf"),
            "{text}"
        );
        for line in text.lines() {
            assert!(line.len() < 140, "{line}");
        }
    }

    #[test]
    fn values_that_differ_at_their_beginnings_are_cut_in_the_middle() {
        let leaves = "leaf ".repeat(60);
        let first = format!("left: \"oak{leaves}\"");
        let second = format!("right: \"elm{leaves}\"");
        let text = told(&[&first, &second]);
        let expected = format!("{}\n{}", shorten(&first, 80), shorten(&second, 80));
        assert!(text.starts_with(&expected), "{text}");
    }

    #[test]
    fn between_two_values_nothing_may_stand() {
        let leaves = "leaf ".repeat(60);
        let mut output = Output::default();
        output.compared(&format!("left: {leaves}oak{leaves}"), 80, Weight::Fact);
        output.fact("other");
        output.compared(&format!("right: {leaves}elm{leaves}"), 80, Weight::Fact);
        let text = output.finish(3, usize::MAX);
        assert!(
            !text.contains("oak") && text.contains("\nother\nright: "),
            "{text}"
        );
    }
}
