//! Parts of an output that are reduced like separate outputs: the output of a runner's tasks, the text around a table.
//! The caller passes in the function that finds the family of a part.

use memchr::memrchr;

use crate::family::Family;
use crate::input::{Exit, Input};
use crate::line::is_ruler;
use crate::output::{Output, Told};

/// Shorter parts that no family recognises are not reduced.
pub(crate) const WHOLE_BYTES: usize = 240;

/// Writes the reduction of `input`, a part of an output, by the first family that recognises it, except `runner`. If
/// that is not shorter, writes all of it. Writes nothing when no family recognises it and it is short.
pub(crate) fn reduce(input: &Input<'_>, runner: &Family, output: &mut Output) -> Option<Told> {
    let nested = output.nested()?;
    (nested.reduce)(input, runner.name, output)
}

/// Up to this many lines before or after the recognised lines are only the command and its exit status.
const FEW_LINES: usize = 16;

/// `input` from the first to the last line that `is_own`, and the text before and after them if it is long: other
/// programs printed it.
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
        // Searches from the end: the lines between the first and the last are not examined.
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

/// Writes what other programs printed around the lines of `family`.
pub(crate) fn other(input: Option<Input<'_>>, family: &Family, output: &mut Output) {
    if let Some(input) = input
        && reduce(&input, family, output).is_none()
    {
        whole(input.text, output);
    }
}

/// Writes all lines of `text`; only blank space is normalised.
pub(crate) fn whole(text: &str, output: &mut Output) {
    for line in text.lines() {
        if !line.trim().is_empty() && !is_ruler(line) {
            output.fact(line.trim_end());
        }
    }
}
