//! Marks that say that a text was cut before it came here: `[... 300 lines omitted ...]`, `<truncated>`.
//!
//! Families know outputs of programs, and none of them writes such a line: without it a reader would take
//! what is left for all there was.

use memchr::memmem;

use super::output::Output;
use crate::lines::lines;

/// A longer line is a sentence of a program.
const MOST_BYTES: usize = 160;
const MOST_MARKS: usize = 4;
/// Words of the marks, without what may be a capital.
const WORDS: [&[u8]; 6] = [
    b"runcated",
    b"RUNCATED",
    b"mitted",
    b"MITTED",
    b"clipped",
    b"Output too long",
];

/// Writes the marks of `text` that `output` does not show.
pub(super) fn keep(text: &str, output: &mut Output) {
    let bytes = text.as_bytes();
    if !WORDS.iter().any(|word| memmem::find(bytes, word).is_some()) {
        return;
    }
    let mut marks: Vec<&str> = Vec::new();
    for line in lines(text) {
        let mark = line.trim();
        if is_mark(mark) && !marks.contains(&mark) && !output.shows(mark) {
            marks.push(mark);
        }
        if marks.len() == MOST_MARKS {
            break;
        }
    }
    for mark in marks {
        output.fact(mark);
    }
}

/// Whether `line` is such a mark: a word for it between brackets or points, or a line on the output.
fn is_mark(line: &str) -> bool {
    if line.len() > MOST_BYTES {
        return false;
    }
    let opens = line.starts_with(['[', '<', '(', '\u{2026}']) || line.starts_with("...");
    let closes = line.ends_with([']', '>', ')', '\u{2026}']) || line.ends_with("...");
    (opens && closes || line.starts_with("Output "))
        && WORDS
            .iter()
            .any(|word| memmem::find(line.as_bytes(), word).is_some())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::super::input::Exit;
    use super::super::terminal;
    use super::*;

    #[test]
    fn a_mark_is_a_word_between_brackets_or_points() {
        for mark in [
            "[... 300 lines omitted ...]",
            "... [1234 characters truncated] ...",
            "<truncated>",
            "\u{2026}1234 tokens truncated\u{2026}",
            "[OUTPUT TRUNCATED - 500 chars omitted out of 900 total]",
            "<response clipped>",
            "Output too long; 300 lines hidden",
        ] {
            assert!(is_mark(mark), "{mark}");
        }
        assert!(!is_mark("Output of oak"));
        assert!(!is_mark("note: Some details are omitted"));
        assert!(!is_mark(
            "...Full output truncated (3 lines hidden), use '-vv' to show"
        ));
    }

    #[test]
    fn the_mark_of_a_cut_stays_whatever_the_family() {
        let passed = "tests/test_oak.py::test_leaf PASSED\n".repeat(40);
        let text = format!(
            "===== test session starts =====\n{passed}[... 300 lines omitted ...]\n{passed}===== 380 passed in 0.12s =====\n"
        );
        let command = Some("pytest -v");
        let (reduced, _) = terminal::reduce(&text, command, Exit::Success, usize::MAX).unwrap();
        assert_eq!(
            reduced,
            "[... 300 lines omitted ...]\n380 passed in 0.12s\n[81 of 83 lines left out]"
        );
    }
}
