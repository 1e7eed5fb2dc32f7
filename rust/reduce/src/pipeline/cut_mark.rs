//! Markers of outputs that were cut before they came here: `[... 300 lines omitted ...]`, `<truncated>`, and
//! the accounts of outputs that were reduced separately and then joined.
//!
//! No family expects such a line. If it was lost, the reader would take the rest for the complete output.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::family::{Family, Marks, Match};
use crate::input::{Exit, Input, WHOLE_CHARS};
use crate::output::{Output, is_account};
use crate::pipeline::route::families;
use ethos_registry_core::find_text::any_of;
use ethos_registry_core::lines::lines;

/// A longer line is a sentence of a program.
const MOST_BYTES: usize = 160;
const MOST_MARKS: usize = 4;
/// Words that occur in markers.
static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    any_of([
        "runcated",
        "RUNCATED",
        "omitted",
        "Omitted",
        "OMITTED",
        "clipped",
        "Output too long",
        "lines left out]",
    ])
});

/// Whether a line of `text` may be a marker; a single search of all of it.
pub(crate) fn may_stand_in(text: &str) -> bool {
    WORDS.as_ref().is_some_and(|words| words.is_match(text))
}

/// Whether `text` has markers.
pub(crate) fn stand_in(text: &str) -> bool {
    may_stand_in(text) && parts(text).len() > 1
}

/// An input with markers. The text before and after each marker is reduced like a separate output, so that no line is
/// joined with one from which it was cut.
pub(crate) const FAMILY: Family = Family {
    name: "cut",
    runs: |_| false,
    marks: Marks::Never,
    recognises: |input| {
        if stand_in(input.text) {
            Match::Certain
        } else {
            Match::No
        }
    },
    reduce,
};

/// The parts of `text`, each except the last with the marker that ends it. One part when there is no marker, or too
/// many.
fn parts(text: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    let (mut from, mut start) = (0, 0);
    for line in text.split_inclusive('\n') {
        if is_mark(line.trim()) {
            parts.push((text.get(from..start).unwrap_or_default(), line.trim()));
            from = start + line.len();
        }
        start += line.len();
        if parts.len() > MOST_MARKS {
            return Vec::new();
        }
    }
    parts.push((text.get(from..).unwrap_or_default(), ""));
    parts
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let parts = parts(input.text);
    let last = parts.len().saturating_sub(1);
    let mut failed = false;
    for (index, (text, mark)) in parts.into_iter().enumerate() {
        let exit = match input.exit {
            exit if index == last && !failed => exit,
            _ => Exit::Success,
        };
        let mut of_part = Input {
            text,
            exit,
            ..*input
        };
        // Without its header a list is not recognised, and all its rows may matter.
        if exit == Exit::Success && families(&of_part).next().is_none() {
            of_part.exit = Exit::Unknown;
        }
        let told = (text.len() > WHOLE_CHARS)
            .then(|| crate::nested::reduce(&of_part, &FAMILY, output))
            .flatten();
        match told {
            Some(told) => failed |= told.failure,
            None => crate::nested::whole(text, output),
        }
        if !mark.is_empty() {
            output.fact(mark);
        }
    }
    // The reason for the failure may have been cut out, and the markers show that.
    output.failed();
}

