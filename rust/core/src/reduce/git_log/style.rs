//! How a log is written.

use super::super::input::Input;
use super::blocks;
use super::commit::{full_head, is_total, line, without_graph};

/// Which lines are of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// A block a commit.
    Full,
    /// A line a commit.
    Lines,
    /// Several lines a commit, of which the first begins with its name.
    Blocks,
    /// Lines of a format that was asked for, in which no name is found.
    Rows,
}

/// The style of the log; `None` when its commits are not found.
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
