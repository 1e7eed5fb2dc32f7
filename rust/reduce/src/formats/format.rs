//! A format: which outputs it recognises, and its rules.

use std::fmt;
use std::sync::OnceLock;

use super::marks::Marks;
use super::rules::{Patterns, Rules};
use super::table::Table;
use crate::family::Match;
use crate::input::Input;
use crate::output::Output;
use ethos_registry_core::command::git_subcommand;

/// Longer files are rejected.
pub(super) const MOST_BYTES: usize = 64 * 1024;
/// Names are shown on one line.
const MOST_NAME_BYTES: usize = 64;
/// The most commands, and the most marks, of one format.
const MOST_COMMANDS: usize = 32;
/// How many of the first lines must match `lines` when the file does not set a number.
const LEAST_LINES: usize = 2;

/// An error in a format, on one line: the key, the value and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError(pub(super) String);

impl fmt::Display for FormatError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for FormatError {}

/// One output format, as described by a `format.toml`.
#[derive(Debug)]
pub struct Format {
    name: String,
    commands: Vec<Vec<String>>,
    marks: Marks,
    least_lines: usize,
    patterns: Patterns,
    /// Compiled at the first use, or by `check`.
    rules: OnceLock<Result<Rules, FormatError>>,
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
        let marks = Marks::of(table.groups("marks", MOST_COMMANDS)?)?;
        if commands.is_empty() && marks.is_empty() {
            return Err(FormatError(
                "give `commands`, `marks`, or both: nothing states whose output it is".to_owned(),
            ));
        }
        let least_lines = table.number("least_lines", 1_000)?.unwrap_or(LEAST_LINES);
        let patterns = Patterns::read(&mut table)?;
        table.end()?;
        Ok(Self {
            name,
            commands,
            marks,
            least_lines,
            patterns,
            rules: OnceLock::new(),
        })
    }

    /// Checks that all patterns are valid and not too large.
    ///
    /// # Errors
    /// One line with the key, the pattern and the reason.
    pub fn check(&self) -> Result<(), FormatError> {
        self.rules().map(|_| ()).map_err(Clone::clone)
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

    pub(super) fn marks(&self) -> &[Vec<String>] {
        self.marks.groups()
    }

    fn rules(&self) -> Result<&Rules, &FormatError> {
        self.rules
            .get_or_init(|| Rules::compile(&self.patterns))
            .as_ref()
    }

    /// Whether the command of `input` is one of the format's.
    pub(super) fn runs(&self, input: &Input<'_>) -> bool {
        self.commands
            .iter()
            .any(|command| is_command(command, input))
    }

    /// Whether `input` is such output.
    pub(super) fn recognises(&self, input: &Input<'_>) -> Match {
        let is_marked = !self.marks.is_empty() && self.marks.are_in(input);
        if !is_marked && !self.runs(input) {
            return Match::No;
        }
        let Ok(rules) = self.rules() else {
            return Match::No;
        };
        if !rules.begin(input, self.least_lines) {
            Match::No
        } else if is_marked {
            Match::Certain
        } else {
            Match::Likely
        }
    }

    /// Writes the reduction of `input`; nothing when no rule matches a line.
    pub(super) fn reduce(&self, input: &Input<'_>, output: &mut Output) {
        if let Ok(rules) = self.rules() {
            super::reduce::reduce(rules, input, output);
        }
    }
}

/// Whether `command` matches the command of `input`: the program, then the words that are not options in order, and
/// each option anywhere.
fn is_command(command: &[String], input: &Input<'_>) -> bool {
    let Some((program, rest)) = command.split_first() else {
        return false;
    };
    if program != input.program() {
        return false;
    }
    let (options, mut names): (Vec<&String>, Vec<&String>) =
        rest.iter().partition(|word| word.starts_with('-'));
    if !options.iter().all(|option| input.has(option)) {
        return false;
    }
    // Options of git before its subcommand may have values.
    if program == "git" && !names.is_empty() {
        let subcommand = names.remove(0);
        if git_subcommand(input.words) != Some(subcommand.as_str()) {
            return false;
        }
        return names
            .iter()
            .all(|name| input.words.iter().any(|word| word == *name));
    }
    let words = input.words.iter().skip(1);
    let mut given = words.filter(|word| !word.starts_with('-'));
    names.iter().all(|name| given.next() == Some(*name))
}
