//! A recorded output of a command with the facts that its reduction must contain.
//!
//! A sample is one file, `samples/<what it shows>.txt` in the folder of its family:
//!
//! ```text
//! # Lines with a number sign are comments.
//! command: npm test
//! exit: 1
//! holds: FAIL test/cart.test.js\n● cart › totals
//! lacks: node_modules
//! --- reduced
//! the complete expected text, if there is one
//! --- output
//! the output of the command, unchanged, up to the end of the file
//! ```
//!
//! | key | value |
//! |---|---|
//! | `command`, `exit` | the command line and its exit code; without them they are unknown |
//! | `family` | the family that must reduce it; by default the one that the folder is named after |
//! | `part` | `yes`: only the family reads it, without the pipeline, as a part of a larger output |
//! | `recognised`, `failure` | of a part: `likely` or `certain`; whether it must report a failure (`yes`, `no`) |
//! | `budget` | the most characters of the text |
//! | `unchanged` | `yes`: the output must not be reduced |
//! | `holds`, `lacks`, `begins`, `ends` | a string of the reduced text; `\n` is the end of a line, `\\` a backslash |
//! | `once`, `times 3` | a string that occurs that number of times in the reduced text |
//! | `most_chars` | the longest permitted reduced text |
//! | `repeats` | `yes`: lines between `%repeat 1..40` and `%end` are repeated with their number as `{n}` |
//!
//! Every sample is reduced twice, and its result once more: the text must be the same, and shorter than the output.
//! `SAMPLE=jest/ cargo test -p ethos-registry-reduce samples` runs those whose path contains `jest/`; a failure shows
//! the lines that differ, or the reduced text.

use super::repeats;
use crate::family::Match;
use crate::input::Exit;

/// The line before the complete expected text.
const REDUCED: &str = "--- reduced\n";

/// The line before the output of the command.
const OUTPUT: &str = "--- output\n";

/// A fact about a reduced text.
pub(super) enum Fact {
    /// It begins with this.
    Begins(String),
    /// It ends with this.
    Ends(String),
    /// It contains this.
    Holds(String),
    /// It does not contain this.
    Lacks(String),
    /// It contains this a number of times.
    Times(usize, String),
    /// It has at most this many characters.
    MostChars(usize),
}

/// One recorded output.
pub(super) struct Sample {
    /// The output of the command.
    pub(super) output: String,
    /// The command, if it is known.
    pub(super) command: Option<String>,
    /// The exit status.
    pub(super) exit: Exit,
    /// The name of the family that must reduce it.
    pub(super) family: Option<String>,
    /// Whether only that family reads it, as a part of a larger output.
    pub(super) is_part: bool,
    /// How certain the family must be.
    pub(super) recognised: Option<Match>,
    /// Whether the family must report a failure.
    pub(super) failure: Option<bool>,
    /// The most characters of the text.
    pub(super) budget_chars: usize,
    /// Whether the output must not be reduced.
    pub(super) unchanged: bool,
    /// The complete expected text.
    pub(super) reduced: Option<String>,
    /// Facts about the text.
    pub(super) facts: Vec<Fact>,
}

impl Sample {
    /// Reads the sample from the `text` of a file; an error describes what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (head, output) = match text.strip_prefix(OUTPUT) {
            Some(output) => ("", output),
            None => text
                .split_once(&format!("\n{OUTPUT}"))
                .ok_or("has no line `--- output`")?,
        };
        let (head, reduced) = match head.split_once(REDUCED) {
            Some((head, reduced)) => (head, Some(reduced.to_owned())),
            None => (head, None),
        };
        let mut sample = Self {
            output: output.to_owned(),
            command: None,
            exit: Exit::Unknown,
            family: None,
            is_part: false,
            recognised: None,
            failure: None,
            budget_chars: usize::MAX,
            unchanged: false,
            reduced,
            facts: Vec::new(),
        };
        for line in head.lines() {
            if !line.is_empty() && !line.starts_with('#') {
                sample
                    .set(line)
                    .ok_or_else(|| format!("has a line that is not known: {line}"))?;
            }
        }
        let states_much = sample.reduced.is_some() || sample.unchanged || !sample.facts.is_empty();
        states_much
            .then_some(sample)
            .ok_or_else(|| "states no fact".to_owned())
    }

    /// Reads one header line; `None` when it is invalid.
    fn set(&mut self, line: &str) -> Option<()> {
        let (key, value) = line.split_once(": ")?;
        let text = || unescaped(value);
        match key {
            "command" => self.command = Some(value.to_owned()),
            "exit" if value == "0" => self.exit = Exit::Success,
            "exit" => {
                value.parse::<i32>().ok()?;
                self.exit = Exit::Failure;
            }
            "family" => self.family = Some(value.to_owned()),
            "part" => self.is_part = flag(value)?,
            "recognised" if value == "certain" => self.recognised = Some(Match::Certain),
            "recognised" if value == "likely" => self.recognised = Some(Match::Likely),
            "failure" => self.failure = Some(flag(value)?),
            "budget" => self.budget_chars = value.parse().ok()?,
            "unchanged" => self.unchanged = flag(value)?,
            "repeats" if flag(value)? => self.output = repeats::written_out(&self.output)?,
            "begins" => self.facts.push(Fact::Begins(text())),
            "ends" => self.facts.push(Fact::Ends(text())),
            "holds" => self.facts.push(Fact::Holds(text())),
            "lacks" => self.facts.push(Fact::Lacks(text())),
            "once" => self.facts.push(Fact::Times(1, text())),
            "most_chars" => self.facts.push(Fact::MostChars(value.parse().ok()?)),
            _ => {
                let times = key.strip_prefix("times ")?.parse().ok()?;
                self.facts.push(Fact::Times(times, text()));
            }
        }
        Some(())
    }
}

impl Fact {
    /// Whether the fact is true of `text`; `rows` is the text without markers of left-out lines.
    pub(super) fn is_true(&self, text: &str, rows: &str) -> bool {
        let in_one = |is_in: &dyn Fn(&str) -> bool| is_in(text) || is_in(rows);
        match self {
            Self::Begins(start) => in_one(&|text| text.starts_with(start)),
            Self::Ends(end) => in_one(&|text| text.trim_end_matches('\n').ends_with(end)),
            Self::Holds(part) => in_one(&|text| text.contains(part)),
            Self::Lacks(part) => !text.contains(part) && !rows.contains(part),
            Self::Times(times, part) => text.matches(part).count() == *times,
            Self::MostChars(most) => text.chars().count() <= *most,
        }
    }
}

impl std::fmt::Display for Fact {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Begins(start) => write!(formatter, "it does not begin with {start:?}"),
            Self::Ends(end) => write!(formatter, "it does not end with {end:?}"),
            Self::Holds(part) => write!(formatter, "it does not hold {part:?}"),
            Self::Lacks(part) => write!(formatter, "it holds {part:?}"),
            Self::Times(times, part) => write!(formatter, "it does not hold {part:?} {times}×"),
            Self::MostChars(most) => write!(formatter, "it has more than {most} characters"),
        }
    }
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// `value` with `\n` and `\\` replaced by what they stand for.
fn unescaped(value: &str) -> String {
    let mut text = String::new();
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match (character, characters.clone().next()) {
            ('\\', Some('n')) => text.push('\n'),
            ('\\', Some('\\')) => text.push('\\'),
            _ => {
                text.push(character);
                continue;
            }
        }
        characters.next();
    }
    text
}
