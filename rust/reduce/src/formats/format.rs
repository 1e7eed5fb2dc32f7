//! A format: whose outputs it knows, and its rules.

use std::fmt;
use std::sync::OnceLock;

use super::marks::Marks;
use super::rules::{Patterns, Rules};
use super::table::Table;
use crate::family::Match;
use crate::input::Input;
use crate::output::Output;
use ethos_registry_core::command::git_subcommand;

/// A longer file is not a format.
pub(super) const MOST_BYTES: usize = 64 * 1024;
/// Names are shown in one line.
const MOST_NAME_BYTES: usize = 64;
/// Commands and marks of one format.
const MOST_COMMANDS: usize = 32;
/// This number of lines of the beginning has to match `lines` when the file does not state how many.
const LEAST_LINES: usize = 2;

/// What is wrong with a format, in one line: the key, the value and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError(pub(super) String);

impl fmt::Display for FormatError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for FormatError {}

/// One kind of output, as a `format.toml` states it.
#[derive(Debug)]
pub struct Format {
    name: String,
    commands: Vec<Vec<String>>,
    marks: Marks,
    least_lines: usize,
    patterns: Patterns,
    /// Compiled when they are first used; of a format that was checked they are there.
    rules: OnceLock<Result<Rules, FormatError>>,
}

impl Format {
    /// Reads a file; its patterns are checked by [`check`](Self::check).
    ///
    /// # Errors
    /// One line: what is wrong with which key.
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

    /// Whether all patterns are patterns, and not too large.
    ///
    /// # Errors
    /// One line: the key, the pattern and the reason.
    pub fn check(&self) -> Result<(), FormatError> {
        self.rules().map(|_| ()).map_err(Clone::clone)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The commands that print such outputs, words joined by blanks.
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

    /// Whether `input` is such an output.
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

    /// Writes what the rules leave of `input`; nothing when none of them knows a line.
    pub(super) fn reduce(&self, input: &Input<'_>, output: &mut Output) {
        if let Ok(rules) = self.rules() {
            super::reduce::reduce(rules, input, output);
        }
    }
}

/// Whether the words of `command` are those of `input`: the program, then the words that are not options in their
/// order, and each option anywhere.
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
