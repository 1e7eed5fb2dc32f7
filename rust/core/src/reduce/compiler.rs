//! What C and C++ builds say: `gcc`, `clang`, `make`, `cmake`, `ninja`, link errors.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::diagnostics::{finding, is_excerpt};
use super::findings::Findings;
use super::findings::ends::Ends;
use super::input::Input;
use super::line::{self, indent, shorten};
use super::output::{Output, Weight};
use super::route::{Family, Marks, Match};
use crate::find_text::{FindText as _, any_of};

pub(super) const FAMILY: Family = Family {
    name: "compiler",
    runs,
    marks: Marks::OneOf(&[
        &["\n["],
        &[": Entering directory "],
        &[": Leaving directory "],
        &["\nConsolidate compiler"],
        &["\nDependencies file "],
        &["\nScanning dependencies"],
        &[" is up to date."],
        &[": Nothing to be done for "],
        &[": *** "],
        &["\nninja: "],
        &["\nFAILED: "],
        &["\ncollect2: "],
        &["\n-- "],
        &["\nchecking "],
        &["\nconfig.status: "],
        &["undefined reference to"],
        &["multiple definition of"],
        &["cannot find -l"],
        &["undefined symbol"],
        &["Undefined symbols for"],
        &["symbol(s) not found"],
        &["unresolved external symbol"],
        &["duplicate symbol"],
        &["ld returned"],
        &["file not recognized"],
        &["first defined here"],
    ]),
    recognises,
    reduce,
};

const PROGRAMS: [&str; 20] = [
    "c++",
    "cc",
    "ccache",
    "clang",
    "clang++",
    "cmake",
    "configure",
    "g++",
    "gcc",
    "gfortran",
    "gmake",
    "ld",
    "make",
    "meson",
    "ninja",
    "nvcc",
    "rustc",
    "scons",
    "swiftc",
    "tcc",
];
/// Commands that a build shows before it runs them.
const COMMANDS: [&str; 24] = [
    "ar", "c++", "cc", "ccache", "cd", "clang", "clang++", "cmake", "cp", "g++", "gcc", "gfortran",
    "install", "ld", "libtool", "ln", "make", "mkdir", "mv", "nvcc", "ranlib", "rm", "sh", "strip",
];
/// What `make` tells of its steps.
const STEPS: [&str; 3] = [
    ": Entering directory ",
    ": Leaving directory ",
    ": Nothing to be done for ",
];
const ERROR_CHARS: usize = 300;
const MAX_REQUIRED: usize = 2;
/// Errors and verdicts that are kept, the first and the last.
const MAX_FACTS: usize = 4_096;
/// Lines of no known kind that are kept, the first and the last.
const MAX_OTHERS: usize = 30;
/// Finished targets that are kept, the last.
const MAX_TARGETS: usize = 2;

fn runs(input: &Input<'_>) -> bool {
    PROGRAMS.contains(&input.program())
}

fn recognises(input: &Input<'_>) -> Match {
    let mut judged = 0;
    let mut steps = 0;
    for text in input.beginning() {
        steps += usize::from(is_step(text) || is_verdict(text) || is_configuration(text));
        judged += usize::from(finding(text).is_some_and(|found| severity(found.message).is_some()));
        if steps >= 3 || judged >= 2 && steps >= 2 {
            return Match::Certain;
        }
    }
    // A failed link may be all that an output holds, and it comes last.
    let linked = || {
        let mut ending = input.ending();
        ending.any(|line| line.starts_with("collect2: error:"))
    };
    match (judged, steps) {
        (0, 0) if linked() => Match::Certain,
        (0, 0) => Match::No,
        _ => Match::Likely,
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut build = Build::new();
    for text in input.lines() {
        build.line(text);
    }
    build.write(input.target_chars(), output);
}

/// How bad a message of a compiler is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Severity {
    Error,
    Warning,
    Note,
}

