//! What `bazel` states of a build and its tests, with what the actions and tests printed.
//!
//! ```text
//! INFO: Analyzed 72 targets (21 packages loaded, 210 targets configured).
//! ERROR: /w/oak/BUILD:21:8: Compiling oak/leaf.c failed: (Exit 1): gcc failed: error executing command ...
//! oak/leaf.c:1:27: error: 'levle' was not declared in this scope
//! FAIL: //oak:leaf_test (see /w/testlogs/oak/leaf_test/test.log)
//! ==================== Test output for //oak:leaf_test:
//! level 2 is 4, expected 5
//! ================================================================================
//! //oak:root_test                                        PASSED in 0.1s
//! //oak:leaf_test                                        FAILED in 0.1s
//! ```
//!
//! What an action or a test printed goes the way of an output of its own.

use hashbrown::HashSet;

use crate::family::{Family, Marks, Match};
use crate::input::{Exit, Input};
use crate::line::beginnings::Beginnings;
use crate::line::{is_bad, is_number, is_ruler, shorten};
use crate::nested::{self};
use crate::output::Told;
use crate::output::{Output, Weight};
use crate::parsers::findings::finding::ends::Ends;
use crate::rows::report::squeezed;
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "bazel",
    runs: |input| matches!(input.program(), "bazel" | "bazelisk"),
    marks: Marks::OneOf(&[
        &[", Critical Path: "],
        &["INFO: Analyzed "],
        &["Analyzing: "],
        &["Executed ", " out of ", " test"],
    ]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 400;
/// The line below the output of a test has this many signs.
const BOUND_BYTES: usize = 80;
/// Warnings and notices that are kept, the first and the last.
const MAX_SAID: usize = 20;
/// Verdicts and paths of logs that are remembered.
const MAX_TOLD: usize = 4_096;

fn recognises(input: &Input<'_>) -> Match {
    let says_so = |line: &str| {
        line.starts_with("INFO: Elapsed time: ") && line.has_text(", Critical Path: ")
            || line.starts_with("INFO: Analyzed ") && line.has_text(" target")
            || line.starts_with("Analyzing: ") && line.has_text(" targets (")
            || line.starts_with("Executed ") && line.has_text(" out of ") && line.has_text(" test")
    };
    if input.beginning().any(says_so) || input.ending().any(says_so) {
        Match::Certain
    } else {
        Match::No
    }
}

/// What a line of bazel itself is.
#[derive(Clone, Copy)]
enum Said<'a> {
    /// How far the build is, or that something went well.
    Step,
    /// An action or a test that the next lines belong to.
    From(&'a str),
    /// The same, which failed.
    Failed(&'a str),
    /// The output of a test is next.
    Printed,
    /// It ends here.
    Bound,
    Notice(&'a str),
    /// How a target or the build ended.
    Verdict(&'a str),
    /// The path of the log of a test.
    Log(&'a str),
}

fn said(line: &str) -> Option<Said<'_>> {
    static STEPS: Beginnings<7> = Beginnings::new([
        "Loading:",
        "Analyzing: ",
        "INFO: Analyzed ",
        "INFO: Invocation ID: ",
        "INFO: Build option ",
        "Computing main repo mapping",
        "Use --sandbox_debug ",
    ]);
    static VERDICTS: Beginnings<6> = Beginnings::new([
        "Executed ",
        "FAILED: ",
        "INFO: Elapsed time: ",
        "INFO: Build completed ",
        "Build completed ",
        "ERROR: Build did NOT ",
    ]);
    static FAILURES: Beginnings<3> = Beginnings::new(["FAIL: //", "TIMEOUT: //", "FLAKY: //"]);
    let text = line.trim_end();
    Some(match text.as_bytes().first()? {
        b'[' if is_step(text) => Said::Step,
        b'=' if text.starts_with("==================== Test output for ") => Said::Printed,
        b'=' if text.len() == BOUND_BYTES && is_ruler(text) => Said::Bound,
        b'/' if text.starts_with("//") => status(text)?,
        b' ' | b'\t' | b'/' if is_log(text) => Said::Log(text.trim_start()),
        _ if STEPS.begin(text) || is_processes(text) => Said::Step,
        _ if VERDICTS.begin(text) => Said::Verdict(text),
        _ if FAILURES.begin(text) || text.starts_with("ERROR: ") => Said::Failed(text),
        _ if text.starts_with("INFO: From ") => Said::From(text),
        _ if text.starts_with("INFO: ")
            || text.starts_with("WARNING: ")
            || text.starts_with("DEBUG: ") =>
        {
            Said::Notice(text)
        }
        _ => return None,
    })
}

/// `[61 / 63] 9 / 36 tests; Testing //oak:leaf_test; 0s local`
fn is_step(text: &str) -> bool {
    let counts = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_text("] "))
        .map_or("", |(counts, _)| counts);
    counts.contains('/')
        && counts
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'/' | b','))
}

/// `INFO: 37 processes: 2 internal, 35 linux-sandbox.`
fn is_processes(text: &str) -> bool {
    text.strip_prefix("INFO: ")
        .and_then(|rest| rest.split_text(" process"))
        .is_some_and(|(number, _)| is_number(number))
}

/// How a test ended: `//oak:leaf_test (cached) PASSED in 0.1s`.
fn status(text: &str) -> Option<Said<'_>> {
    const STATUSES: [&str; 6] = [
        " FAILED",
        " TIMEOUT",
        " FLAKY",
        " NO STATUS",
        " INCOMPLETE",
        " REMOTE FAILURE",
    ];
    if text.has_text(" PASSED") {
        return Some(Said::Step);
    }
    let is_verdict = STATUSES.iter().any(|status| text.has_text(status));
    is_verdict.then_some(Said::Verdict(text))
}

