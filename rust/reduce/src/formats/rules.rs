//! The patterns of a format, compiled into one set.

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::format::FormatError;
use super::table::Table;
use crate::input::{Exit, Input};
use crate::line::fingerprint::fingerprint_after;
use ethos_registry_core::clean::beginning;

/// Patterns of one format, and bytes of one of them.
const MOST_PATTERNS: usize = 256;
const MOST_PATTERN_BYTES: usize = 1_000;
/// Memory of the compiled set, and of what matching keeps.
const MOST_COMPILED_BYTES: usize = 4 << 20;
const NEST_LIMIT: u32 = 50;
const MOST_SECTIONS: usize = 32;
const MOST_LINES: usize = 1_000;
/// Of a longer line only so much is matched.
const LINE_BYTES: usize = 4_096;
/// Frames that stay of those that follow each other.
const FRAMES: usize = 3;
/// The name of the group that holds what lines have in common.
const SAME: &str = "same";
/// Last lines that stay.
const VERDICT_LINES: usize = 3;

/// What a pattern states of the lines that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Such lines are among the first.
    First,
    /// It states that the command failed, and stays.
    Failure,
    /// It stays.
    Fact,
    /// It stays the first time, unless it goes.
    Once(usize),
    /// It stays where there is room.
    Keep,
    /// The section of that number begins.
    Begin(usize),
    /// The section of that number has ended.
    End(usize),
    /// It goes.
    Drop,
    /// Lines of one shape become one, with their number.
    Count,
    /// Of those that follow each other only the first stay.
    Frame,
}

/// When a pattern counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    Ok,
    Failed,
}

/// What becomes of lines that no pattern knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// They stay.
    Keep,
    /// A few stay, and those that describe something bad.
    Fold,
    /// Only those stay that describe something bad.
    Drop,
}

/// Lines of a section that stay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) shown: usize,
    /// Whether a line ends it; else an empty one does.
    pub(super) has_end: bool,
}

#[derive(Debug)]
struct Pattern {
    /// The key, for messages.
    key: String,
    text: String,
    rule: Rule,
    when: When,
}

/// The patterns of a file, not yet compiled.
#[derive(Debug)]
pub(super) struct Patterns {
    all: Vec<Pattern>,
    sections: Vec<Section>,
    before: usize,
    after: usize,
    frames: usize,
    verdict_lines: usize,
    rest: Rest,
    rest_shown: usize,
    trim: bool,
}

impl Patterns {
    pub(super) fn read(table: &mut Table) -> Result<Self, FormatError> {
        let mut all = Vec::new();
        add(table, "lines", Rule::First, When::Always, &mut all)?;
        add_lists(table, When::Always, &mut all)?;
        let mut sections = Vec::new();
        for (number, mut section) in (0..).zip(table.tables("section", MOST_SECTIONS)?) {
            add(
                &mut section,
                "begin",
                Rule::Begin(number),
                When::Always,
                &mut all,
            )?;
            if all
                .last()
                .is_none_or(|last| last.rule != Rule::Begin(number))
            {
                return Err(section.error("begin", "missing"));
            }
            let before = all.len();
            add(
                &mut section,
                "end",
                Rule::End(number),
                When::Always,
                &mut all,
            )?;
            sections.push(Section {
                shown: section.number("show", usize::MAX)?.unwrap_or(usize::MAX),
                has_end: all.len() > before,
            });
            section.end()?;
        }
        let before = table.number("before", 20)?.unwrap_or(0);
        let after = table.number("after", 20)?.unwrap_or(0);
        let frames = table.number("frames_shown", MOST_LINES)?.unwrap_or(FRAMES);
        let verdict_lines = table.number("verdict_lines", MOST_LINES)?;
        let rest = match table.text("rest")?.as_deref() {
            None | Some("keep") => Rest::Keep,
            Some("fold") => Rest::Fold,
            Some("drop") => Rest::Drop,
            Some(other) => {
                let reason = format!("expected \"keep\", \"fold\" or \"drop\", got {other:?}");
                return Err(table.error("rest", &reason));
            }
        };
        let rest_shown = table.number("rest_shown", usize::MAX)?;
        let trim = table.flag("trim")?;
        for (key, when) in [("ok", When::Ok), ("failed", When::Failed)] {
            let mut inner = table.table(key)?;
            add_lists(&mut inner, when, &mut all)?;
            inner.end()?;
        }
        if all.len() > MOST_PATTERNS {
            let reason = format!("{} patterns, at most {MOST_PATTERNS}", all.len());
            return Err(FormatError(reason));
        }
        if all.iter().all(|pattern| pattern.rule == Rule::First)
            && rest == Rest::Keep
            && rest_shown.is_none()
        {
            return Err(FormatError(
                "no rule: give `drop`, `keep`, `fact`, `failure`, `count`, `frames` or `[[section]]`"
                    .to_owned(),
            ));
        }
        Ok(Self {
            all,
            sections,
            before,
            after,
            frames,
            verdict_lines: verdict_lines.unwrap_or(VERDICT_LINES),
            rest,
            rest_shown: rest_shown.unwrap_or(usize::MAX),
            trim,
        })
    }
}

