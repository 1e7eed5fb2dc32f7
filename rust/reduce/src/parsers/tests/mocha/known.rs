//! By what the output of mocha is known.

use super::FRAME;
use crate::family::Match;
use crate::input::Input;
use ethos_registry_core::find_text::FindText as _;

/// The blanks before a count and its digits.
const NUMBER_BYTES: usize = 16;
const COUNTS: [&str; 3] = ["passing", "failing", "pending"];

pub(super) fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "mocha" | "_mocha")
}

pub(super) fn recognises(input: &Input<'_>) -> Match {
    let mut passing = false;
    let lines = input.ending().chain(input.beginning());
    for line in lines {
        match count(line) {
            Some("passing") => passing = true,
            Some(_) if passing => return Match::Certain,
            _ => {}
        }
    }
    if counts_between(input.text) {
        return Match::Certain;
    }
    // Without failures only the sign of a passed test can tell.
    let signed = passing
        && input
            .beginning()
            .any(|line| line.trim_start().starts_with("✔ "));
    match (signed, passing) {
        (true, _) => Match::Certain,
        (_, false) if is_cut(input) => Match::Certain,
        (_, true) => Match::Likely,
        _ => Match::No,
    }
}

/// Whether the counts, at least two lines of them, stand anywhere: between a long outline and a long list of failures.
fn counts_between(text: &str) -> bool {
    const PASSING: &[u8] = b" passing (";
    memchr::memmem::find_iter(text.as_bytes(), PASSING).any(|at| {
        // The number alone precedes the word: a long line is not looked at for each of its words.
        let before = text.as_bytes().get(at.saturating_sub(NUMBER_BYTES)..at);
        let start = before.and_then(|before| before.iter().rev().position(|byte| *byte == b'\n'));
        let rest = start.and_then(|bytes| text.get(at - bytes..));
        let mut lines = rest.unwrap_or_default().lines().map(count);
        lines.next() == Some(Some("passing")) && matches!(lines.next(), Some(Some(_)))
    })
}

/// Whether all before the list of failures was cut away: there are numbered titles and frames of mocha, but
/// neither rows of tests that passed nor counts.
pub(super) fn is_cut(input: &Input<'_>) -> bool {
    let mut lines = input.ending().chain(input.beginning());
    lines.any(|line| line.strip_prefix("  ").and_then(numbered).is_some())
        && input.text.has_text(FRAME)
        && !input
            .beginning()
            .any(|line| line.trim_start().starts_with("✔ "))
        && !input.lines().any(|line| count(line).is_some())
}

/// What a line of counts counts: `  41 passing (8ms)`.
pub(super) fn count(line: &str) -> Option<&'static str> {
    let rest = line.strip_prefix("  ")?;
    let (number, rest) = rest.split_once(' ')?;
    let word = COUNTS.into_iter().find(|word| rest.starts_with(word))?;
    let end = rest.get(word.len()..).unwrap_or_default();
    let whole = end.is_empty() || end.starts_with(" (");
    (whole && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        .then_some(word)
}

/// The number and the title of a failure: `2) title`.
pub(super) fn numbered(trimmed: &str) -> Option<(&str, &str)> {
    let (number, title) = trimmed.split_text(") ")?;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !number.is_empty()).then_some((number, title))
}
