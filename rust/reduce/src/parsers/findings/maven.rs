//! Builds and test runs of Maven.
//!
//! Errors, warnings, failed tests with their exceptions, totals and verdicts stay, and the trees that were
//! asked for; what is loaded, copied, compiled and passed goes, with the help below a failure.

use hashbrown::HashSet;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::{indent, is_ruler};
use crate::output::Output;
use crate::parsers::findings::build_log::BuildLog;
use crate::parsers::findings::javac::is_count;
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "maven",
    runs,
    marks: Marks::OneOf(&[
        &["\n[INFO] Scanning for projects"],
        &["\n[INFO] BUILD "],
        &["\n[ERROR] [Help 0"],
    ]),
    recognises,
    reduce,
};

/// Errors, warnings and rows of a tree that are shown one by one.
const ERRORS: usize = 600;
const WARNINGS: usize = 60;
const ROWS: usize = 400;
/// Lines without a level that say more of one error or warning.
const DETAILS: usize = 20;
/// Lines that are remembered, so that each error and warning is shown once.
const REMEMBERED: usize = 4_096;

/// What Maven states of its own steps.
static STEPS: Beginnings<34> = Beginnings::new([
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
    "Reactor Summary",
    "Inspecting build",
    "Installing ",
    "Deleting ",
    "Loading ",
    "Storing buildInfo",
    "argLine set to",
]);
/// What is below every failed build.
static HELP: Beginnings<12> = Beginnings::new([
    "To see the full stack trace",
    "Re-run Maven ",
    "For more information about the errors",
    "[Help ",
    "-> [Help ",
    "Please refer to ",
    "After correcting the problems",
    "mvn <args> -rf ",
    "Run Maven with the",
    "See ",
    "Failures:",
    "Errors:",
]);

const LEVELS: [(&str, Level); 5] = [
    ("[INFO]", Level::Info),
    ("[WARNING]", Level::Warning),
    ("[ERROR]", Level::Error),
    ("[WARN]", Level::Warning),
    ("[FATAL]", Level::Error),
];

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
                .is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()))
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

/// The level of a line, and what it states.
fn levelled(line: &str) -> Option<(Level, &str)> {
    if line.as_bytes().first() != Some(&b'[') {
        return None;
    }
    let (level, rest) = LEVELS
        .iter()
        .find_map(|(word, level)| Some((*level, line.strip_prefix(word)?)))?;
    Some((level, rest.strip_prefix(' ').unwrap_or(rest)))
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader {
        seen: HashSet::new(),
        errors: 0,
        warnings: 0,
        rows: 0,
        detail: Detail::None,
        log: BuildLog::new(output),
    };
    for line in input.lines() {
        reader.line(line);
    }
    reader.log.finish();
}

/// What the lines without a level belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    None,
    /// An error or a warning that is shown, and how many lines said more of it.
    Told(usize),
    /// One that was shown before.
    Repeated,
}

struct Reader<'a, 'o> {
    seen: HashSet<&'a str>,
    errors: usize,
    warnings: usize,
    rows: usize,
    detail: Detail,
    log: BuildLog<'a, 'o>,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let Some((level, text)) = levelled(line) else {
            return self.plain(line);
        };
        let said = text.trim_ascii();
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
        if banner || STEPS.begin(said) || is_of_one_class(said) || is_module(said) {
            return;
        }
        if said == "BUILD FAILURE" {
            self.log.failed();
        }
        // `store ......... FAILURE [  4.208 s]`
        let left_out = said.ends_with(" SKIPPED") || said.find_text(" FAILURE [").is_some();
        let branch = said.starts_with(['+', '\\', '|']) || said.find_text(" -> ").is_some();
        if branch && self.rows < ROWS {
            self.rows += 1;
            self.log.context(line);
        } else if is_total(said) || left_out {
            self.log.fact(line);
        } else {
            self.log.other(line);
        }
    }

    fn warning(&mut self, line: &'a str, said: &'a str) {
        if self.is_repeated(said) {
            return;
        }
        self.warnings += 1;
        if self.warnings <= WARNINGS {
            self.log.context(line);
        } else {
            self.log.other(line);
        }
    }

    fn error(&mut self, line: &'a str, text: &'a str, said: &'a str) {
        self.log.failed();
        // Below an error that Maven states again stand its details again.
        if HELP.begin(said) || text.starts_with("  ") && self.detail == Detail::Repeated {
            return;
        }
        if is_of_one_class(said) || is_compiled(said) && self.is_repeated(said) {
            return;
        }
        self.detail = Detail::Told(0);
        self.errors += 1;
        if self.errors <= ERRORS {
            // How long a failed test took is not news.
            let row = line
                .split_once("Time elapsed: ")
                .map_or(line, |(row, _)| row);
            self.log.fact(row.trim_end_matches([' ', '-']));
        } else {
            self.log.other(line);
        }
    }

    /// Whether `said` was shown before; remembers it.
    fn is_repeated(&mut self, said: &'a str) -> bool {
        let repeated = self.seen.contains(said);
        if !repeated && self.seen.len() < REMEMBERED {
            self.seen.insert(said);
        }
        self.detail = if repeated {
            Detail::Repeated
        } else {
            Detail::Told(0)
        };
        repeated
    }

    /// What tests and compilers print themselves.
    fn plain(&mut self, line: &'a str) {
        if self.log.is_traced(line) || line.trim().is_empty() || HELP.begin(line) {
            return;
        }
        match self.detail {
            Detail::Repeated if indent(line) > 0 => {}
            Detail::Told(said) if indent(line) > 0 && said < DETAILS => {
                self.detail = Detail::Told(said + 1);
                self.log.context(line);
            }
            _ => self.log.other(line),
        }
    }
}

/// The tests of one class: those that failed are named, and all are counted.
fn is_of_one_class(said: &str) -> bool {
    said.starts_with("Tests run: ") && said.find_text("Time elapsed: ").is_some()
}

/// `core            [jar]`, `Building core 0.4.0            [2/4]`: a summary states how each went.
fn is_module(said: &str) -> bool {
    if !said.ends_with(']') {
        return false;
    }
    let Some((name, rest)) = said.split_once("  ") else {
        return false;
    };
    let rest = rest.trim_start();
    let one_of = rest.starts_with('[');
    one_of && (name.starts_with("Building ") && rest.contains('/') || !name.contains(' '))
}

/// A verdict, or a count.
fn is_total(said: &str) -> bool {
    is_count(said)
        || said.starts_with("BUILD ")
        || said.starts_with("Tests run: ")
        || said.starts_with("Building jar: ")
        || said.starts_with("Building war: ")
}

/// `path/Name.java:[5,67] message`, which is said where it was found and at the end.
fn is_compiled(said: &str) -> bool {
    said.contains(":[")
}

#[cfg(test)]
mod tests;
