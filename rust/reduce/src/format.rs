//! Formats as data: which outputs a tool prints, and what kinds their lines have.

mod built_in;
mod patterns;
mod table;
mod users;

pub(crate) use built_in::built_in;
pub use built_in::built_in_formats;
pub(crate) use patterns::{Patterns, seen};
pub use users::{REGISTERED, register, registered, unregister};

use std::fmt;
use std::sync::OnceLock;

use regex::bytes::Regex;

use crate::source::Kind;
use ethos_registry_core::command::{git_subcommand, program};
use table::Table;

/// Longer files are rejected.
const MOST_BYTES: usize = 64 * 1024;
/// Names are shown on one line.
const MOST_NAME_BYTES: usize = 64;
/// The most commands, and the most marks, of one format.
const MOST_COMMANDS: usize = 32;
/// The most patterns of one key, and the most blocks.
const MOST_PATTERNS: usize = 256;
/// How many lines must match `signature` when neither the file nor the command states more.
const LEAST_LINES: usize = 1;
/// Other names of kinds, by what becomes of such a line.
const ALIASES: [(&str, Kind); 5] = [
    ("drop", Kind::Noise),
    ("fact", Kind::Verdict),
    ("keep", Kind::Row),
    ("count", Kind::Passed),
    ("frames", Kind::Frame),
];
/// Groups of a pattern that name parts of a finding.
const GROUPS: [&str; 4] = ["path", "code", "message", "name"];

/// An error in a format, on one line: the key, the value and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError(pub(crate) String);

impl fmt::Display for FormatError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for FormatError {}

/// What is done with outputs of a format when no policy gives a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Advice of `git status` goes.
    Status,
    /// Tests that passed go.
    Tests,
    /// Progress of an installation goes.
    Install,
}

/// Lines between two others.
#[derive(Debug)]
struct Block {
    begin: usize,
    end: Option<usize>,
    kind: Kind,
}

/// One output format, as described by a `format.toml`.
#[derive(Debug)]
pub struct Format {
    name: String,
    commands: Vec<Vec<String>>,
    marks: Vec<Vec<String>>,
    least_lines: usize,
    strategy: Option<Strategy>,
    signature: Vec<String>,
    /// Patterns with the key that they are from, in the order of the file.
    rules: Vec<(String, Kind, String)>,
    blocks: Vec<Block>,
    block_patterns: Vec<(String, String)>,
    /// Compiled at the first use, or by `check`.
    compiled: OnceLock<Result<Compiled, FormatError>>,
}

#[derive(Debug)]
struct Compiled {
    signature: Patterns,
    rules: Patterns,
    /// The pattern of each rule that has groups.
    groups: Vec<Option<Regex>>,
    blocks: Patterns,
}

/// What a format states about a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classified {
    pub(crate) kind: Kind,
    /// Spans of [`GROUPS`] within the line.
    pub(crate) groups: [Option<(usize, usize)>; 4],
}

