//! Builds and test runs of Gradle.
//!
//! What went wrong, messages of compilers, failed tests with their exceptions and verdicts stay; tasks that
//! ran, excerpts of source, advice and what Gradle states of itself go.

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::{is_ruler, place};
use crate::output::Output;
use crate::parsers::findings::build_log::BuildLog;
use crate::parsers::findings::javac::{self, Below, Part};

pub(crate) const FAMILY: Family = Family {
    name: "gradle",
    runs,
    marks: Marks::OneOf(&[&["\nBUILD FAILED"], &["\nBUILD SUCCESSFUL"]]),
    recognises,
    reduce,
};

/// Messages of compilers that are shown one by one.
const FINDINGS: usize = 600;

/// What Gradle states of itself, and its advice.
static NOISE: Beginnings<17> = Beginnings::new([
    "> Configure project",
    "> Transform ",
    "Starting a Gradle Daemon",
    "Welcome to Gradle",
    "Here are the highlights of this release",
    "For more details see https://docs.gradle.org",
    "Daemon will be stopped",
    "To honour the JVM settings for this build",
    "Deprecated Gradle features were used",
    "You can use '--warning-mode all'",
    "For more on this, please refer to https://docs.gradle.org",
    "Use '--warning-mode all'",
    "See https://docs.gradle.org",
    "Publishing build scan",
    "Download http",
    "Run with --",
    "OpenJDK ",
]);
fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "gradle" | "gradlew")
}

fn recognises(input: &Input<'_>) -> Match {
    let own = |line: &str| {
        line.starts_with("> Task :")
            || line.starts_with("FAILURE: Build failed with ")
            || is_verdict(line)
    };
    // Ant ends in the same way.
    let is_ant = input
        .beginning()
        .any(|line| line.starts_with("Buildfile: "));
    if is_ant {
        Match::No
    } else if input.ending().any(is_verdict) {
        Match::Certain
    } else if runs(input) && input.beginning().chain(input.ending()).any(own) {
        Match::Likely
    } else {
        Match::No
    }
}

/// `BUILD FAILED in 4s`, which old versions say without a time.
fn is_verdict(line: &str) -> bool {
    ["BUILD SUCCESSFUL", "BUILD FAILED"].iter().any(|verdict| {
        line.strip_prefix(verdict)
            .is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with(" in "))
    })
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader {
        section: Section::Report,
        below: Below::Nothing,
        findings: 0,
        log: BuildLog::new(output),
    };
    for line in input.lines() {
        reader.line(line);
    }
    reader.log.finish();
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Report,
    /// Below a failed test, or what went wrong.
    Failure,
    /// Below advice.
    Advice,
}

struct Reader<'a, 'o> {
    section: Section,
    /// What is below the message of a compiler.
    below: Below,
    findings: usize,
    log: BuildLog<'a, 'o>,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let said = line.trim();
        match self.below.part(line) {
            Some(Part::Detail) if self.findings <= FINDINGS => return self.log.context(said),
            Some(Part::Detail | Part::Source) => return,
            None => {}
        }
        if said.is_empty() || is_ruler(said) {
            if said.is_empty() && self.section == Section::Failure {
                self.section = Section::Report;
            }
            return;
        }
        if is_verdict(line) {
            self.section = Section::Report;
            if line.starts_with("BUILD FAILED") {
                self.log.failed();
            }
            return self.log.fact(line);
        }
        if let Some(head) = line.strip_prefix("* ") {
            let advice = ["Try:", "Get more help at"];
            self.section = if advice.iter().any(|words| head.starts_with(words)) {
                Section::Advice
            } else {
                Section::Failure
            };
            return;
        }
        if let Some(task) = task(line) {
            self.section = Section::Report;
            if task.ends_with(" FAILED") {
                self.log.failed();
                self.log.fact(line);
            }
            return;
        }
        let untitled = said == "FAILED" || said.ends_with(": Task failed with an exception.");
        if self.section == Section::Advice || untitled || NOISE.begin(said) {
            return;
        }
        self.message(line, said);
    }

    fn message(&mut self, line: &'a str, said: &'a str) {
        if let Some(below) = finding(said) {
            self.below = below;
            self.findings += 1;
            if self.findings <= FINDINGS {
                self.log.fact(line);
            } else {
                self.log.other(line);
            }
        } else if said.ends_with(" FAILED") || line.starts_with("FAILURE: ") {
            // `org.birds.WingTest > beats FAILED`, and the exception below it.
            self.log.failed();
            self.section = Section::Failure;
            self.log.fact(line);
        } else if !self.log.is_traced(line) && !is_passed(line) {
            if self.section == Section::Failure || is_count(said) || is_total(said) {
                self.log.fact(line);
            } else {
                self.log.other(line);
            }
        }
    }
}

/// `> Task :core:compileJava UP-TO-DATE`, `:compileJava` of old versions: the task and how it ended.
fn task(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("> Task :")
        .or_else(|| line.strip_prefix(':'))?;
    let (name, state) = rest.split_once(' ').unwrap_or((rest, ""));
    let named = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b":-_.$".contains(&byte));
    let ended = matches!(
        state.trim_end(),
        "" | "UP-TO-DATE" | "NO-SOURCE" | "FROM-CACHE" | "SKIPPED" | "FAILED"
    );
    (named && ended && !name.is_empty()).then_some(rest.trim_end())
}

/// What is below `path/A.java:5: error: message` of javac and `e: file:///path/A.kt:5:3 message` of
/// Kotlin, which shows no source; `None` for what is not a message of a compiler.
fn finding(said: &str) -> Option<Below> {
    let kotlin = said
        .strip_prefix("e: ")
        .or_else(|| said.strip_prefix("w: "));
    if let Some(rest) = kotlin {
        let placed = rest.starts_with("file://") || place(rest).is_some();
        return placed.then_some(Below::Nothing);
    }
    let found = place(said)?;
    let judged = found.rest.starts_with("error: ") || found.rest.starts_with("warning: ");
    judged.then_some(Below::Source)
}

/// `org.birds.WingTest > glides PASSED`
fn is_passed(line: &str) -> bool {
    line.contains(" > ") && (line.ends_with(" PASSED") || line.ends_with(" STARTED"))
}

/// `1 error`, `29 tests completed, 3 failed`, `3 actionable tasks: 3 executed`
fn is_count(said: &str) -> bool {
    let counted = said.split_once(' ').is_some_and(|(count, words)| {
        !count.is_empty()
            && count.bytes().all(|byte| byte.is_ascii_digit())
            && (words.starts_with("test") || words.starts_with("actionable task"))
    });
    counted || javac::is_count(said)
}

/// `Execution failed for task ':test'.` is in a section; this is what else sums up.
fn is_total(said: &str) -> bool {
    said.starts_with("There were failing tests") || said.starts_with("Results: ")
}

#[cfg(test)]
mod tests;