fn is_log(text: &str) -> bool {
    let path = text.trim_start();
    path.starts_with('/') && path.ends_with("/test.log") && path.has_text("testlogs/")
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader {
        text: input.text,
        head: Head::None,
        in_test: false,
        from: 0,
        told: HashSet::new(),
        notices: Ends::new(MAX_SAID / 2, MAX_SAID / 2),
        output,
    };
    let mut start = 0;
    for line in input.text.split_inclusive('\n') {
        if let Some(said) = said(line).filter(|said| reader.takes(*said, line)) {
            reader.end_part(start);
            reader.said(said);
            reader.from = start + line.len();
        }
        start += line.len();
    }
    reader.end_part(start);
    let notices = std::mem::replace(&mut reader.notices, Ends::new(0, 0));
    notices.write(Weight::Context, LINE_CHARS, output);
}

/// To what the next lines belong that bazel did not write itself.
#[derive(Clone, Copy)]
enum Head<'a> {
    None,
    Succeeded(&'a str),
    Failed,
}

struct Reader<'a, 'o> {
    text: &'a str,
    head: Head<'a>,
    /// Whether the next lines are what a test printed, which may look like anything.
    in_test: bool,
    /// Where the lines begin that bazel did not write itself.
    from: usize,
    /// Verdicts and paths of logs, which are shown again.
    told: HashSet<&'a str>,
    notices: Ends<'a>,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    /// Whether `line` is one of bazel itself here: within the output of a test only what no test prints.
    fn takes(&mut self, said: Said<'_>, line: &str) -> bool {
        let ends = match said {
            Said::Bound => true,
            Said::Failed(_) => !line.starts_with("ERROR: "),
            Said::Verdict(_) => line.starts_with("//") || line.starts_with("INFO: Elapsed time: "),
            _ => false,
        };
        let takes = !self.in_test || ends;
        self.in_test &= !ends;
        takes
    }

    fn said(&mut self, said: Said<'a>) {
        match said {
            Said::Printed => self.in_test = true,
            Said::Bound => {}
            Said::Step => self.head = Head::None,
            Said::From(head) => {
                // Of a test that failed this was said before.
                if !matches!(self.head, Head::Failed) || !head.starts_with("INFO: From Testing ") {
                    self.head = Head::Succeeded(head);
                }
            }
            Said::Failed(line) => {
                self.fact(line);
                let log = line.rsplit_text(" (see ").map(|(_, log)| log);
                if let Some(log) = log.and_then(|log| log.strip_suffix(')')) {
                    self.is_new(log);
                }
                self.head = Head::Failed;
            }
            Said::Notice(line) => {
                self.notices.push(line);
                self.head = Head::None;
            }
            Said::Verdict(line) => {
                if self.is_new(line) {
                    self.fact(line);
                }
                self.head = Head::None;
            }
            Said::Log(path) => {
                if self.is_new(path) {
                    self.output.fact(path);
                }
            }
        }
    }

    fn fact(&mut self, line: &str) {
        if is_bad(line) || line.starts_with("TIMEOUT") {
            self.output.failed();
        }
        self.output.fact(&shorten(&squeezed(line), LINE_CHARS));
    }

    /// Whether `text` was not shown yet.
    fn is_new(&mut self, text: &'a str) -> bool {
        self.told.len() >= MAX_TOLD || self.told.insert(text)
    }

