//! The patterns of a format, compiled into one set.

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::format::FormatError;
use super::table::Table;
use crate::input::{Exit, Input};
use crate::line::fingerprint::fingerprint_after;
use ethos_registry_core::clean::beginning;

/// The most patterns of one format, and the longest pattern in bytes.
const MOST_PATTERNS: usize = 256;
const MOST_PATTERN_BYTES: usize = 1_000;
/// The memory limit of the compiled set, and of the matching state.
const MOST_COMPILED_BYTES: usize = 4 << 20;
const NEST_LIMIT: u32 = 50;
const MOST_SECTIONS: usize = 32;
const MOST_LINES: usize = 1_000;
/// Only this much of a longer line is matched.
const LINE_BYTES: usize = 4_096;
/// How many consecutive frames are kept.
const FRAMES: usize = 3;
/// The name of the group with the part that equal lines share.
const SAME: &str = "same";
/// How many of the last lines are kept.
const VERDICT_LINES: usize = 3;

/// What a rule does with the lines that its pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Such lines are among the first.
    First,
    /// Reports that the command failed; the line is kept.
    Failure,
    /// The line is kept.
    Fact,
    /// The line is kept the first time, unless another rule removes it.
    Once(usize),
    /// The line is kept if there is space.
    Keep,
    /// The section with this number begins.
    Begin(usize),
    /// The section with this number ends.
    End(usize),
    /// The line is removed.
    Drop,
    /// Lines of one shape are merged into one with a count.
    Count,
    /// Only the first of consecutive lines are kept.
    Frame,
}

/// For which exit status a pattern applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    Ok,
    Failed,
}

/// What happens to lines that no pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// They are kept.
    Keep,
    /// A few are kept, and those that report a problem.
    Fold,
    /// Only those that report a problem are kept.
    Drop,
}

/// A section of lines to keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) shown: usize,
    /// Whether a pattern ends it; otherwise an empty line does.
    pub(super) has_end: bool,
}

#[derive(Debug)]
struct Pattern {
    /// The key, for error messages.
    key: String,
    text: String,
    rule: Rule,
    when: When,
}

/// The patterns of a file before they are compiled.
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

/// Compiled patterns.
#[derive(Debug)]
pub(super) struct Rules {
    set: RegexSet,
    all: Vec<(Rule, When)>,
    /// The patterns that have a group `same`, by number.
    shapes: Vec<Option<Regex>>,
    has_first: bool,
    pub(super) sections: Vec<Section>,
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) frames: usize,
    pub(super) verdict_lines: usize,
    pub(super) rest: Rest,
    /// At most this many of the lines that no pattern matches are kept, the first and the last ones.
    pub(super) rest_shown: usize,
    /// Whether leading blanks are removed.
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

    /// The rules whose patterns match `line`, for a command that ended with `exit`.
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

    /// The part of `line` that it shares with other lines that the pattern with this number matches: the content of its
    /// group `same`, if it has one.
    pub(super) fn group(&self, number: usize, line: &str) -> Option<u64> {
        let pattern = self.shapes.get(number)?.as_ref()?;
        let found = pattern.captures(beginning(line, LINE_BYTES))?;
        let text = found.name(SAME)?.as_str();
        Some(fingerprint_after(number as u64, text.as_bytes()))
    }

    /// Whether the first lines of `input` match the patterns for first lines, if there are any.
    pub(super) fn begin(&self, input: &Input<'_>, least: usize) -> bool {
        let is_first = |line: &&str| self.of(line, input.exit).any(|rule| rule == Rule::First);
        !self.has_first || least == 0 || input.beginning().filter(is_first).nth(least - 1).is_some()
    }
}

/// The pattern, if it has the group `same`.
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

/// The last line of an error, which contains the reason.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.unwrap_or("it cannot be compiled").trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
