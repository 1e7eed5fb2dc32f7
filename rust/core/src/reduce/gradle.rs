//! Builds and test runs of Gradle.
//!
//! What went wrong, messages of compilers, failed tests with their exceptions and verdicts stay; tasks that
//! ran, excerpts of source, advice and what Gradle says of itself go.

use super::beginnings::Beginnings;
use super::input::Input;
use super::line::{indent, is_ruler, place, shorten};
use super::output::Output;
use super::report::Unknown;
use super::route::{Family, Marks, Match};
use super::traceback::Folder;

pub(super) const FAMILY: Family = Family {
    name: "gradle",
    runs,
    marks: Marks::OneOf(&[&["\nBUILD FAILED"], &["\nBUILD SUCCESSFUL"]]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 320;
/// Messages of compilers that are told one by one.
const FINDINGS: usize = 600;

/// What Gradle says of itself, and its advice.
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
/// What is said of a symbol, below the error.
static DETAILS: Beginnings<5> =
    Beginnings::new(["symbol:", "location:", "required:", "found:", "reason:"]);

fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "gradle" | "gradlew")
}

fn recognises(input: &Input<'_>) -> Match {
    let own = |line: &str| {
        line.starts_with("> Task :")
            || line.starts_with("FAILURE: Build failed with ")
            || is_verdict(line)
    };
    if input.ending().any(is_verdict) {
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
        findings: 0,
        folder: Folder::default(),
        unknown: Unknown::default(),
        output,
    };
    for line in input.lines() {
        reader.line(line);
    }
    let mut rows = Vec::new();
    reader.folder.finish(&mut |row| rows.push(row));
    for row in rows {
        reader.fact(row);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Report,
    /// Below the message of a compiler: its source, up to a caret.
    Source,
    /// Below a failed test, or what went wrong.
    Failure,
    /// Below advice.
    Advice,
}

struct Reader<'a, 'o> {
    section: Section,
    findings: usize,
    folder: Folder<'a>,
    unknown: Unknown,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let said = line.trim();
        if said.is_empty() || is_ruler(said) {
            if self.section == Section::Source || said.is_empty() && self.section != Section::Advice
            {
                self.section = Section::Report;
            }
            return;
        }
        if is_verdict(line) {
            self.section = Section::Report;
            if line.starts_with("BUILD FAILED") {
                self.output.failed();
            }
            return self.fact(line);
        }
        if let Some(head) = line.strip_prefix("* ") {
            let advice = ["Try:", "Get more help at", "Exception is:"];
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
                self.output.failed();
                self.fact(line);
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
        if is_finding(said) {
            self.section = Section::Source;
            self.findings += 1;
            if self.findings <= FINDINGS {
                return self.fact(line);
            }
            return self.unknown.show(line, self.output);
        }
        if DETAILS.begin(said) && indent(line) > 0 {
            return self.context(said);
        }
        if self.section == Section::Source {
            let counted = is_count(said);
            if said == "^" || counted {
                self.section = Section::Report;
            }
            if counted {
                self.fact(said);
            }
            return;
        }
        // `org.birds.WingTest > beats FAILED`, and the exception below it.
        if said.ends_with(" FAILED") || line.starts_with("FAILURE: ") {
            self.output.failed();
            self.section = Section::Failure;
            return self.fact(line);
        }
        let mut rows = Vec::new();
        let traced = self.folder.line(line, &mut |row| rows.push(row));
        for row in rows {
            self.fact(row);
        }
        if traced || is_passed(line) {
            return;
        }
        if self.section == Section::Failure || is_count(said) || is_total(said) {
            self.fact(line);
        } else {
            self.unknown.show(line, self.output);
        }
    }

    fn fact(&mut self, line: &str) {
        self.output.fact(&shorten(line.trim_end(), LINE_CHARS));
    }

    fn context(&mut self, line: &str) {
        self.output.context(&shorten(line.trim_end(), LINE_CHARS));
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

/// `path/A.java:5: error: message` of javac, `e: file:///path/A.kt:5:3 message` of Kotlin.
fn is_finding(said: &str) -> bool {
    let kotlin = said
        .strip_prefix("e: ")
        .or_else(|| said.strip_prefix("w: "));
    if let Some(rest) = kotlin {
        return rest.starts_with("file://") || place(rest).is_some();
    }
    place(said).is_some_and(|found| {
        found.rest.starts_with("error: ") || found.rest.starts_with("warning: ")
    })
}

/// `org.birds.WingTest > glides PASSED`
fn is_passed(line: &str) -> bool {
    line.contains(" > ") && (line.ends_with(" PASSED") || line.ends_with(" STARTED"))
}

/// `1 error`, `29 tests completed, 3 failed`, `3 actionable tasks: 3 executed`
fn is_count(said: &str) -> bool {
    said.split_once(' ').is_some_and(|(count, words)| {
        !count.is_empty()
            && count.bytes().all(|byte| byte.is_ascii_digit())
            && ["error", "warning", "test", "actionable task"]
                .iter()
                .any(|word| words.starts_with(word))
    })
}

/// `Execution failed for task ':test'.` stands in a section; this is what else sums up.
fn is_total(said: &str) -> bool {
    said.starts_with("There were failing tests") || said.starts_with("Results: ")
}

#[cfg(test)]
mod tests;
