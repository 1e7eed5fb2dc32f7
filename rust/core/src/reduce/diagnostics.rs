//! Lists of findings, each with a place: `path:line:column: message` in its many spellings.

mod forms;

pub(super) use forms::{finding, is_code, is_excerpt};

use super::findings::{Finding, Findings};
use super::input::Input;
use super::line::{self, indent, is_ruler, shorten};
use super::output::Output;
use super::route::{Family, Match};
use forms::{arrow, bare_place, in_line, is_judged, pointed};

pub(super) const FAMILY: Family = Family {
    name: "diagnostics",
    runs,
    recognises,
    reduce,
};

const PROGRAMS: [&str; 29] = [
    "actionlint",
    "ansible-lint",
    "bandit",
    "biome",
    "black",
    "codespell",
    "cppcheck",
    "cspell",
    "dmypy",
    "flake8",
    "golangci-lint",
    "hadolint",
    "luacheck",
    "markdownlint",
    "mypy",
    "oxlint",
    "perl",
    "pycodestyle",
    "pydocstyle",
    "pyflakes",
    "pylint",
    "pyright",
    "rubocop",
    "ruff",
    "rustfmt",
    "shellcheck",
    "swiftlint",
    "vale",
    "yamllint",
];
/// Lines of other kinds that are kept.
const MAX_OTHERS: usize = 40;
const OTHER_CHARS: usize = 240;
/// How many distinct notes are kept.
const MAX_NOTES: usize = 20;

fn runs(input: &Input<'_>) -> bool {
    // A formatter that shows its changes writes a diff.
    PROGRAMS.contains(&input.program()) && !(input.program() == "black" && input.has("--diff"))
        || (input.program() == "cargo" && input.subcommand() == "fmt")
}

fn recognises(input: &Input<'_>) -> Match {
    let mut lines = 0;
    let mut findings = 0;
    let mut judged = 0;
    let mut placed = 0;
    for text in input.beginning() {
        placed += usize::from(
            arrow(text).is_some() || pointed(text).is_some() || bare_place(text).is_some(),
        );
        let found = finding(text);
        findings += usize::from(found.is_some());
        if text.starts_with("+++ ") {
            return Match::No;
        }
        let unformatted = forms::unformatted(text).is_some();
        judged += usize::from(unformatted || found.is_some_and(|found| is_judged(found.message)));
        lines += usize::from(found.is_some() || (indent(text) == 0 && !text.trim().is_empty()));
    }
    if judged >= 3 && judged * 2 > lines || placed >= 3 {
        Match::Certain
    } else if findings + placed > 0 {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader::default();
    for text in input.lines() {
        reader.line(text);
    }
    reader.end_finding();
    if reader.findings.is_empty() {
        return;
    }
    reader.findings.write(false, output);
    let skipped = reader.others.len().saturating_sub(MAX_OTHERS);
    let (head, tail) = reader
        .others
        .split_at_checked(MAX_OTHERS / 2)
        .unwrap_or((&reader.others, &[]));
    for other in head {
        output.fact(&shorten(other, OTHER_CHARS));
    }
    output.gap(skipped);
    for other in tail.iter().skip(skipped) {
        output.fact(&shorten(other, OTHER_CHARS));
    }
}

/// Lines below a finding, or between findings, of which little is told.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Block {
    #[default]
    None,
    /// `Did you mean:` and what it proposes.
    Advice,
    /// Lines of source that two files share, up to the rule in brackets.
    Duplicate,
    /// Lines that a formatter would change.
    Diff,
}

