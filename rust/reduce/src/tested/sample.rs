//! A recorded output of a command with the facts that have to be in what is made of it.
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
//! the whole text that is expected, if it is stated
//! --- output
//! what the command printed, exactly as it is, up to the end of the file
//! ```
//!
//! | key | value |
//! |---|---|
//! | `command`, `exit` | the command line and its exit code; without them nothing is known of it |
//! | `family` | the family that has to reduce it; without it the one that the folder is named after |
//! | `part` | `yes`: the family alone reads it, without the pipeline, as a part of a larger output |
//! | `recognised`, `failure` | of a part: `likely` or `certain`; whether a failure has to be seen (`yes`, `no`) |
//! | `budget` | how many characters there are for the text |
//! | `unchanged` | `yes`: the output has to stay as it is |
//! | `holds`, `lacks`, `begins`, `ends` | a string of the reduced text; `\n` is the end of a line, `\\` a backslash |
//! | `once`, `times 3` | a string that the reduced text has that number of times |
//! | `most_chars` | the most characters that the reduced text may have |
//! | `repeats` | `yes`: lines between `%repeat 1..40` and `%end` are repeated with their number as `{n}` |
//!
//! Every sample is reduced twice and its result once more: the same text has to come out, and shorter than the output.
//! `SAMPLE=jest/ cargo test -p ethos-registry-reduce samples` reads those whose path has `jest/` in it; a failure shows
//! the lines that differ, or the reduced text.

use super::repeats;
use crate::family::Match;
use crate::input::Exit;

/// How the head of a sample ends where the whole text is expected.
const REDUCED: &str = "--- reduced\n";

/// How the part of a sample begins that the command printed.
const OUTPUT: &str = "--- output\n";

/// One thing that has to be true of a reduced text.
pub(super) enum Fact {
    /// It begins so.
    Begins(String),
    /// It ends so.
    Ends(String),
    /// It has this in it.
    Holds(String),
    /// It does not have this in it.
    Lacks(String),
    /// It has this in it that number of times.
    Times(usize, String),
    /// It has at most that many characters.
    MostChars(usize),
}

/// One recorded output.
pub(super) struct Sample {
    /// What the command printed.
    pub(super) output: String,
    /// The command, if it is known.
    pub(super) command: Option<String>,
    /// How it ended.
    pub(super) exit: Exit,
    /// The name of the family that has to reduce it.
    pub(super) family: Option<String>,
    /// Whether that family alone reads it, as a part of a larger output.
    pub(super) is_part: bool,
    /// How sure the family has to be.
    pub(super) recognised: Option<Match>,
    /// Whether the family has to see that something failed.
    pub(super) failure: Option<bool>,
    /// How many characters there are for the text.
    pub(super) budget_chars: usize,
    /// Whether the output has to stay as it is.
    pub(super) unchanged: bool,
    /// The whole text that is expected.
    pub(super) reduced: Option<String>,
    /// What has to be true of the text.
    pub(super) facts: Vec<Fact>,
}

impl Sample {
    /// The sample that a file with `text` has; an error states what is wrong with it.
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

    /// Reads one line of the head; `None` when it is not known.
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
    /// Whether it is true of `text`, which without the marks of what was left out is `rows`.
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

/// `value` with `\n` and `\\` as what they mean.
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
