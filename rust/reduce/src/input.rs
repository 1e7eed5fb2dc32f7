//! An output as the families see it: cleaned, with the command that gave it.

use memchr::memchr_iter;

use ethos_registry_core::clean::beginning;
use ethos_registry_core::command::{git_subcommand, program, subcommand};
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::{Lines, lines};

/// An output of a terminal, or a part of one that no family knows, stays as it is up to this length.
pub(crate) const WHOLE_CHARS: usize = 1_023;
/// A line that begins after so much of the text is not among its first ones; of a longer line only so
/// much is looked at.
const BEGINNING_BYTES: usize = 65_536;
/// This many lines are the first ones at most.
const BEGINNING_LINES: usize = 400;

/// Programs that show files as they are.
pub(crate) const FILE_SHOWERS: [&str; 10] = [
    "bat", "batcat", "cat", "head", "less", "more", "sed", "tac", "tail", "zcat",
];

/// Of these, programs that are asked for a part of a file.
pub(crate) const PART_SHOWERS: [&str; 5] = ["sed", "head", "tail", "less", "more"];

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// With code 0.
    Success,
    /// With another code, by a signal, or not by itself.
    Failure,
    /// With another code, which is that of the last of several commands: the others may have answered.
    LastFailure,
    /// No one said.
    Unknown,
}

/// One output of one command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    /// What a terminal shows of the output, without the line that states how the command ended.
    pub(crate) text: &'a str,
    /// The words of the command really run, without wrappers; empty when they are not known.
    pub(crate) words: &'a [String],
    /// How it ended.
    pub(crate) exit: Exit,
}

impl<'a> Input<'a> {
    /// The lines, without their ends.
    pub(crate) fn lines(&self) -> Lines<'a> {
        lines(self.text)
    }

    /// The first lines: enough to tell a format, cheap on any input.
    pub(crate) fn beginning(&self) -> impl Iterator<Item = &'a str> {
        let mut bytes = 0;
        lines(self.text)
            .take(BEGINNING_LINES)
            .take_while(move |line| {
                let begins_early = bytes < BEGINNING_BYTES;
                bytes += line.len();
                begins_early
            })
            .map(|line| beginning(line, BEGINNING_BYTES))
    }

    /// Whether the first lines are all there are: a short text need not be read from its end as well.
    pub(crate) fn is_beginning(&self) -> bool {
        let bytes = self.text.as_bytes();
        bytes.len() < BEGINNING_BYTES
            && memchr_iter(b'\n', bytes).take(BEGINNING_LINES).count() < BEGINNING_LINES
    }

    /// A part of the text with all that [`Self::beginning`] gives.
    pub(crate) fn first_part(&self) -> &'a str {
        let part = beginning(self.text, 2 * BEGINNING_BYTES);
        let end = memchr_iter(b'\n', part.as_bytes()).nth(BEGINNING_LINES - 1);
        end.and_then(|end| part.get(..end)).unwrap_or(part)
    }

    /// The last lines, the last one first: totals and verdicts are there.
    pub(crate) fn ending(&self) -> impl Iterator<Item = &'a str> {
        // Blanks of ASCII by themselves: there may be millions.
        let text = self.text.trim_ascii_end().trim_end();
        let lines = text.rsplit('\n').take(60);
        lines.map(|line| beginning(line, BEGINNING_BYTES))
    }

    /// How many characters a list of this size should have at most when it is folded: fifteen percent of
    /// a short one, a fortieth of a long one.
    pub(crate) fn target_chars(&self) -> usize {
        let chars = self.text.char_count();
        (chars * 15 / 100).min(chars / 40 + 2_000)
    }

    /// Whether the program shows files as they are.
    pub(crate) fn shows_files(&self) -> bool {
        FILE_SHOWERS.contains(&self.program())
    }

    /// The name of the program, without the path to it; empty when it is not known.
    pub(crate) fn program(&self) -> &'a str {
        program(self.words).unwrap_or_default()
    }

    /// The first word after the program that is not an option; empty when there is none.
    pub(crate) fn subcommand(&self) -> &'a str {
        subcommand(self.words).unwrap_or_default()
    }

    /// Whether git runs one of `subcommands`.
    pub(crate) fn git_is(&self, subcommands: &[&str]) -> bool {
        git_subcommand(self.words).is_some_and(|found| subcommands.contains(&found))
    }

    /// Whether one of the words is exactly `option`, or begins with it and `=`.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.words.iter().any(|word| {
            word.strip_prefix(option)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    }

    /// The number that was asked for by one of `options`: `-n 80`, `-n80`, `--max-count=80`, `-80`
    /// for the option `-`.
    pub(crate) fn number(&self, options: &[&str]) -> Option<usize> {
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            for option in options {
                let Some(rest) = word.strip_prefix(option) else {
                    continue;
                };
                let value = match rest.strip_prefix('=').unwrap_or(rest) {
                    "" => words.clone().next().map_or("", String::as_str),
                    value => value,
                };
                if let Ok(number) = value.parse() {
                    return Some(number);
                }
            }
        }
        None
    }
}
