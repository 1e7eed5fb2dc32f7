//! An output as the families see it: cleaned, with the command that printed it.

use memchr::memchr_iter;

use ethos_registry_core::clean::beginning;
use ethos_registry_core::command::{git_subcommand, program, subcommand};
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::{Lines, lines};

/// Terminal output, or an unrecognised part of it, is not reduced up to this length.
pub(crate) const WHOLE_CHARS: usize = 1_023;
/// Only this many bytes of the text are searched for its first lines.
const BEGINNING_BYTES: usize = 65_536;
/// At most this many lines count as the first ones.
const BEGINNING_LINES: usize = 400;

/// Programs that show files as they are.
pub(crate) const FILE_SHOWERS: [&str; 10] = [
    "bat", "batcat", "cat", "head", "less", "more", "sed", "tac", "tail", "zcat",
];

/// The file showers that can show a part of a file.
pub(crate) const PART_SHOWERS: [&str; 5] = ["sed", "head", "tail", "less", "more"];

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// With exit code 0.
    Success,
    /// With another exit code, or by a signal, or it was stopped.
    Failure,
    /// With another exit code, which is that of the last of several commands: the others may have succeeded.
    LastFailure,
    /// The exit status is not known.
    Unknown,
}

/// One output of one command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    /// What a terminal shows of the output, without the line that reports the exit code.
    pub(crate) text: &'a str,
    /// The words of the command that really ran, without wrappers; empty when it is not known.
    pub(crate) words: &'a [String],
    /// How the command ended.
    pub(crate) exit: Exit,
}

impl<'a> Input<'a> {
    /// The lines, without their line ends.
    pub(crate) fn lines(&self) -> Lines<'a> {
        lines(self.text)
    }

    /// The first lines: enough to recognise a format, and cheap for any input.
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

    /// Whether the first lines are the whole text, so that its end need not be read separately.
    pub(crate) fn is_beginning(&self) -> bool {
        let bytes = self.text.as_bytes();
        bytes.len() < BEGINNING_BYTES
            && memchr_iter(b'\n', bytes).take(BEGINNING_LINES).count() < BEGINNING_LINES
    }

    /// The part of the text that contains the lines of [`Self::beginning`].
    pub(crate) fn first_part(&self) -> &'a str {
        let part = beginning(self.text, 2 * BEGINNING_BYTES);
        let end = memchr_iter(b'\n', part.as_bytes()).nth(BEGINNING_LINES - 1);
        end.and_then(|end| part.get(..end)).unwrap_or(part)
    }

    /// The last lines, in reverse order: they contain totals and verdicts.
    pub(crate) fn ending(&self) -> impl Iterator<Item = &'a str> {
        // ASCII blanks are trimmed first: there may be millions.
        let text = self.text.trim_ascii_end().trim_end();
        let lines = text.rsplit('\n').take(60);
        lines.map(|line| beginning(line, BEGINNING_BYTES))
    }

    /// The length that a folded list of this size should have at most: fifteen percent of a short list, a fortieth of a
    /// long one.
    pub(crate) fn target_chars(&self) -> usize {
        let chars = self.text.char_count();
        (chars * 15 / 100).min(chars / 40 + 2_000)
    }

    /// Whether the program shows files unchanged.
    pub(crate) fn shows_files(&self) -> bool {
        FILE_SHOWERS.contains(&self.program())
    }

    /// The name of the program without its path; empty when it is not known.
    pub(crate) fn program(&self) -> &'a str {
        program(self.words).unwrap_or_default()
    }

    /// The first word after the program that is not an option; empty when there is none.
    pub(crate) fn subcommand(&self) -> &'a str {
        subcommand(self.words).unwrap_or_default()
    }

    /// Whether the command is git with one of `subcommands`.
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

    /// The number given with one of `options`: `-n 80`, `-n80`, `--max-count=80`, `-80` for the option `-`.
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
