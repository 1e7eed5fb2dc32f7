//! Builds of container images by `BuildKit` with plain progress: `docker build`, `docker buildx`.
//!
//! The output of a failed step is reduced like a separate output of its command. Of the other steps, problems,
//! the last line and the names of images are kept; lines about loading, sending, caching and exporting are removed.

mod line;

use std::collections::BTreeMap;

use crate::family::{Family, Marks, Match};
use crate::input::{Exit, Input};
use crate::line::{is_bad, is_ruler, shorten};
use crate::nested;
use crate::output::Output;
use crate::rows::unknown::Unknown;
use ethos_registry_core::command::producer;
use line::{Line, step_line, timed};

pub(crate) const FAMILY: Family = Family {
    name: "buildkit",
    runs,
    marks: Marks::OneOf(&[
        &["\n#0", " DONE "],
        &["\n#0", " ERROR: "],
        &["\n#0", " CACHED"],
        &["\n#0", " CANCELED"],
    ]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 320;
/// How much of the end of the output of a failed step is read.
const STEP_BYTES: usize = 262_144;
/// How many steps are distinguished.
const STEPS: usize = 512;
/// How many bad lines of a successful step are shown.
const BAD_LINES: usize = 12;

fn runs(input: &Input<'_>) -> bool {
    let builds = |word: &String| matches!(word.as_str(), "bake" | "build" | "buildx" | "compose");
    matches!(
        input.program(),
        "buildctl" | "docker" | "nerdctl" | "podman"
    ) && input.words.iter().any(builds)
}

/// Certain when a step begins and a step ends.
fn recognises(input: &Input<'_>) -> Match {
    let (mut opened, mut ended) = (false, false);
    for line in input.beginning().chain(input.ending()) {
        match step_line(line) {
            Some((_, Line::Title(_))) => opened = true,
            Some((_, Line::Done | Line::Failed)) => ended = true,
            _ => {}
        }
        if opened && ended {
            return Match::Certain;
        }
    }
    Match::No
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader {
        steps: BTreeMap::new(),
        section: Section::Steps,
        told: false,
        error: "",
        unknown: Unknown::default(),
        output,
    };
    for line in input.lines().filter(|line| line.contains(" ERROR: ")) {
        if let Some((number, Line::Failed)) = step_line(line)
            && reader.steps.len() < STEPS
        {
            reader.steps.entry(number).or_default().failed = true;
        }
    }
    for line in input.lines() {
        reader.line(line);
    }
    reader.unknown.write(reader.output);
}

/// The step that is being read.
#[derive(Default)]
struct Step<'a> {
    title: &'a str,
    /// Whether it fails later.
    failed: bool,
    /// The end of its output, if it fails.
    printed: String,
    /// Its lines that report a problem and its last line, if it succeeds.
    bad: Vec<&'a str>,
    last: &'a str,
}

/// The section of a line without a step number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Steps,
    /// In the last lines of a failed step, which are repeated.
    Again,
    /// In the lines of the build file around the failed step.
    Excerpt,
}

struct Reader<'a, 'o> {
    steps: BTreeMap<u32, Step<'a>>,
    section: Section,
    /// Whether a failed step was shown, and why it failed.
    told: bool,
    error: &'a str,
    unknown: Unknown<'a>,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let Some((number, kind)) = step_line(line) else {
            return self.outside(line);
        };
        self.section = Section::Steps;
        if !self.steps.contains_key(&number) && self.steps.len() >= STEPS {
            return self.unknown.push(line);
        }
        let step = self.steps.entry(number).or_default();
        match kind {
            Line::Title(title) if step.title.is_empty() => step.title = title,
            Line::Title(_) | Line::Progress => {}
            Line::Said(said) if step.failed => step.print(said),
            Line::Said(said) => step.look_over(said),
            Line::Named => self.fact(line),
            Line::Done => self.done(number),
            Line::Failed => self.failed(number, line),
        }
    }

    fn done(&mut self, number: u32) {
        let Some(step) = self.steps.get_mut(&number) else {
            return;
        };
        let mut told = std::mem::take(&mut step.bad);
        let last = std::mem::take(&mut step.last);
        if told.last() != Some(&last) {
            told.push(last);
        }
        let title = step.title;
        if !last.is_empty() {
            self.context(title);
            for line in told {
                self.context(line);
            }
        }
    }

    fn failed(&mut self, number: u32, line: &'a str) {
        self.output.failed();
        self.error = line.split_once(" ERROR: ").map_or("", |(_, error)| error);
        let Some(step) = self.steps.get_mut(&number) else {
            return self.fact(line);
        };
        let printed = std::mem::take(&mut step.printed);
        let title = step.title;
        self.fact(title);
        let command = title
            .split_once(" RUN ")
            .map_or("", |(_, run)| options_cut(run));
        let words = producer(command).unwrap_or_default();
        let input = Input {
            text: &printed,
            words: &words,
            exit: Exit::Failure,
        };
        if nested::reduce(&input, &FAMILY, self.output).is_none() {
            for line in printed.lines().filter(|line| !line.trim().is_empty()) {
                self.fact(line);
            }
        }
        self.told |= !printed.trim().is_empty();
        self.fact(line);
    }

    fn outside(&mut self, line: &'a str) {
        let said = line.trim();
        if said.is_empty() {
            return;
        }
        if is_ruler(said) {
            self.section = match self.section {
                Section::Excerpt | Section::Again => Section::Steps,
                Section::Steps if said.len() > 6 => Section::Excerpt,
                Section::Steps => Section::Again,
            };
            return;
        }
        match self.section {
            Section::Again if said.starts_with("> [") => {}
            Section::Again if self.told => {}
            Section::Again => self.fact(timed(line).unwrap_or(line)),
            Section::Excerpt if !said.contains(" >>> ") => {}
            Section::Excerpt => self.fact(said),
            Section::Steps if is_place(said) || said.starts_with("ERROR: ") => {
                if said.starts_with("ERROR: ") {
                    self.output.failed();
                }
                self.fact(said);
            }
            // Older versions repeat it unchanged.
            Section::Steps if said == self.error => {}
            Section::Steps => self.unknown.push(line),
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

impl<'a> Step<'a> {
    /// Reads a line of output that need not be examined closely.
    fn look_over(&mut self, said: &'a str) {
        if said.trim().is_empty() {
            return;
        }
        self.last = said;
        if self.bad.len() < BAD_LINES && is_bad(said) {
            self.bad.push(said);
        }
    }

    /// Reads a line that the step printed; if there are many, the last ones are kept.
    fn print(&mut self, said: &str) {
        self.printed.push_str(said);
        self.printed.push('\n');
        if self.printed.len() > 2 * STEP_BYTES {
            let from = self.printed.len().saturating_sub(STEP_BYTES);
            let bytes = self.printed.as_bytes().get(from..).unwrap_or_default();
            let end = memchr::memchr(b'\n', bytes).map_or(0, |at| from + at + 1);
            self.printed.drain(..end);
        }
    }
}

/// The command in `--mount=type=cache,target=/root make all`: `make all`.
fn options_cut(run: &str) -> &str {
    let mut rest = run.trim_start();
    while rest.starts_with("--") {
        rest = rest
            .split_once(' ')
            .map_or("", |(_, after)| after.trim_start());
    }
    rest
}

/// `Dockerfile:5`, `docker/api.Dockerfile:12`.
fn is_place(said: &str) -> bool {
    said.rsplit_once(':').is_some_and(|(path, line)| {
        !path.contains(' ') && !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests;