/// Writes the markers of `text` that `output` does not show, for inputs that were not divided at them.
pub(crate) fn keep(text: &str, output: &mut Output) {
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

/// Whether `line` is a marker: one of the words between brackets or dots, or a sentence about the output.
fn is_mark(line: &str) -> bool {
    if line.len() > MOST_BYTES {
        return false;
    }
    let opens = line.starts_with(['[', '<', '(', '\u{2026}']) || line.starts_with("...");
    let closes = line.ends_with([']', '>', ')', '\u{2026}']) || line.ends_with("...");
    // A value with parts that a test leaves out is not cut output.
    let is_cut = || {
        (opens && closes || line.starts_with("Output "))
            && may_stand_in(line)
            && !line.contains(" omitted from ")
    };
    if line.ends_with(" left out]") {
        is_account(line)
    } else {
        is_cut()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::input::Exit;
    use crate::pipeline::terminal;

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
            "[959 of 1001 lines left out]",
        ] {
            assert!(is_mark(mark), "{mark}");
        }
        assert!(!is_mark(
            "(use \"git add <file>...\" to include in what will be committed)"
        ));
        assert!(!is_mark("Output of oak"));
        assert!(!is_mark("(2 matching properties omitted from actual)"));
        assert!(!is_mark("[oak and elm lines left out]"));
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
            "[40 lines left out]\ntests/test_oak.py::test_leaf PASSED\n[... 300 lines omitted ...]\n\
            [40 lines left out]\n380 passed in 0.12s\n[80 of 83 lines left out]"
        );
    }

    #[test]
    fn what_was_cut_is_of_the_commands_that_a_remark_or_their_lines_tell() {
        let passed = "tests/test_oak.py::test_leaf PASSED\n".repeat(40);
        let failure = "___ test_bud ___\nE   assert 3 == 7\ntests/test_oak.py:9: AssertionError\n===== 1 failed, 380 passed in 0.12s =====\n";
        let tests = format!("{passed}[... 300 lines omitted ...]\n{passed}{failure}");
        for (command, above) in [
            (
                "git log --oneline -1; pytest -v",
                "4ce410c Rings are counted\n",
            ),
            (
                "echo '== build'; make; echo '== tests'; pytest -v",
                "== build\nis up to date\n",
            ),
        ] {
            let text = format!("{above}{tests}");
            let told = terminal::reduce(&text, Some(command), Exit::Failure, usize::MAX);
            let (reduced, _) = told.unwrap();
            for fact in [
                above,
                "lines omitted ...]",
                "assert 3 == 7",
                "test_oak.py:9",
                "1 failed, 380 passed",
            ] {
                assert!(reduced.contains(fact), "{fact}: {reduced}");
            }
            assert!(reduced.len() < text.len() / 2, "{reduced}");
        }
    }

    #[test]
    fn the_account_of_what_was_reduced_before_stays() {
        let passed = "tests/test_oak.py::test_leaf PASSED\n".repeat(40);
        let run =
            format!("===== test session starts =====\n{passed}===== 40 passed in 0.12s =====\n");
        let text = format!("leaf 1 of 2\n[959 of 1001 lines left out]\n{run}");
        for command in [Some("pytest -v"), Some("make all"), None] {
            let told = terminal::reduce(&text, command, Exit::Success, usize::MAX);
            let (reduced, _) = told.unwrap();
            assert!(
                reduced.contains("leaf 1 of 2\n[959 of 1001 lines left out]\n"),
                "{reduced}"
            );
            assert!(reduced.contains("40 passed in 0.12s"), "{reduced}");
            assert_eq!(
                terminal::reduce(&reduced, command, Exit::Success, usize::MAX),
                None
            );
        }
    }

    #[test]
    fn a_subject_behind_a_mark_is_not_that_of_the_commit_before_it() {
        let commit = |letter: &str, number: usize| {
            format!(
                "commit {}\nAuthor: A <a@b.c>\nDate:   Tue May 19 03:46:38 2026 +0000\n\n    Plant oak {number}\n\n",
                letter.repeat(40)
            )
        };
        let commits: Vec<String> = (10..30).map(|number| commit("a", number)).collect();
        let head = commit("b", 1);
        let text = format!(
            "{}{}[... 90 lines omitted ...]\n\n    Plant elm\n\n{}",
            commits.concat(),
            head.split_once("    ").unwrap().0,
            commits.concat()
        );
        let (reduced, _) =
            terminal::reduce(&text, Some("git log"), Exit::Success, usize::MAX).unwrap();
        assert!(!reduced.contains("bbbbbbbb Plant elm"), "{reduced}");
        assert!(
            reduced.contains("[... 90 lines omitted ...]\n") && reduced.contains("Plant elm"),
            "{reduced}"
        );
    }
}