impl Format {
    /// Reads a file; its patterns are checked by [`check`](Self::check).
    ///
    /// # Errors
    /// One line with the key and the reason.
    pub fn read(text: &str) -> Result<Self, FormatError> {
        if text.len() > MOST_BYTES {
            return Err(FormatError(format!(
                "{} bytes are too long for a format; at most {MOST_BYTES}",
                text.len()
            )));
        }
        let mut table = Table::read(text)?;
        let name = table.name("name", MOST_NAME_BYTES)?;
        let commands: Vec<Vec<String>> = table
            .texts("commands", MOST_COMMANDS)?
            .iter()
            .map(|command| command.split_whitespace().map(str::to_owned).collect())
            .collect();
        if commands.iter().any(Vec::is_empty) {
            return Err(FormatError("commands: an entry is empty".to_owned()));
        }
        let marks = table.groups("marks", MOST_COMMANDS)?;
        if marks.iter().flatten().any(String::is_empty) {
            return Err(FormatError("marks: an entry is empty".to_owned()));
        }
        let signature = table.texts("signature", MOST_PATTERNS)?;
        if commands.is_empty() && marks.is_empty() && signature.is_empty() {
            let reason =
                "give `commands`, `marks` or `signature`: nothing states whose output it is";
            return Err(FormatError(reason.to_owned()));
        }
        let least_lines = table.number("least_lines", 1_000)?.unwrap_or(LEAST_LINES);
        let strategy = table
            .text("strategy")?
            .map(|name| match name.as_str() {
                "status" => Ok(Strategy::Status),
                "tests" => Ok(Strategy::Tests),
                "install" => Ok(Strategy::Install),
                _ => Err(table.error("strategy", "expected status, tests or install")),
            })
            .transpose()?;
        let mut blocks = Vec::new();
        let mut block_patterns = Vec::new();
        for mut block in table.tables("block", MOST_PATTERNS)? {
            let path = block.path().to_owned();
            let mut pattern = |table: &mut Table, key| -> Result<Option<usize>, FormatError> {
                Ok(table.text(key)?.map(|pattern| {
                    block_patterns.push((format!("{path}{key}"), pattern));
                    block_patterns.len() - 1
                }))
            };
            let begin =
                pattern(&mut block, "begin")?.ok_or_else(|| block.error("begin", "missing"))?;
            let end = pattern(&mut block, "end")?;
            let kind = block.text("kind")?.unwrap_or_else(|| "detail".to_owned());
            let kind =
                kind_of(&kind).ok_or_else(|| block.error("kind", "is not a kind of line"))?;
            blocks.push(Block { begin, end, kind });
            block.end()?;
        }
        let mut rules = Vec::new();
        for key in table.rest() {
            let Some(kind) = kind_of(&key) else {
                continue;
            };
            for pattern in table.listed(&key, MOST_PATTERNS)? {
                rules.push((key.clone(), kind, pattern));
            }
        }
        table.end_with(
            Kind::NAMES
                .map(|(name, _)| name)
                .iter()
                .chain(&ALIASES.map(|(name, _)| name)),
        )?;
        if rules.is_empty() && blocks.is_empty() {
            return Err(FormatError(
                "no rule: give patterns of at least one kind".to_owned(),
            ));
        }
        Ok(Self {
            name,
            commands,
            marks,
            least_lines,
            strategy,
            signature,
            rules,
            blocks,
            block_patterns,
            compiled: OnceLock::new(),
        })
    }

    /// Checks that all patterns are valid and not too large.
    ///
    /// # Errors
    /// One line with the key, the pattern and the reason.
    pub fn check(&self) -> Result<(), FormatError> {
        self.compiled().map(|_| ()).map_err(Clone::clone)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The commands that print such output, with words separated by blanks.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        self.commands.iter().map(|words| words.join(" ")).collect()
    }

    pub(crate) fn strategy(&self) -> Option<Strategy> {
        self.strategy
    }

    pub(crate) fn signature(&self) -> &[String] {
        &self.signature
    }

    fn compiled(&self) -> Result<&Compiled, &FormatError> {
        self.compiled.get_or_init(|| self.compile()).as_ref()
    }

    fn compile(&self) -> Result<Compiled, FormatError> {
        let rules = self
            .rules
            .iter()
            .map(|(key, _, pattern)| (key.as_str(), pattern.as_str()));
        let groups = self.rules.iter().map(|(_, _, pattern)| {
            let has_group = GROUPS.iter().any(|name| {
                pattern.contains(&format!("(?P<{name}>"))
                    || pattern.contains(&format!("(?<{name}>"))
            });
            has_group.then(|| patterns::one(pattern)).flatten()
        });
        let blocks = self.block_patterns.iter();
        Ok(Compiled {
            signature: Patterns::new(
                self.signature
                    .iter()
                    .map(|pattern| ("signature", pattern.as_str())),
            )?,
            groups: groups.collect(),
            rules: Patterns::new(rules)?,
            blocks: Patterns::new(blocks.map(|(key, pattern)| (key.as_str(), pattern.as_str())))?,
        })
    }

    /// Whether one of its commands is among `commands`.
    pub(crate) fn runs(&self, commands: &[Vec<String>]) -> bool {
        self.commands
            .iter()
            .any(|own| commands.iter().any(|words| is_command(own, words)))
    }

