//! The sources of lines in a log of several programs: `web-1  | text`, `[pod/web-0/app] text`.
//!
//! A source is kept on every line that is shown, and is not part of the message.

use super::record::is_record;
use crate::input::Input;
use crate::line::indent;
use ethos_registry_core::find_text::FindText as _;

/// The longest name.
const NAME_BYTES: usize = 100;
/// How many of the first lines are examined.
const FIRST_LINES: usize = 200;
/// The fewest lines that prove that there are sources.
const LEAST_LINES: usize = 8;
/// How many sources are distinguished; more of them are taken for one.
const MAX_SOURCES: usize = 64;
/// The text between the name of a source and its exit code.
const EXITED: &str = " exited with code ";

/// The format of the sources of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Lines have no source.
    None,
    /// `web-1  | text`.
    Bar,
    /// `[pod/web-0/app] text`.
    Brackets,
}

impl Form {
    /// The format that nearly all of the first lines have.
    pub(super) fn of(input: &Input<'_>) -> Self {
        let names = |form: &Self| {
            let (mut named, mut lines) = (0, 0);
            for line in input.beginning().take(FIRST_LINES) {
                lines += usize::from(!line.is_empty());
                named += usize::from(!form.split(line).0.is_empty());
            }
            named >= LEAST_LINES && named * 10 >= lines * 9
        };
        [Self::Bar, Self::Brackets]
            .into_iter()
            .find(names)
            .unwrap_or(Self::None)
    }

    /// The source of `line`, empty if there is none, and the message.
    #[inline]
    pub(super) fn split(self, line: &str) -> (&str, &str) {
        let found = match self {
            Self::None => None,
            Self::Bar => before_bar(line),
            Self::Brackets => in_brackets(line),
        };
        found.unwrap_or(("", line))
    }
}

/// The name and the text with its indentation in `web-1  | text`.
fn before_bar(line: &str) -> Option<(&str, &str)> {
    let bytes = line.as_bytes();
    let of_name =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'@');
    let name = bytes.iter().take(NAME_BYTES).take_while(of_name).count();
    let rest = line.get(name..)?;
    let text = rest.trim_start_matches(' ').strip_prefix('|')?;
    let is_apart = name > 0 && rest.starts_with(' ');
    is_apart.then_some((line.get(..name)?, text.strip_prefix(' ').unwrap_or(text)))
}

/// The text in the brackets, and the text with its indentation in `[pod/web-0/app] text`.
fn in_brackets(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("[pod/")?;
    let end = rest
        .bytes()
        .take(NAME_BYTES)
        .position(|byte| byte == b']')?;
    let text = rest.get(end + 1..)?;
    Some((rest.get(..end)?, text.strip_prefix(' ').unwrap_or(text)))
}

/// Whether `line`, which has no source, reports that a source ended with an error: `web-1 exited with code 1`, perhaps
/// with consequences in parentheses.
pub(super) fn exited_badly(line: &str) -> bool {
    let may_be = matches!(line.as_bytes().last(), Some(b'0'..=b'9' | b')'));
    let code = may_be.then(|| line.split_text(EXITED)).flatten();
    code.is_some_and(|(_, code)| code.split(' ').next() != Some("0"))
}

/// How many of the first lines are records, and how many are neither that nor go with one.
pub(super) fn records(input: &Input<'_>, form: Form) -> (usize, usize) {
    let (mut records, mut others) = (0, 0);
    for line in input.beginning().take(FIRST_LINES) {
        let (_, told) = form.split(line);
        if is_record(told) {
            records += 1;
        } else if !told.is_empty() && indent(told) == 0 {
            others += 1;
        }
    }
    (records, others)
}

/// The state of each source; their lines may be interleaved.
#[derive(Debug, Default)]
pub(super) struct BySource<'a, T> {
    all: Vec<(&'a str, T)>,
    /// The position of the latest line's source.
    latest: usize,
    /// The state for lines without a source.
    unnamed: T,
    /// The state for sources beyond those that are distinguished.
    others: T,
}

impl<'a, T: Default> BySource<'a, T> {
    /// The state of `source`; most logs have no sources.
    #[inline]
    pub(super) fn of(&mut self, source: &'a str) -> &mut T {
        if source.is_empty() {
            &mut self.unnamed
        } else {
            self.named(source)
        }
    }

    fn named(&mut self, source: &'a str) -> &mut T {
        let is_it = |(known, _): &(&str, T)| *known == source;
        if !self.all.get(self.latest).is_some_and(is_it) {
            let known = self.all.iter().position(is_it);
            self.latest = known.unwrap_or(self.all.len());
            if known.is_none() && self.all.len() < MAX_SOURCES {
                self.all.push((source, T::default()));
            }
        }
        match self.all.get_mut(self.latest) {
            Some((_, remembered)) => remembered,
            None => &mut self.others,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;

    fn form(text: &str) -> Form {
        Form::of(&Input {
            text,
            words: &[],
            exit: Exit::Unknown,
        })
    }

    #[test]
    fn a_source_is_named_before_a_bar_or_in_brackets() {
        assert_eq!(
            Form::Bar.split("web-1     |   File \"a.py\", line 3"),
            ("web-1", "  File \"a.py\", line 3")
        );
        assert_eq!(Form::Bar.split("web_1  |"), ("web_1", ""));
        assert_eq!(
            Form::Brackets.split("[pod/oak-0/app] up"),
            ("oak-0/app", "up")
        );
        assert_eq!(
            Form::Bar.split("web-1 exited with code 1"),
            ("", "web-1 exited with code 1")
        );
    }

    #[test]
    fn the_form_is_that_of_nearly_all_first_lines() {
        assert_eq!(form(&"oak-1  | leaf fell\n".repeat(9)), Form::Bar);
        assert_eq!(form(&"[pod/oak-0/app] leaf\n".repeat(9)), Form::Brackets);
        assert_eq!(
            form(&"oak-1  | leaf\nprose, no source | of a kind\n".repeat(9)),
            Form::None
        );
        assert_eq!(form(&"oak-1  | leaf\n".repeat(3)), Form::None);
    }

    #[test]
    fn an_exit_code_other_than_0_is_a_bad_end() {
        assert!(exited_badly("oak-1 exited with code 137"));
        assert!(exited_badly("oak-1 exited with code 1 (restarting)"));
        assert!(!exited_badly("oak-1 exited with code 0"));
        assert!(!exited_badly("oak-1 exited with code 0 (restarting)"));
        assert!(!exited_badly("oak-1 stopped"));
    }

    #[test]
    fn each_source_has_a_memory_of_its_own() {
        let mut seen: BySource<'_, u32> = BySource::default();
        for source in ["oak", "elm", "oak", "oak", "elm"] {
            *seen.of(source) += 1;
        }
        assert_eq!(
            (*seen.of("oak"), *seen.of("elm"), *seen.of("ash")),
            (3, 2, 0)
        );
    }
}
