//! Builds and test runs of Maven.
//!
//! Errors, warnings, failed tests with their exceptions, totals and verdicts stay, and the trees that were
//! asked for; what is loaded, copied, compiled and passed goes, with the help below a failure.

use hashbrown::HashSet;

use super::beginnings::Beginnings;
use super::input::Input;
use super::line::{indent, is_ruler, shorten};
use super::output::Output;
use super::route::{Family, Marks, Match};
use super::traceback::Folder;
use super::unknown::Unknown;

pub(super) const FAMILY: Family = Family {
    name: "maven",
    runs,
    marks: Marks::OneOf(&[
        &["\n[INFO] Scanning for projects"],
        &["\n[INFO] BUILD "],
        &["\n[ERROR] ", "[Help 0] http"],
    ]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 320;
/// Errors, warnings and rows of a tree that are told one by one.
const ERRORS: usize = 600;
const WARNINGS: usize = 60;
const ROWS: usize = 400;
/// Lines that are remembered, so that each error and warning is told once.
const REMEMBERED: usize = 4_096;

/// What Maven says of its own steps.
static STEPS: Beginnings<33> = Beginnings::new([
    "--- ",
    ">>> ",
    "<<< ",
    "Scanning for projects",
    "from pom.xml",
    "Download",
    "Progress (",
    "skip non existing resourceDirectory",
    "Copying ",
    "Using ",
    "Changes detected",
    "Recompiling the module",
    "Nothing to compile",
    "No sources to compile",
    "Not compiling ",
    "No tests to run",
    "Compiling ",
    "Surefire report directory",
    "Failsafe report directory",
    "T E S T S",
    "Running ",
    "Results:",
    "Results :",
    "Total time:",
    "Finished at:",
    "Final Memory:",
    "Reactor Build Order:",
    "Inspecting build",
    "Installing ",
    "Deleting ",
    "Loading ",
    "Storing buildInfo",
    "argLine set to",
]);
/// What stands below every failed build.
static HELP: Beginnings<11> = Beginnings::new([
    "To see the full stack trace",
    "Re-run Maven ",
    "For more information about the errors",
    "[Help ",
    "-> [Help ",
    "Please refer to ",
    "After correcting the problems",
    "Run Maven with the",
    "See ",
    "Failures:",
    "Errors:",
]);

fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "mvn" | "mvnw" | "mvnd")
}

fn recognises(input: &Input<'_>) -> Match {
    let lines = || input.beginning().chain(input.ending());
    let own = |line: &str| {
        line.starts_with("[INFO] Scanning for projects")
            || line.starts_with("[INFO] BUILD SUCCESS")
            || line.starts_with("[INFO] BUILD FAILURE")
            || line
                .strip_prefix("[ERROR] [Help ")
                .is_some_and(|rest| rest.contains("] http"))
    };
    if lines().any(own) {
        Match::Certain
    } else if runs(input) && lines().any(|line| levelled(line).is_some()) {
        Match::Likely
    } else {
        Match::No
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Info,
    Warning,
    Error,
}

/// The level of a line, and what it says.
fn levelled(line: &str) -> Option<(Level, &str)> {
    let (level, rest) = line.strip_prefix('[')?.split_once(']')?;
    let level = match level {
        "INFO" => Level::Info,
        "WARNING" | "WARN" => Level::Warning,
        "ERROR" | "FATAL" => Level::Error,
        _ => return None,
    };
    Some((level, rest.strip_prefix(' ').unwrap_or(rest)))
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader {
        seen: HashSet::new(),
        errors: 0,
        warnings: 0,
        rows: 0,
        detail: Detail::None,
        folder: Folder::default(),
        unknown: Unknown::default(),
        output,
    };
    for line in input.lines() {
        reader.line(line);
    }
    let mut rows = Vec::new();
    reader.folder.finish(&mut |line| rows.push(line));
    for row in rows {
        reader.fact(row);
    }
    reader.unknown.write(reader.output);
}

/// What the lines without a level belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    None,
    /// An error or a warning that is told.
    Told,
    /// One that was told before.
    Repeated,
}