fn severity(message: &str) -> Option<Severity> {
    let beginnings = [
        ("error: ", Severity::Error),
        ("fatal error: ", Severity::Error),
        ("internal compiler error: ", Severity::Error),
        ("Error: ", Severity::Error),
        ("warning: ", Severity::Warning),
        ("Warning: ", Severity::Warning),
        ("note: ", Severity::Note),
        ("remark: ", Severity::Note),
    ];
    beginnings
        .iter()
        .find(|(beginning, _)| message.starts_with(beginning))
        .map(|(_, severity)| *severity)
}

struct Build<'a> {
    /// Errors and verdicts in their order.
    facts: Ends<'a>,
    warnings: Findings<'a>,
    targets: Ends<'a>,
    others: Ends<'a>,
    /// Where the template of the next error was asked for.
    required: Vec<&'a str>,
    /// Whether one of the facts is that something failed.
    failed: bool,
    /// Inside the indented text below a message of `cmake`.
    in_cmake_message: bool,
    /// The last step that went well: all that a good run may say.
    step: Option<&'a str>,
}

impl<'a> Build<'a> {
    fn new() -> Self {
        Self {
            facts: Ends::new(MAX_FACTS / 2, MAX_FACTS / 2),
            warnings: Findings::exact(),
            targets: Ends::new(0, MAX_TARGETS),
            others: Ends::new(MAX_OTHERS / 2, MAX_OTHERS / 2),
            required: Vec::new(),
            failed: false,
            in_cmake_message: false,
            step: None,
        }
    }

    fn line(&mut self, text: &'a str) {
        let depth = indent(text);
        let Some(first) = text.as_bytes().get(depth) else {
            return;
        };
        if self.in_cmake_message && depth > 0 {
            self.fact(text.trim_start());
            return;
        }
        self.in_cmake_message = false;
        if *first == b'[' && is_step(text) {
            self.step(text);
        } else if depth > 0 && (is_included(text) || is_excerpt(text))
            || !first.is_ascii_graphic() && text.trim().is_empty()
        {
            // Where a message comes from.
        } else if let Some(found) = finding(text) {
            self.message(text, found);
        } else if is_excerpt(text) || is_context(text) || is_step(text) {
            self.step(text);
        } else if text.starts_with("CMake Error") || text.starts_with("CMake Warning") {
            self.fact(text);
            self.in_cmake_message = true;
        } else if is_verdict(text) || line::is_bad(text) {
            self.fact(text);
        } else if !is_configuration(text) && !is_command(text) {
            self.others.push(text);
        }
    }

    /// `make` repeats a failure for each folder that it leaves.
    fn fact(&mut self, text: &'a str) {
        if self.facts.last_ones(1).next() != Some(text) {
            self.failed = self.failed || line::is_bad(text) || is_linked(text);
            self.facts.push(text);
        }
    }

    fn step(&mut self, text: &'a str) {
        if text.starts_with('[') {
            self.step = Some(text);
            if after_count(text).is_some_and(|done| done.starts_with(" Built target")) {
                self.targets.push(text);
            }
        }
    }

    fn message(&mut self, text: &'a str, found: super::findings::Finding<'a>) {
        match severity(found.message) {
            Some(Severity::Error) => {
                for required in std::mem::take(&mut self.required) {
                    self.fact(required);
                }
                self.fact(text);
            }
            Some(Severity::Warning) => {
                self.required.clear();
                self.warnings.push(found);
            }
            Some(Severity::Note) => (),
            None if found.message.starts_with("required from here")
                || found.message.contains("required from here") =>
            {
                if self.required.len() < MAX_REQUIRED {
                    self.required.push(text);
                }
            }
            None if found.message.contains("required from")
                || found.message.starts_with("recursively") => {}
            None if is_linked(text) || line::is_bad(text) => self.fact(text),
            None => self.others.push(text),
        }
    }

    fn write(&mut self, target_chars: usize, output: &mut Output) {
        self.facts.write(Weight::Fact, ERROR_CHARS, output);
        if self.failed {
            output.failed();
        }
        self.warnings.write(target_chars, output);
        if self.facts.is_empty()
            && self.warnings.is_empty()
            && self.targets.is_empty()
            && self.others.is_empty()
        {
            if let Some(step) = self.step {
                output.fact(&shorten(step, ERROR_CHARS));
            }
            return;
        }
        self.others.write(Weight::Context, ERROR_CHARS, output);
        self.targets.write(Weight::Fact, ERROR_CHARS, output);
    }
}

