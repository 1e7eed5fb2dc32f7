//! The format of a log.

use super::blocks;
use super::commit::{full_head, is_stat, is_total, line, without_graph};
use crate::input::Input;

/// Which lines belong to one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// One block per commit.
    Full,
    /// One line per commit.
    Lines,
    /// Several lines per commit; the first begins with its id.
    Blocks,
    /// Lines of a custom format without commit ids.
    Rows,
}

/// The format of the log; `None` if it has no recognised commits.
pub(super) fn style(input: &Input<'_>) -> Option<Style> {
    let mut lines = 0;
    let mut commits = 0;
    for source in input.beginning().filter(|line| !line.is_empty()) {
        let row = without_graph(source);
        if full_head(row).is_some() {
            return Some(Style::Full);
        }
        lines += usize::from(!row.is_empty() && !is_total(row));
        commits += usize::from(line(row).is_some());
    }
    if commits > 0 && commits * 2 > lines {
        return Some(Style::Lines);
    }
    if !input.git_is(&["log"]) {
        return None;
    }
    if blocks::digits(input).is_some() {
        return Some(Style::Blocks);
    }
    (input.has("--format") || input.has("--pretty")).then_some(Style::Rows)
}

/// Whether `row` can only be about a file, whatever precedes it: of `--stat`, `--numstat`, `--name-status` or `--raw`.
pub(super) fn is_counted_file(row: &str) -> bool {
    match row.as_bytes() {
        [b' ', ..] => is_stat(row) || is_total(row),
        [b':', b'0'..=b'9', ..] => row.contains('\t'),
        [b'0'..=b'9' | b'-' | b'A'..=b'Z', ..] => row.split_once('\t').is_some_and(|(sign, _)| {
            let sign = sign.as_bytes();
            let digits = sign.get(1..).unwrap_or_default();
            digits.iter().all(u8::is_ascii_digit)
        }),
        _ => false,
    }
}
