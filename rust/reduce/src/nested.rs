//! Parts of an output that go the way of an output of their own: what a runner's tasks printed, what
//! is around a table. Which family knows a part is decided by a function that the caller hands in.

use memchr::memrchr;

use crate::family::Family;
use crate::input::{Exit, Input};
use crate::line::is_ruler;
use crate::output::{Output, Told};

/// Shorter parts that no family knows stay as they are.
pub(crate) const WHOLE_BYTES: usize = 240;

/// Writes what the first family but `runner` that knows `input`, a part of an output, makes of it, or all of it
/// when that is not shorter; nothing when no family knows it and it is short.
pub(crate) fn reduce(input: &Input<'_>, runner: &Family, output: &mut Output) -> Option<Told> {
    let nested = output.nested()?;
    (nested.reduce)(input, runner.name, output)
}

/// This many lines before or behind what a family knows are no more than what it was asked and how it ended.
const FEW_LINES: usize = 16;

/// `input` from the first to the last line that `is_own`, and what precedes and behind them where that is much:
/// other programs said it.
pub(crate) fn around<'a>(
    input: &Input<'a>,
    is_own: impl Fn(&str) -> bool,
) -> [Option<Input<'a>>; 3] {
    let text = input.text;
    let mut start = 0;
    let is_first = |line: &str| {
        let found = is_own(line);
        start += if found { 0 } else { line.len() + 1 };
        found
    };
    let mut end = text.len();
    if text.split('\n').any(is_first) {
        // From the end: between the first and the last no one looks.
        while let Some(lines) = text.get(start..end).filter(|lines| !lines.is_empty()) {
            let lines = lines.strip_suffix('\n').unwrap_or(lines);
            let last = memrchr(b'\n', lines.as_bytes()).map_or(0, |at| at + 1);
            if lines.get(last..).is_some_and(&is_own) {
                break;
            }
            end = start + last;
        }
    } else {
        start = 0;
    }
    let is_much = |text: &&str| {
        ethos_registry_core::lines::lines(text)
            .nth(FEW_LINES)
            .is_some()
    };
    let before = text.get(..start).filter(is_much);
    let behind = text.get(end..).filter(is_much);
    let own_start = before.map_or(0, str::len);
    let own_end = behind.map_or(text.len(), |_| end);
    let other = |text| Input {
        text,
        words: &[],
        exit: Exit::Unknown,
    };
    let own = text.get(own_start..own_end).unwrap_or_default();
    let own = Input {
        text: own,
        ..*input
    };
    [before.map(other), Some(own), behind.map(other)]
}

/// Writes what other programs said around the lines of `family`.
pub(crate) fn other(input: Option<Input<'_>>, family: &Family, output: &mut Output) {
    if let Some(input) = input
        && reduce(&input, family, output).is_none()
    {
        whole(input.text, output);
    }
}

/// Writes all lines of `text` but for form.
pub(crate) fn whole(text: &str, output: &mut Output) {
    for line in text.lines() {
        if !line.trim().is_empty() && !is_ruler(line) {
            output.fact(line.trim_end());
        }
    }
}
