//! Lists of findings, each with a place: `path:line:column: message` in its many spellings.

mod forms;

pub(super) use forms::{finding, is_code, is_excerpt};

use super::findings::{Finding, Findings};
use super::input::Input;
use super::line::{self, indent, is_ruler, shorten};
use super::output::Output;
use super::route::{Family, Match};
use forms::{arrow, bare_place, in_line, is_drawn, is_fix, is_judged, is_rule, is_scope, pointed};

pub(super) const FAMILY: Family = Family {
    name: "diagnostics",
    runs,
    recognises,
    reduce,
};

const PROGRAMS: [&str; 31] = [
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
    "isort",
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
    "svelte-check",
    "swiftlint",
    "vale",
    "yamllint",
];
/// Lines of other kinds that are kept.
const MAX_OTHERS: usize = 40;
const OTHER_CHARS: usize = 240;
/// So many lines back one that says the same is not told again.
const REPEATED_OTHERS: usize = 6;
/// How many distinct notes are kept.
const MAX_NOTES: usize = 20;

fn runs(input: &Input<'_>) -> bool {
    PROGRAMS.contains(&input.program())
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

/// Whether a line begins with how bad what it says is: `Error: message`, `Warn: message`.
fn is_severe(text: &str) -> bool {
    ["Error: ", "Warn: ", "Warning: "]
        .iter()
        .any(|severity| text.starts_with(severity))
}

/// Whether a line does nothing but point: `    ^~~~`.
fn is_caret(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(['^', '~']) && text.bytes().all(|byte| matches!(byte, b'^' | b'~' | b'-'))
}

/// Whether a line says how far a run is: `Checking a.c ...`, `1/5 files checked 13% done`.
fn is_step(text: &str) -> bool {
    text.starts_with("Checking ") && text.trim_end().ends_with("...")
        || text.ends_with("% done") && text.contains(" files checked ")
}

/// What is proposed, up to the next empty line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Advice {
    #[default]
    No,
    /// All that follows `Did you mean:`.
    Words,
    /// The changed lines below `help: Remove it`.
    Change,
    /// The source around a place below which its message stands.
    Source,
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
    /// The head of the finding whose source is shown.
    told: Option<&'a str>,
    /// A place alone in the line above.
    announced: Option<line::Place<'a>>,
    /// The message of the last finding lacks the code in brackets that closes such messages.
    open_message: bool,
    advice: Advice,
    /// Inside the lines of source that two files share, up to the rule in brackets.
    in_duplicate: bool,
    /// Inside the lines that a formatter would change.
    in_diff: bool,
    /// Where the messages that point into a line of source belong.
    shell_place: Option<(&'a str, &'a str)>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, text: &'a str) {
        if text.trim().is_empty() {
            self.end_finding();
            self.advice = Advice::No;
            self.told = None;
            return;
        }
        if let Some(place) = self.announced.take()
            && is_severe(text)
        {
            self.severe(place, text);
            return;
        }
        if self.in_duplicate && finding(text).is_none() && !is_ruler(text) {
            if text.starts_with("==") {
                self.findings.continue_last(text);
            }
            self.in_duplicate = !text.ends_with("(duplicate-code)");
            return;
        }
        self.in_duplicate = false;
        if text.starts_with("************* Module ") {
            return;
        }
        if let Some(place) = arrow(text).or_else(|| self.head.and_then(|_| bare_place(text))) {
            self.placed(place);
            return;
        }
        self.announced = bare_place(text);
        if let Some(message) = pointed(text) {
            self.pointed(message);
            return;
        }
        if self.in_diff && text.starts_with([' ', '+', '-']) {
            return;
        }
        self.in_diff = text.starts_with("Diff in ");
        if is_excerpt(text) || is_drawn(text) || self.advice == Advice::Change && is_fix(text) {
            self.held = None;
            if is_caret(text) {
                // What stands above it is the source that it points into.
                self.head = None;
            }
            return;
        }
        if is_step(text) {
            self.end_finding();
            return;
        }
        if text.starts_with("help: ") {
            self.advice = Advice::Change;
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
            if let Some(head) = self.head.take_if(|head| is_rule(head)) {
                self.ruled(head, found);
                return;
            }
            // The name of a file above its findings says nothing that they do not say.
            self.head.take_if(|head| *head == found.path);
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
        if is_scope(text) {
            self.end_finding();
            return;
        }
        if self.goes_on(text) {
            self.findings.continue_last(text);
            self.open_message = !text.ends_with(']');
            return;
        }
        if self.advice == Advice::Source {
            return;
        }
        if matches!(text, "Did you mean:" | "For more information:") {
            self.advice = Advice::Words;
        }
        if self.advice == Advice::Words {
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
        self.in_duplicate =
            found.message.contains("R0801") && !found.message.ends_with("(duplicate-code)");
        self.findings.push(found);
        self.after_finding = true;
        // Of those who write `path:1:2 - error: message` none breaks a message at the width.
        self.open_message = found.message.starts_with("error: ")
            && !found.message.ends_with(']')
            && !found.whole.contains(" - error: ");
    }

    /// `Error: message` below a place that stands alone; what follows shows the source.
    fn severe(&mut self, place: line::Place<'a>, message: &'a str) {
        self.end_finding();
        self.findings.push(Finding {
            place: place.text,
            path: place.path,
            message,
            whole: "",
        });
        self.others.pop_if(|other| *other == place.text);
        self.advice = Advice::Source;
    }

    /// `rule[name]: message` has its place on the next line, with what it is about.
    fn ruled(&mut self, message: &'a str, found: Finding<'a>) {
        self.end_finding();
        self.findings.push(Finding {
            message,
            whole: "",
            ..found
        });
        let known = ["Task/Handler: ", "Use `"];
        if !known.iter().any(|words| found.message.starts_with(words)) {
            self.findings.continue_last(found.message);
        }
    }

    /// `--> path:1:2` gives the head before it its place.
    fn placed(&mut self, place: line::Place<'a>) {
        self.held = None;
        let head = self.issue.take().or_else(|| self.head.take());
        // A finding may have several places, each with its source.
        if let Some(message) = head.or(self.told) {
            self.told = Some(message);
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
        let advice = text.trim_start().starts_with("help: ") || text.starts_with("note: ");
        let told = self.others.iter().rev().take(REPEATED_OTHERS);
        if !is_ruler(text) && !advice && !told.into_iter().any(|other| *other == text) {
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
    fn a_rule_above_its_place_is_the_message() {
        let text = "name[missing]: All steps should be named.\na.yml:7 Task/Handler: oak\n\nname[missing]: All steps should be named.\nb.yml:2:3 Task/Handler: elm\n\nload-failure[yaml]: Failed to load\nc.yml:3:1 found a tab\n";
        assert_eq!(
            reduced(text),
            "a.yml:7: name[missing]: All steps should be named.; also b.yml:2:3\n\
             c.yml:3:1: load-failure[yaml]: Failed to load found a tab\n[5 of 8 lines left out]"
        );
    }

    #[test]
    fn the_name_of_the_next_file_is_no_part_of_a_message() {
        let text = "/srv/a.py\n  /srv/a.py:1:2 - error: \"x\" is not defined (reportUndefined)\n/srv/b.py\n  /srv/b.py:3:4 - error: \"y\" is not defined (reportUndefined)\n2 errors, 0 warnings\n";
        assert_eq!(
            reduced(text),
            "/srv/a.py:1:2 - error: \"x\" is not defined (reportUndefined)\n\
             /srv/b.py:3:4 - error: \"y\" is not defined (reportUndefined)\n2 errors, 0 warnings\n\
             [2 of 5 lines left out]"
        );
    }

    #[test]
    fn where_a_finding_is_nested_is_no_news() {
        let text = "a.py: note: In member \"x\" of class \"Y\":\na.py:3: error: No type  [no-untyped-def]\na.py: note: At top level:\na.py:9: error: No name  [name-defined]\n";
        assert_eq!(
            reduced(text),
            "a.py:3: error: No type  [no-untyped-def]\na.py:9: error: No name  [name-defined]\n[2 of 4 lines left out]"
        );
    }

    #[test]
    fn a_message_below_its_place_is_found() {
        let text = "/srv/a.oak:3:23\nWarn: Bark is thin\nhttps://oak.example/e/bark (oak)\n  let bark = 1;\n</script>\n\n/srv/a.oak:6:1\nError: Bark is gone (ts)\n<div>\n\n/srv/b.oak:1:1\nWarn: Bark is thin\n<div>\n\n====\nfound 1 error and 2 warnings\n";
        assert_eq!(
            reduced(text),
            "/srv/a.oak:3:23: Warn: Bark is thin; also /srv/b.oak:1:1\n/srv/a.oak:6:1: Error: Bark is gone (ts)\n\
             found 1 error and 2 warnings\n[12 of 16 lines left out]"
        );
    }

    #[test]
    fn what_is_drawn_below_the_source_goes() {
        let text = "  ! oak(no-var): Unexpected var\n   ,-[lib/a.js:1:1]\n 1 | var count = 0;\n   : ^^^|^^^\n   :    `-- 'count' is declared here\n 2 | let limit = 3;\n   `----\n   ,-[lib/a.js:7:2]\n 7 | count = 1;\n   :  ^|^\n   :   `-- it was assigned here\n   `----\n  help: Replace it\n\nFound 1 warning.\n";
        assert_eq!(
            reduced(text),
            "lib/a.js:1:1: oak(no-var): Unexpected var; also lib/a.js:7:2\nFound 1 warning.\n\
             [12 of 15 lines left out]"
        );
    }

    #[test]
    fn source_above_a_caret_and_steps_of_the_run_go() {
        let text = "Checking a.c ...\na.c:8:11: error: Out of bounds: name [bounds]\nsprintf(name, \"oak\");\n        ^\na.c:9:1: note: Assign it\nint name;\n^\n1/2 files checked 13% done\n";
        assert_eq!(
            reduced(text),
            "a.c:8:11: error: Out of bounds: name [bounds]\nnote: Assign it\n[6 of 8 lines left out]"
        );
    }

    #[test]
    fn a_proposed_change_goes() {
        let text = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove it\n  |\n  - import os\n1 + import sys\n2 |\n  |\n\nFound 1 error.\n";
        assert_eq!(
            reduced(text),
            "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n[12 of 14 lines left out]"
        );
    }

    #[test]
    fn times_and_addresses_are_no_places() {
        for text in ["12:30:15 error: x", "http://a.b:80: error", "[10:00] x:1 y"] {
            assert!(finding(text).is_none(), "{text}");
        }
    }
}