struct Reader<'a, 'o> {
    seen: HashSet<&'a str>,
    errors: usize,
    warnings: usize,
    rows: usize,
    detail: Detail,
    folder: Folder<'a>,
    unknown: Unknown<'a>,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let Some((level, text)) = levelled(line) else {
            return self.plain(line);
        };
        let said = text.trim();
        if said.is_empty() || is_ruler(said) {
            self.detail = Detail::None;
            return;
        }
        match level {
            Level::Info => self.info(line, said),
            Level::Warning => self.warning(line, said),
            Level::Error => self.error(line, text, said),
        }
    }

    fn info(&mut self, line: &'a str, said: &'a str) {
        self.detail = Detail::None;
        let banner = said.starts_with("--") && said.ends_with("--");
        if banner || STEPS.begin(said) || is_passed(said) {
            return;
        }
        if said == "BUILD FAILURE" {
            self.output.failed();
        }
        let state = ["FAILURE", "SKIPPED"]
            .iter()
            .any(|state| said.contains(&format!(" {state}")) && said.contains(". "));
        let branch = said.starts_with(['+', '\\', '|']) || said.contains(" -> ");
        if branch && self.rows < ROWS {
            self.rows += 1;
            self.context(line);
        } else if is_total(said) || state {
            self.fact(line);
        } else {
            self.unknown.push(line);
        }
    }

    fn warning(&mut self, line: &'a str, said: &'a str) {
        if self.is_repeated(said) {
            return;
        }
        self.warnings += 1;
        if self.warnings <= WARNINGS {
            self.context(line);
        } else {
            self.unknown.push(line);
        }
    }

    fn error(&mut self, line: &'a str, text: &'a str, said: &'a str) {
        self.output.failed();
        // Below an error that Maven says again stand its details again.
        if HELP.begin(said) || text.starts_with("  ") && self.detail == Detail::Repeated {
            return;
        }
        let named = said.trim_end_matches(['.', ' ']);
        if is_place(said) && self.is_repeated(named) {
            return;
        }
        self.detail = Detail::Told;
        self.errors += 1;
        if self.errors <= ERRORS {
            self.fact(line);
        } else {
            self.unknown.push(line);
        }
    }

    /// Whether `said` was told before; remembers it.
    fn is_repeated(&mut self, said: &'a str) -> bool {
        let repeated = self.seen.contains(said);
        if !repeated && self.seen.len() < REMEMBERED {
            self.seen.insert(said);
        }
        self.detail = if repeated {
            Detail::Repeated
        } else {
            Detail::Told
        };
        repeated
    }

    /// What tests and compilers print themselves.
    fn plain(&mut self, line: &'a str) {
        let mut rows = Vec::new();
        let traced = self.folder.line(line, &mut |row| rows.push(row));
        for row in rows {
            self.fact(row);
        }
        if traced || line.trim().is_empty() {
            return;
        }
        match self.detail {
            Detail::Repeated if indent(line) > 0 => {}
            Detail::Told if indent(line) > 0 => self.context(line),
            _ => self.unknown.push(line),
        }
    }

    fn fact(&mut self, line: &str) {
        self.unknown.write(self.output);
        self.output.fact(&shorten(line.trim_end(), LINE_CHARS));
    }

    fn context(&mut self, line: &str) {
        self.unknown.write(self.output);
        self.output.context(&shorten(line.trim_end(), LINE_CHARS));
    }
}

/// The tests of one class, none of which failed.
fn is_passed(said: &str) -> bool {
    said.starts_with("Tests run: ") && said.contains("Time elapsed: ")
}

/// A verdict, or a count.
fn is_total(said: &str) -> bool {
    let counted = said.split_once(' ').is_some_and(|(count, words)| {
        !count.is_empty()
            && count.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(words, "error" | "errors" | "warning" | "warnings")
    });
    counted
        || said.starts_with("BUILD ")
        || said.starts_with("Tests run: ")
        || said.starts_with("Building jar: ")
        || said.starts_with("Building war: ")
}

/// `path/Name.java:[5,67] message`, `Name.test:6 message`: Maven names them twice.
fn is_place(said: &str) -> bool {
    said.contains(":[")
}

#[cfg(test)]
mod tests;