    /// Whether all strings of one of its marks are in `text`.
    pub(crate) fn is_marked(&self, text: &str) -> bool {
        self.marks
            .iter()
            .any(|group| group.iter().all(|mark| has_mark(text, mark)))
    }

    /// Whether enough of `lines` match its signature; of one whose command runs, a line is enough.
    pub(crate) fn is_signed<'t>(&self, lines: impl Iterator<Item = &'t str>, runs: bool) -> bool {
        if self.signature.is_empty() {
            return runs;
        }
        let Ok(compiled) = self.compiled() else {
            return false;
        };
        let least = if runs { 1 } else { self.least_lines };
        let mut matching = lines.filter(|line| compiled.signature.any(line));
        least == 0 || matching.nth(least - 1).is_some()
    }

    pub(crate) fn least_lines(&self) -> usize {
        self.least_lines
    }

    /// What the first rule that matches states about a line.
    pub(crate) fn classify(&self, line: &str) -> Option<Classified> {
        let compiled = self.compiled().ok()?;
        let rule = compiled.rules.first(line)?;
        let (_, kind, _) = self.rules.get(rule)?;
        let mut found = Classified {
            kind: *kind,
            ..Classified::default()
        };
        if let Some(Some(pattern)) = compiled.groups.get(rule)
            && let Some(captures) = pattern.captures(seen(line))
        {
            found.groups = GROUPS.map(|name| {
                let group = captures.name(name)?;
                Some((group.start(), group.end()))
            });
        }
        Some(found)
    }

    /// The block that begins at a line.
    pub(crate) fn begins(&self, line: &str) -> Option<usize> {
        let compiled = self.compiled().ok().filter(|_| !self.blocks.is_empty())?;
        let found: Vec<usize> = compiled.blocks.all(line).collect();
        self.blocks
            .iter()
            .position(|block| found.contains(&block.begin))
    }

    /// Whether a block ends at a line, and the kind of its lines.
    pub(crate) fn block(&self, number: usize, line: &str) -> (bool, Kind) {
        let (Some(block), Ok(compiled)) = (self.blocks.get(number), self.compiled()) else {
            return (true, Kind::Plain);
        };
        let ends = match block.end {
            Some(end) => compiled.blocks.all(line).any(|found| found == end),
            None => line.trim().is_empty(),
        };
        (ends, block.kind)
    }
}

/// Whether a mark is in `text`; the beginning and the end of the text are those of a line too.
fn has_mark(text: &str, mark: &str) -> bool {
    text.contains(mark)
        || mark
            .strip_prefix('\n')
            .is_some_and(|rest| text.starts_with(rest))
        || mark
            .strip_suffix('\n')
            .is_some_and(|rest| text.ends_with(rest))
}

fn kind_of(name: &str) -> Option<Kind> {
    let mut known = Kind::NAMES.into_iter().chain(ALIASES);
    known
        .find(|(known, _)| *known == name)
        .map(|(_, kind)| kind)
}

/// Whether `words` run `command`: the program, then the words that are not options in order, and each option anywhere.
fn is_command(command: &[String], words: &[String]) -> bool {
    let Some((name, rest)) = command.split_first() else {
        return false;
    };
    if program(words) != Some(name) {
        return false;
    }
    let (options, mut names): (Vec<&String>, Vec<&String>) =
        rest.iter().partition(|word| word.starts_with('-'));
    let has = |option: &str| {
        words.iter().any(|word| {
            word.strip_prefix(option)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    if !options.iter().all(|option| has(option)) {
        return false;
    }
    // Options of git before its subcommand may have values.
    if name == "git" && !names.is_empty() {
        let subcommand = names.remove(0);
        return git_subcommand(words) == Some(subcommand.as_str())
            && names
                .iter()
                .all(|name| words.iter().any(|word| word == *name));
    }
    let mut given = words.iter().skip(1).filter(|word| !word.starts_with('-'));
    names.iter().all(|name| given.next() == Some(*name))
}