fn add_lists(table: &mut Table, when: When, all: &mut Vec<Pattern>) -> Result<(), FormatError> {
    for (key, rule) in [
        ("failure", Rule::Failure),
        ("fact", Rule::Fact),
        ("once", Rule::Once(0)),
        ("keep", Rule::Keep),
        ("drop", Rule::Drop),
        ("count", Rule::Count),
        ("frames", Rule::Frame),
    ] {
        add(table, key, rule, when, all)?;
    }
    Ok(())
}

fn add(
    table: &mut Table,
    key: &'static str,
    rule: Rule,
    when: When,
    all: &mut Vec<Pattern>,
) -> Result<(), FormatError> {
    let texts = table.texts(key, MOST_PATTERNS)?;
    for text in texts {
        if text.is_empty() || text.len() > MOST_PATTERN_BYTES {
            let reason = format!(
                "a pattern has 1 to {MOST_PATTERN_BYTES} bytes, got {}",
                text.len()
            );
            return Err(table.error(key, &reason));
        }
        all.push(Pattern {
            key: format!("{}{key}", table.path()),
            text,
            rule,
            when,
        });
    }
    Ok(())
}

/// Patterns that are ready for lines.
#[derive(Debug)]
pub(super) struct Rules {
    set: RegexSet,
    all: Vec<(Rule, When)>,
    /// Of patterns whose group `same` is what their lines have in common.
    shapes: Vec<Option<Regex>>,
    has_first: bool,
    pub(super) sections: Vec<Section>,
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) frames: usize,
    pub(super) verdict_lines: usize,
    pub(super) rest: Rest,
    /// Of lines that no pattern knows this number stays at most, the first and the last ones.
    pub(super) rest_shown: usize,
    /// Whether blanks before a line go.
    pub(super) trim: bool,
}

impl Rules {
    pub(super) fn compile(patterns: &Patterns) -> Result<Self, FormatError> {
        let texts = || patterns.all.iter().map(|pattern| pattern.text.as_str());
        let set = builder(texts()).build().map_err(|error| {
            let single = patterns.all.iter().find_map(|pattern| {
                let error = builder([pattern.text.as_str()]).build().err()?;
                let text = &pattern.text;
                let reason = reason(&error);
                Some(format!(
                    "{}: {text:?} is not a pattern: {reason}",
                    pattern.key
                ))
            });
            FormatError(
                single.unwrap_or_else(|| format!("all patterns together: {}", reason(&error))),
            )
        })?;
        let mut all = Vec::with_capacity(patterns.all.len());
        let mut shapes = Vec::new();
        for pattern in &patterns.all {
            let rule = match pattern.rule {
                Rule::Once(_) => {
                    shapes.push(shape(&pattern.text));
                    Rule::Once(shapes.len() - 1)
                }
                rule => rule,
            };
            all.push((rule, pattern.when));
        }
        Ok(Self {
            set,
            shapes,
            has_first: all.iter().any(|(rule, _)| *rule == Rule::First),
            all,
            sections: patterns.sections.clone(),
            before: patterns.before,
            after: patterns.after,
            frames: patterns.frames,
            verdict_lines: patterns.verdict_lines,
            rest: patterns.rest,
            rest_shown: patterns.rest_shown,
            trim: patterns.trim,
        })
    }

    /// The rules whose patterns match `line` of a command that ended so.
    pub(super) fn of<'r>(&'r self, line: &str, exit: Exit) -> impl Iterator<Item = Rule> + use<'r> {
        let matches = self.set.matches(beginning(line, LINE_BYTES));
        self.all
            .iter()
            .enumerate()
            .filter(move |(number, (_, when))| {
                let counts = match when {
                    When::Always => true,
                    When::Ok => exit == Exit::Success,
                    When::Failed => exit != Exit::Success,
                };
                counts && matches.matched(*number)
            })
            .map(|(_, (rule, _))| *rule)
    }

    /// What a line has in common with others that the pattern of that number matches: what its group `same` holds, if
    /// it has one.
    pub(super) fn group(&self, number: usize, line: &str) -> Option<u64> {
        let pattern = self.shapes.get(number)?.as_ref()?;
        let found = pattern.captures(beginning(line, LINE_BYTES))?;
        let text = found.name(SAME)?.as_str();
        Some(fingerprint_after(number as u64, text.as_bytes()))
    }

    /// Whether the first lines of `input` are of the format, as far as a pattern states how they are.
    pub(super) fn begin(&self, input: &Input<'_>, least: usize) -> bool {
        let is_first = |line: &&str| self.of(line, input.exit).any(|rule| rule == Rule::First);
        !self.has_first || least == 0 || input.beginning().filter(is_first).nth(least - 1).is_some()
    }
}

/// The pattern, if it has a group of the name.
fn shape(text: &str) -> Option<Regex> {
    let pattern = RegexBuilder::new(text)
        .size_limit(MOST_COMPILED_BYTES)
        .dfa_size_limit(MOST_COMPILED_BYTES)
        .nest_limit(NEST_LIMIT)
        .build();
    let names_it = |pattern: &Regex| pattern.capture_names().flatten().any(|name| name == SAME);
    pattern.ok().filter(names_it)
}

fn builder<'t>(texts: impl IntoIterator<Item = &'t str>) -> RegexSetBuilder {
    let mut builder = RegexSetBuilder::new(texts);
    builder
        .size_limit(MOST_COMPILED_BYTES)
        .dfa_size_limit(MOST_COMPILED_BYTES)
        .nest_limit(NEST_LIMIT);
    builder
}

/// The last line of an error, which states the reason.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.unwrap_or("it cannot be compiled").trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