/// `In file included from`, `In function`, `In instantiation of`: where a message lies.
fn is_context(text: &str) -> bool {
    text.starts_with("In file included from ")
        || is_included(text)
        || says_after_colon(text, &[": In ", ": At "])
        || text.trim_end().ends_with(" generated.")
        || is_path_head(text)
        || text.starts_with("<built-in>: note: ")
}

/// `  'add': events 1-4`: the head of steps that the analyzer draws beside the source.
fn is_path_head(text: &str) -> bool {
    if indent(text) == 0 {
        return false;
    }
    let (head, steps) = text.rsplit_once(": event").unwrap_or_default();
    let steps = steps.trim_start_matches(['s', ' ']);
    head.ends_with(['’', '\''])
        && !steps.is_empty()
        && steps
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// `    from src/a.h:3,` below `In file included from`.
fn is_included(text: &str) -> bool {
    text.trim_start().starts_with("from ")
}

/// A step of the build that went well: `[ 12%] Building`, `[3/10] Compiling`, `Entering directory`.
fn is_step(text: &str) -> bool {
    if text.starts_with('[') {
        return after_count(text).is_some();
    }
    says_after_colon(text, &STEPS)
        || text.starts_with("Consolidate compiler generated dependencies")
        || text.starts_with("Dependencies file ")
        || text.starts_with("Scanning dependencies of ")
        || text.ends_with(" is up to date.")
}

/// Whether one of `words`, which begin with a colon, stands in a line.
fn says_after_colon(text: &str, words: &[&str]) -> bool {
    memchr::memchr_iter(b':', text.as_bytes()).any(|at| {
        let rest = text.get(at..).unwrap_or_default();
        words.iter().any(|words| rest.starts_with(words))
    })
}

/// What follows the `[ 12%]` or `[3/10]` with which a line begins.
fn after_count(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('[')?;
    let counts = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'%' | b'/' | b' ');
    let count = rest.bytes().take_while(counts).count();
    rest.get(count..)?.strip_prefix(']').filter(|_| count > 0)
}

/// Lines that say how a build ended.
fn is_verdict(text: &str) -> bool {
    let made = text
        .strip_prefix("make")
        .or_else(|| text.strip_prefix("gmake"));
    made.is_some_and(|rest| rest.find_text(": *** ").is_some())
        || text.starts_with("ninja: ")
        || text.starts_with("FAILED: ")
        || text.starts_with("collect2: ")
        || text.starts_with("-- Configuring ")
        || text.starts_with("-- Generating ")
        || text.starts_with("-- Build files have been written")
        || is_linked(text)
}

/// What a linker says of symbols and libraries.
fn is_linked(text: &str) -> bool {
    LINKED.as_ref().is_some_and(|words| words.is_match(text))
}

static LINKED: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    any_of([
        "undefined reference to",
        "multiple definition of",
        "cannot find -l",
        "undefined symbol",
        "Undefined symbols for",
        "symbol(s) not found",
        "unresolved external symbol",
        "duplicate symbol",
        "ld returned",
        "file not recognized",
        "first defined here",
    ])
});

/// What `cmake` and `configure` found out about the machine.
fn is_configuration(text: &str) -> bool {
    text.starts_with("-- ") || text.starts_with("checking ") || text.starts_with("config.status: ")
}

/// A command that a build shows before it runs it.
fn is_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let program = first.rsplit('/').next().unwrap_or_default();
    COMMANDS.contains(&program)
        || COMMANDS.iter().any(|command| {
            // Cross compilers carry their target: `arm-none-eabi-gcc`, and their version: `gcc-12`.
            program
                .strip_suffix(command)
                .is_some_and(|rest| rest.ends_with('-'))
                || program.strip_prefix(command).is_some_and(|rest| {
                    rest.strip_prefix('-')
                        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
                })
        })
        || matches!(
            program,
            "CC" | "CXX" | "LD" | "AR" | "LINK" | "GEN" | "CCLD" | "CXXLD"
        )
}

#[cfg(test)]
mod tests;