    /// Writes what is between two lines of bazel.
    fn end_part(&mut self, end: usize) {
        let text = self.text.get(self.from..end).unwrap_or_default();
        if text.trim_ascii().is_empty() {
            return;
        }
        let exit = match self.head {
            Head::Failed => Exit::Failure,
            Head::Succeeded(head) => {
                self.output.context(&shorten(head, LINE_CHARS));
                Exit::Success
            }
            Head::None => Exit::Unknown,
        };
        let input = Input {
            text,
            words: &[],
            exit,
        };
        match nested::reduce(&input, &FAMILY, self.output) {
            Some(Told { failure: true }) => self.output.failed(),
            Some(_) => {}
            None => nested::whole(text, self.output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tested;

    const RULE: &str =
        "================================================================================";

    fn build() -> String {
        let passed: String = (1..=30).fold(String::new(), |text, number| {
            text + &format!(
                "//oak:twig_{number}_test                                 PASSED in 0.1s\n"
            )
        });
        format!(
            "Loading: 0 packages loaded\nAnalyzing: 72 targets (2 packages loaded, 0 targets configured)\n\
             INFO: Analyzed 72 targets (21 packages loaded, 210 targets configured).\n\
             [1 / 2] [Prepa] BazelWorkspaceStatusAction stable-status.txt\n\
             ERROR: /w/oak/BUILD:21:8: Compiling oak/leaf.c failed: (Exit 1): gcc failed\n\
             oak/leaf.c: In function 'level':\noak/leaf.c:1:27: error: 'levle' was not declared in this scope\n\
             \x20   1 | int level(int x) {{ return levle(x); }}\n      |                           ^~~~~\n\
             [61 / 63] 9 / 36 tests; Testing //oak:root_test; 0s local ... (2 actions running)\n\
             FAIL: //oak:root_test (see /w/testlogs/oak/root_test/test.log)\nINFO: From Testing //oak:root_test:\n\
             ==================== Test output for //oak:root_test:\nlevel 2 is 4, expected 5\n{RULE}\n\
             INFO: Elapsed time: 9.6s, Critical Path: 4.12s\nINFO: 146 processes: 74 internal, 72 local.\n\
             FAILED: Build did NOT complete successfully\n{passed}\
             //oak:bark_test                                          TIMEOUT in 4.0s\n  /w/testlogs/oak/bark_test/test.log\n\
             //oak:root_test                                          FAILED in 0.1s\n  /w/testlogs/oak/root_test/test.log\n\n\
             Executed 32 out of 32 tests: 30 tests pass and 2 fail locally.\nFAILED: Build did NOT complete successfully\n"
        )
    }

    #[test]
    fn failures_stay_with_what_they_printed_and_what_passed_goes() {
        let reduced = tested::reduced(&FAMILY, &build(), "bazel test //...", Exit::Failure);
        assert_eq!(
            reduced,
            "ERROR: /w/oak/BUILD:21:8: Compiling oak/leaf.c failed: (Exit 1): gcc failed\n\
             oak/leaf.c: In function 'level':\noak/leaf.c:1:27: error: 'levle' was not declared in this scope\n\
             \x20   1 | int level(int x) { return levle(x); }\n      |                           ^~~~~\n\
             FAIL: //oak:root_test (see /w/testlogs/oak/root_test/test.log)\nlevel 2 is 4, expected 5\n\
             INFO: Elapsed time: 9.6s, Critical Path: 4.12s\nFAILED: Build did NOT complete successfully\n\
             //oak:bark_test TIMEOUT in 4.0s\n/w/testlogs/oak/bark_test/test.log\n//oak:root_test FAILED in 0.1s\n\
             Executed 32 out of 32 tests: 30 tests pass and 2 fail locally.\n\
             [42 of 55 lines left out]"
        );
    }

    #[test]
    fn what_an_action_said_that_went_well_has_its_name() {
        let text = "INFO: Analyzed 2 targets (1 packages loaded, 2 targets configured).\nINFO: From Compiling oak/leaf.c:\n\
                    oak/leaf.c:1:24: warning: unused variable 'x'\n    1 | int x;\n      |     ^\n\
                    INFO: Elapsed time: 9.6s, Critical Path: 4.12s\nINFO: Build completed successfully, 2 total actions\n";
        let reduced = tested::reduced(&FAMILY, text, "bazel build //...", Exit::Success);
        assert!(
            reduced.starts_with(
                "INFO: From Compiling oak/leaf.c:\noak/leaf.c:1:24: warning: unused variable 'x'\n"
            ),
            "{reduced}"
        );
        assert!(reduced.contains("INFO: Build completed successfully, 2 total actions"));
    }

    #[test]
    fn what_a_test_printed_is_one_output_whatever_it_looks_like() {
        let divider = "=".repeat(70);
        let printed = format!(
            "INFO: filling\nWARNING: slow\n[1 / 2] lock\n{divider}\nFAIL: test_level (locks.Level.test_level)\n----------\n\
             Traceback (most recent call last):\n  File \"/w/locks.py\", line 7, in test_level\n    self.assertEqual(level(), 5)\n\
             AssertionError: 4 != 5\n\n----------\nRan 90 tests in 0.002s\n\nFAILED (failures=1)\n"
        );
        let text = build().replace("level 2 is 4, expected 5\n", &printed);
        let reduced = tested::reduced(&FAMILY, &text, "bazel test //...", Exit::Failure);
        assert!(
            reduced.contains(
                "root_test/test.log)\nINFO: filling\nWARNING: slow\n[1 / 2] lock\nFAIL: test_level (locks.Level.test_level)\n"
            ),
            "{reduced}"
        );
        assert!(reduced.contains("AssertionError: 4 != 5"), "{reduced}");
    }
}
