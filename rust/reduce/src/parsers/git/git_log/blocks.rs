//! Logs in a custom format with several lines per commit: `--format='%h%n%an%n%B'`, `--numstat --format=%h`.

use super::commit::{is_name_of_object, line, short_name, without_bar, without_graph};
use super::{COMMITS, ROW_CHARS, SUBJECT_CHARS};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;

/// How many lines of each commit are shown in any case.
const FIRST_LINES: usize = 2;
/// Up to this many lines without a commit id can belong to one commit.
const ROWS_OF_COMMIT: usize = 4;
/// The space for all further lines: a share of the log, within limits.
const MORE_SHARE: usize = 5;
const MIN_MORE_BYTES: usize = 3_000;
const MAX_MORE_BYTES: usize = 12_000;

/// How many digits the names of commits have with which blocks begin, if the log begins with one and a
/// second one follows.
pub(super) fn digits(input: &Input<'_>) -> Option<usize> {
    let mut lines = input.beginning().filter(|line| !line.is_empty());
    let (name, _) = line(lines.next()?)?;
    lines
        .any(|line| begins(line, name.len()).is_some())
        .then_some(name.len())
}

/// The commit id and the rest of the line that begins a block.
fn begins(row: &str, digits: usize) -> Option<(&str, &str)> {
    line(row).filter(|(name, _)| name.len() == digits)
}

/// The first lines of each commit, and further ones while there is space. What a commit shares with the one above it is
/// not repeated.
pub(super) fn write(input: &Input<'_>, asked: Option<usize>, output: &mut Output) {
    let Some(digits) = digits(input) else { return };
    let most = asked.unwrap_or(COMMITS).max(1);
    let share = input.text.len() / MORE_SHARE;
    let mut room = share.clamp(MIN_MORE_BYTES, MAX_MORE_BYTES);
    let mut above: Vec<&str> = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    let (mut commits, mut shown, mut left_out) = (0, 0, 0);
    for source in input.lines() {
        let row = without_graph(source).trim_end();
        if let Some((name, rest)) = begins(row, digits) {
            commits += 1;
            shown = 0;
            std::mem::swap(&mut above, &mut block);
            block.clear();
            if commits <= most {
                output.gap(std::mem::take(&mut left_out));
                let name = if is_name_of_object(name) {
                    short_name(name)
                } else {
                    name
                };
                output.fact(&format!("{name}{}", shorten(rest, SUBJECT_CHARS)));
            } else {
                left_out += 1;
            }
            continue;
        }
        let text = row.trim_start();
        if text.is_empty() {
            continue;
        }
        block.push(text);
        if commits > most {
            left_out += 1;
            continue;
        }
        if above.contains(&text) {
            continue;
        }
        shown += 1;
        if shown > FIRST_LINES {
            if text.len() >= room {
                left_out += 1;
                continue;
            }
            room -= text.len() + 1;
        }
        output.gap(std::mem::take(&mut left_out));
        output.fact(&without_bar(&shorten(text, SUBJECT_CHARS)));
    }
    output.gap(left_out);
}

/// Writes all requested lines, or the first ones and the last one.
pub(super) fn rows(input: &Input<'_>, asked: Option<usize>, output: &mut Output) {
    let most = asked.map_or(COMMITS, |asked| asked.saturating_mul(ROWS_OF_COMMIT));
    let mut lines = input.lines().filter(|line| !line.trim().is_empty());
    for line in lines.by_ref().take(most) {
        output.fact(&shorten(line.trim_end(), ROW_CHARS));
    }
    let (mut left_out, mut last) = (0_usize, None);
    for line in lines {
        left_out += 1;
        last = Some(line);
    }
    output.gap(left_out.saturating_sub(1));
    if let Some(last) = last {
        output.fact(&shorten(last.trim_end(), ROW_CHARS));
    }
}
