//! Shared test helpers for families, and the test of their samples.

mod difference;
mod repeats;
mod sample;
mod samples;

use crate::divide::part::NESTED;
use crate::family::{Family, Match};
use crate::input::{Exit, Input};
use crate::output::Output;

/// The reduction of `text`, the output of `command`, by `family`, which must recognise it.
pub(crate) fn reduced(family: &Family, text: &str, command: &str, exit: Exit) -> String {
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let input = Input {
        text,
        words: &words,
        exit,
    };
    assert_ne!((family.recognises)(&input), Match::No, "{text}");
    let mut output = Output::default().with_nested(NESTED);
    family.write(&input, &mut output);
    output.finish(text.lines().count(), usize::MAX)
}

/// The reducers without markers of left-out lines, for tests of the lines that a family shows.
pub(crate) mod unmarked {
    use crate::input::Exit;
    use crate::pipeline::terminal;
    use crate::{Kind, Request};

    pub(super) fn rows(text: &str) -> String {
        let is_mark = |line: &&str| {
            let lines = line
                .trim_end()
                .strip_prefix('[')
                .and_then(|rest| rest.split_once(" line"));
            let is_count = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
            let is_end = |rest: &str| matches!(rest, " left out]" | "s left out]");
            lines.is_some_and(|(count, rest)| is_count(count) && is_end(rest))
        };
        text.split_inclusive('\n')
            .filter(|line| !is_mark(line))
            .collect()
    }

    pub(crate) fn reduce(
        text: &str,
        command: Option<&str>,
        exit: Exit,
        budget_chars: usize,
    ) -> Option<(String, Option<&'static str>)> {
        let reduced = terminal::reduce(text, command, exit, budget_chars);
        reduced.map(|(text, family)| (rows(&text), family))
    }

    pub(crate) fn reduce_kind(kind: Kind, request: &Request<'_>, text: &str) -> Option<String> {
        crate::reduce(kind, request, text).map(|text| rows(&text))
    }
}