/// Reads a list of findings line by line.
#[derive(Default)]
struct Reader<'a> {
    findings: Findings<'a>,
    /// Verdicts and whatever else stands between findings.
    others: Vec<&'a str>,
    notes: Vec<&'a str>,
    /// A head `CODE message` whose place comes on the next line (`--> path:1:2`).
    head: Option<&'a str>,
    /// A head `>> Issue: message` whose place comes some lines below.
    issue: Option<&'a str>,
    /// The indented line after a finding that may continue its message.
    held: Option<&'a str>,
    after_finding: bool,
    /// The message of the last finding lacks the code in brackets that closes such messages.
    open_message: bool,
    block: Block,
    /// Where the messages that point into a line of source belong.
    shell_place: Option<(&'a str, &'a str)>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, text: &'a str) {
        if text.trim().is_empty() {
            self.end_finding();
            if self.block == Block::Advice {
                self.block = Block::None;
            }
            return;
        }
        if self.is_source(text) {
            return;
        }
        if text.starts_with("************* Module ") {
            return;
        }
        if let Some(place) = arrow(text).or_else(|| self.head.and_then(|_| bare_place(text))) {
            self.placed(place);
            return;
        }
        if let Some(message) = pointed(text) {
            self.pointed(message);
            return;
        }
        if is_excerpt(text) {
            self.held = None;
            return;
        }
        if let Some(issue) = text.strip_prefix(">> Issue: ") {
            self.end_finding();
            self.issue = Some(issue);
            return;
        }
        if self.issue.is_some() && indent(text) > 0 {
            return;
        }
        if let Some(found) = finding(text) {
            self.end_finding();
            self.found(found);
            return;
        }
        if self.after_finding && indent(text) > 0 && self.findings.takes_message(text.trim()) {
            return;
        }
        if self.after_finding && indent(text) > 0 {
            // A wrapped message goes on here; a line of source is told by the caret below it.
            if let Some(held) = self.held.replace(text) {
                self.findings.continue_last(held);
            }
            return;
        }
        if self.goes_on(text) {
            self.findings.continue_last(text);
            self.open_message = !text.ends_with(']');
            return;
        }
        if matches!(text, "Did you mean:" | "For more information:") {
            self.block = Block::Advice;
        }
        if self.block == Block::Advice {
            return;
        }
        if let Some(place) = in_line(text) {
            self.end_finding();
            self.shell_place = Some(place);
            return;
        }
        if self.shell_place.is_some() {
            return;
        }
        self.end_finding();
        self.other(text);
    }

    /// Whether a line lies in a block of source; what ends the block is no part of it.
    fn is_source(&mut self, text: &'a str) -> bool {
        let inside = match self.block {
            Block::None | Block::Advice => return false,
            Block::Duplicate => finding(text).is_none() && !is_ruler(text),
            Block::Diff => text.starts_with([' ', '+', '-']),
        };
        if inside && text.starts_with("==") {
            self.findings.continue_last(text);
        }
        if !inside || text.ends_with("(duplicate-code)") {
            self.block = Block::None;
        }
        inside
    }

    /// Whether a line goes on with a message that was broken at the width of a terminal: such a
    /// message is not closed by its code in brackets.
    fn goes_on(&self, text: &str) -> bool {
        self.open_message && self.after_finding && indent(text) == 0 && !text.starts_with("Found ")
    }

    fn found(&mut self, found: Finding<'a>) {
        if let Some(note) = found.message.strip_prefix("note: ") {
            if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
                self.notes.push(note);
                self.others.push(found.message);
            }
            return;
        }
        if found.message.contains("R0801") && !found.message.ends_with("(duplicate-code)") {
            self.block = Block::Duplicate;
        } else if found.message == "Diff in" {
            self.block = Block::Diff;
        }
        self.findings.push(found);
        self.after_finding = true;
        self.open_message = found.message.starts_with("error: ") && !found.message.ends_with(']');
    }

    /// `--> path:1:2` gives the head before it its place.
    fn placed(&mut self, place: line::Place<'a>) {
        self.held = None;
        if let Some(message) = self.issue.take().or_else(|| self.head.take()) {
            let message = message
                .trim_start()
                .trim_start_matches(['!', '×', '⚠', ' ']);
            self.findings.push(Finding {
                place: place.text,
                path: place.path,
                message,
                whole: "",
            });
        }
    }

    /// `^-- SC2086 (info): message` below `In a.sh line 3:` and a line of source.
    fn pointed(&mut self, message: &'a str) {
        self.held = None;
        if let Some((place, path)) = self.shell_place {
            self.findings.push(Finding {
                place,
                path,
                message,
                whole: "",
            });
        }
    }

    fn other(&mut self, text: &'a str) {
        if let Some(head) = self.head.replace(text) {
            self.keep(head);
        }
    }

    fn keep(&mut self, text: &'a str) {
        let advice = text.starts_with("help: ") || text.starts_with("note: ");
        if !is_ruler(text) && !advice && self.others.last() != Some(&text) {
            self.others.push(text);
        }
    }

    fn end_finding(&mut self) {
        if let Some(held) = self.held.take() {
            self.findings.continue_last(held);
        }
        self.after_finding = false;
        if let Some(head) = self.head.take() {
            self.keep(head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::input::Exit;

    fn reduced(text: &str) -> String {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Failure,
        };
        let mut output = Output::default();
        reduce(&input, &mut output);
        output.finish(text.lines().count(), usize::MAX)
    }

    #[test]
    fn messages_are_told_once_and_verdicts_stay() {
        let text = "a/b.py:1: error: No type  [no-untyped-def]\na/b.py:9:4: error: No type  [no-untyped-def]\n\
                    a/b.py:9: note: Use None\nFound 2 errors in 1 file (checked 1 source file)\n";
        assert_eq!(
            reduced(text),
            "a/b.py:1: error: No type  [no-untyped-def]; also a/b.py:9:4\nnote: Use None\n\
             Found 2 errors in 1 file (checked 1 source file)\n[0 of 4 lines left out]"
        );
    }

    #[test]
    fn a_wrapped_message_is_joined_and_its_source_is_not_part_of_it() {
        let text = "a.py:3: error: Call to untyped function\n    \"x\" in typed context  [no-untyped-call]\n        x = y(1)\n            ^~~~\n";
        assert_eq!(
            reduced(text),
            "a.py:3: error: Call to untyped function \"x\" in typed context  [no-untyped-call]\n[3 of 4 lines left out]"
        );
    }

    #[test]
    fn a_message_that_was_broken_at_the_width_is_joined() {
        let text = "a.py:3: error: Cannot find library stub for\nmodule named \"x\"  [import]\n    import x\n    ^\nFound 1 error in 1 file\n";
        assert!(reduced(text).starts_with(
            "a.py:3: error: Cannot find library stub for module named \"x\"  [import]\nFound 1 error"
        ));
    }

    #[test]
    fn messages_that_point_into_a_script_get_its_line() {
        let text = "In run.sh line 4:\ncat $f\n    ^-- SC2086 (info): Double quote.\n\nDid you mean:\ncat \"$f\"\n\n";
        assert_eq!(
            reduced(text),
            "run.sh line 4: SC2086 (info): Double quote.\n[6 of 7 lines left out]"
        );
    }

    #[test]
    fn a_place_below_its_message_is_found() {
        let text = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove it\n\nFound 1 error.\n";
        let reduced = reduced(text);
        assert!(
            reduced.starts_with("a.py:1:8: F401 [*] `os` imported but unused\n"),
            "{reduced}"
        );
        assert!(reduced.contains("Found 1 error."), "{reduced}");
    }

    #[test]
    fn times_and_addresses_are_no_places() {
        for text in ["12:30:15 error: x", "http://a.b:80: error", "[10:00] x:1 y"] {
            assert!(finding(text).is_none(), "{text}");
        }
    }

    #[test]
    fn shared_lines_of_source_are_left_out() {
        let text = "************* Module a\na.py:1:0: R0801: Similar lines in 2 files\n==a:[1:3]\n==b:[7:9]\n\
                    x = 1\n\nfail = 2 (duplicate-code)\na.py:2:0: C0116: Missing docstring (x)\nYour code has been rated at 7.00/10\n";
        assert_eq!(
            reduced(text),
            "a.py:1:0: R0801: Similar lines in 2 files ==a:[1:3] ==b:[7:9]\n\
             a.py:2:0: C0116: Missing docstring (x)\nYour code has been rated at 7.00/10\n\
             [6 of 9 lines left out]"
        );
    }

    #[test]
    fn what_a_formatter_would_change_is_told_by_place() {
        let text = "Diff in /a/b.rs:12:\n fn a() {\n-    x\n+    y\nDiff in /a/c.rs:3:\n-a\n+b\n";
        assert_eq!(
            reduced(text),
            "Diff in /a/b.rs:12; also /a/c.rs:3\n[5 of 7 lines left out]"
        );
        let text = "would reformat a/b.py\nwould reformat a/c.py\n2 files would be reformatted.\n";
        assert_eq!(
            reduced(text),
            "would reformat a/b.py; also a/c.py\n2 files would be reformatted.\n[0 of 3 lines left out]"
        );
    }
}
