//! C and C++ builds: `gcc`, `clang`, `make`, `cmake`, `ninja`, link errors.

mod cmake;
mod folder;
mod forms;
mod group;
mod linked;
mod severity;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::{self, indent, shorten};
use crate::output::{Output, Weight};
use crate::parsers::findings::diagnostics::{finding, is_asked_for, is_caret, is_excerpt};
use crate::parsers::findings::finding::Findings;
use crate::parsers::findings::finding::ends::Ends;
use cmake::{Cmake, Told};
use ethos_registry_core::find_text::FindText as _;
use folder::Folders;
use forms::{
    after_count, documented, is_command, is_configuration, is_context, is_ended, is_included,
    is_last_step, is_linked, is_scope, is_step, is_verdict,
};
use group::{Group, Grouped};
use linked::References;
use severity::{Severity, severity};

pub(crate) const FAMILY: Family = Family {
    name: "compiler",
    runs,
    marks: Marks::OneOf(&[
        &["\n["],
        &[": Entering directory "],
        &[": Leaving directory "],
        &[": In function "],
        &[": In member function "],
        &["\nIn file included from "],
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
        &["\nThe Meson build"],
        &["\nSource dir: "],
        &["\nBuild dir: "],
        &["\nHost machine cpu"],
        &["\nFound pkg-config: "],
        &["\nFound CMake: "],
        &["\nGenerating targets: "],
        &["\nWriting build.ninja: "],
        &["calculating backend command"],
        &[" for the host machine: "],
        &[" for the build machine: "],
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
const ERROR_CHARS: usize = 300;
const MAX_REQUIRED: usize = 2;
/// How many errors and verdicts are kept, the first and the last.
const MAX_FACTS: usize = 4_096;
/// How many unrecognised lines are kept, the first and the last.
const MAX_OTHERS: usize = 30;
/// How many of the last finished targets are kept.
const MAX_TARGETS: usize = 2;
/// The prefix with which `configure` reports a file that it wrote.
const CREATED: &str = "config.status: creating ";

fn runs(input: &Input<'_>) -> bool {
    PROGRAMS.contains(&input.program())
}

/// Whether a dry run was requested, so that the commands are the result.
fn is_dry_run(input: &Input<'_>) -> bool {
    const OPTIONS: [&str; 4] = ["-n", "--dry-run", "--just-print", "--recon"];
    matches!(input.program(), "make" | "gmake" | "ninja")
        && OPTIONS.iter().any(|option| input.has(option))
}

fn recognises(input: &Input<'_>) -> Match {
    if is_dry_run(input) {
        return Match::No;
    }
    let mut judged = 0;
    let mut steps = 0;
    // Searching all lines at once is faster than searching each, and most inputs contain nothing of it.
    let may_link = is_linked(input.first_part());
    for text in input.beginning() {
        if text == "--" {
            // Comments of a database dump begin like messages of `cmake`.
            return Match::No;
        }
        let is_step = is_step(text)
            || is_ended(text)
            || is_configuration(text)
            || is_scope(text)
            || may_link && is_linked(text);
        steps += usize::from(is_step);
        judged += usize::from(finding(text).is_some_and(|found| severity(found.message).is_some()));
        if steps >= 3 || judged >= 2 && steps >= 2 {
            return Match::Certain;
        }
    }
    // A link error may be all that an output contains, and it comes last.
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

/// The lines below a message of a compiler that does not draw a line next to the source.
#[derive(Clone, Copy)]
enum Below<'a> {
    Nothing,
    /// The next line may be the source.
    Message,
    /// This line is the source if the next one points into it.
    Source(&'a str),
    /// The next line may be a suggested replacement.
    Pointer,
}

/// Whether `line` is a step of a build that succeeded, or its command with options.
pub(crate) fn compiles(line: &str) -> bool {
    line.starts_with('[') && is_step(line) || line.has_text(" -") && is_command(line)
}

struct Build<'a> {
    /// Errors and verdicts in order.
    facts: Ends<'a>,
    warnings: Findings<'a>,
    targets: Ends<'a>,
    others: Ends<'a>,
    /// Where the template of the next error was instantiated.
    required: Vec<&'a str>,
    /// The file of the last error, and the last note about where its template was instantiated.
    asked: (&'a str, Option<&'a str>),
    /// Whether one of the facts is a failure.
    failed: bool,
    folders: Folders<'a>,
    group: Group,
    references: References<'a>,
    cmake: Cmake,
    /// What the lines below a message may show.
    below: Below<'a>,
    /// Files that `configure` wrote at the end.
    created: String,
    /// The last step that succeeded: a successful run may print nothing else.
    step: Option<&'a str>,
}

impl<'a> Build<'a> {
    fn new() -> Self {
        Self {
            facts: Ends::new(MAX_FACTS / 2, MAX_FACTS / 2),
            warnings: Findings::warnings(),
            targets: Ends::new(0, MAX_TARGETS),
            others: Ends::new(MAX_OTHERS / 2, MAX_OTHERS / 2),
            required: Vec::new(),
            asked: ("", None),
            failed: false,
            folders: Folders::default(),
            group: Group::default(),
            references: References::default(),
            cmake: Cmake::default(),
            below: Below::Nothing,
            created: String::new(),
            step: None,
        }
    }

    fn line(&mut self, text: &'a str) {
        self.references.next_line();
        let depth = indent(text);
        match self.cmake.line(text, depth) {
            Told::Other => {}
            Told::Fact(said) => return self.fact(said),
            Told::Feature(name) => return self.others.push(name),
            Told::Nothing => return,
        }
        let Some(first) = text.as_bytes().get(depth) else {
            return;
        };
        if depth > 0 && matches!(first, b'|' | b'+') {
            match self.group.line(text) {
                Grouped::Other => {}
                Grouped::Exception => return self.fact(text),
                Grouped::Place => return self.others.push(text),
                Grouped::Nothing => return,
            }
        } else {
            self.group.end();
        }
        let below = std::mem::replace(&mut self.below, Below::Nothing);
        if is_caret(text) {
            self.below = Below::Pointer;
            return;
        }
        if let Below::Source(source) = below {
            self.unknown(source);
        }
        if *first == b'[' && is_step(text) {
            self.step(text);
        } else if depth > 0 && (is_included(text) || is_excerpt(text))
            || !first.is_ascii_graphic() && text.trim().is_empty()
        {
            // Where a message comes from.
        } else if let Some(found) = finding(text).or_else(|| documented(text)) {
            self.message(text, found);
            self.below = Below::Message;
        } else if is_excerpt(text) || is_context(text) || is_step(text) {
            if text.ends_with('\'') {
                self.folders.line(text);
            }
            self.step(text);
        } else if is_verdict(text) {
            self.fact(text);
        } else if matches!(below, Below::Message) {
            self.below = Below::Source(text);
        } else if !matches!(below, Below::Pointer) || !text.starts_with(' ') && !text.ends_with(' ')
        {
            self.unknown(text);
        }
    }

    fn unknown(&mut self, text: &'a str) {
        if line::is_bad(text) {
            self.fact(text);
        } else if let Some(file) = text.strip_prefix(CREATED) {
            if self.created.len() < ERROR_CHARS {
                self.created.push(' ');
                self.created.push_str(file.trim_end());
            }
        } else if !is_configuration(text) && !is_command(text) {
            self.others.push(text);
        }
    }

    /// Adds a fact. `make` repeats a failure for each folder that it leaves.
    fn fact(&mut self, text: &'a str) {
        self.end_error();
        if self.facts.last_ones(1).next() != Some(text) && !self.references.take(text) {
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

    fn message(&mut self, text: &'a str, found: crate::parsers::findings::finding::Finding<'a>) {
        match severity(found.message) {
            Some(Severity::Error) => {
                if let Some(entered) = self.folders.untold(found.path) {
                    self.facts.push(entered);
                }
                for required in std::mem::take(&mut self.required) {
                    self.fact(required);
                }
                self.fact(text);
                self.asked = (found.path, None);
            }
            Some(Severity::Warning) => {
                self.end_error();
                self.required.clear();
                self.warnings.push(found);
            }
            Some(Severity::Note) => {
                let (path, asked) = &mut self.asked;
                if !path.is_empty() && is_asked_for(found.message) {
                    let tells = *path != found.path || !path.has_text("/include/");
                    *asked = tells.then_some(text);
                }
            }
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

    /// Adds where the template of the last error was instantiated, if that is not in its header.
    fn end_error(&mut self) {
        if let (_, Some(asked)) = std::mem::take(&mut self.asked) {
            self.facts.push(asked);
        }
    }

    fn write(&mut self, target_chars: usize, output: &mut Output) {
        if let Below::Source(last) = self.below {
            self.unknown(last);
        }
        self.end_error();
        self.facts
            .write_with(Weight::Fact, ERROR_CHARS, output, |line, output| {
                if let Some((row, lines)) = self.references.row(line) {
                    output.summary(&row, lines);
                }
            });
        if self.failed {
            output.failed();
        }
        self.warnings.write(target_chars, output);
        if self.facts.is_empty()
            && self.warnings.is_empty()
            && self.targets.is_empty()
            && self.others.is_empty()
            && self.created.is_empty()
        {
            if let Some(step) = self.step {
                output.fact(&shorten(step, ERROR_CHARS));
            }
            return;
        }
        self.others.write(Weight::Context, ERROR_CHARS, output);
        if !self.created.is_empty() {
            let created = format!("{}{}", CREATED.trim_end(), self.created);
            output.fact(&shorten(&created, ERROR_CHARS));
        }
        self.targets.write(Weight::Fact, ERROR_CHARS, output);
        // It shows that the build was completed.
        if let Some(last) = self.step.filter(|step| is_last_step(step)) {
            output.fact(&shorten(last, ERROR_CHARS));
        }
    }
}

#[cfg(test)]
mod tests;
