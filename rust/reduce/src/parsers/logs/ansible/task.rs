//! The results of one task on its hosts.

use super::result::{Outcome, told};
use crate::line::shorten;
use crate::output::Output;

const ROW_CHARS: usize = 1_600;
/// How many hosts and items of one status are shown.
const NAMES_BYTES: usize = 600;
/// The label for all other hosts.
const MORE: &str = " …";
/// How many results and diffs are remembered to detect equal ones.
const COMPARED: usize = 64;
/// How many lines of a difference are shown.
const CHANGED_LINES: usize = 40;

/// The statuses that many hosts share, in the order of the output.
const QUIET: [&str; 3] = ["ok", "changed", "skipping"];

/// The state of the task that is being read.
#[derive(Default)]
pub(super) struct Task<'a> {
    /// Hosts and items by status, with how many lines report them.
    names: [(String, usize); QUIET.len()],
    last_host: [&'a str; QUIET.len()],
    /// Results that were shown, with the first host of each.
    results: Vec<(String, &'a str)>,
    /// The current diff, and those that were shown.
    change: Vec<&'a str>,
    changes: Vec<Vec<&'a str>>,
    in_change: bool,
}

impl<'a> Task<'a> {
    /// Reads `line` if it belongs to a diff of before and after.
    pub(super) fn is_change(&mut self, line: &'a str) -> bool {
        if line.starts_with("--- before") {
            self.in_change = true;
            self.change.clear();
            if line.contains(": ") {
                self.change.push(line);
            }
            return true;
        }
        if self.in_change && line.starts_with([' ', '+', '-', '@', '\\']) {
            let is_changed = line.starts_with(['+', '-']) && !line.starts_with("+++ after");
            if is_changed && self.change.len() < CHANGED_LINES {
                self.change.push(line);
            }
            return true;
        }
        self.in_change && line.is_empty()
    }

    pub(super) fn outcome(
        &mut self,
        outcome: Outcome<'a>,
        body: &str,
        more: usize,
        output: &mut Output,
    ) {
        self.tell_change(outcome.host, output);
        let result = told(body, outcome.is_failure());
        let Outcome {
            status, host, head, ..
        } = outcome;
        let head = head.trim_end_matches(" =>");
        if outcome.is_failure() {
            output.failed();
        } else if result.is_empty() && !outcome.shows_below() {
            return self.quiet(status, host, head, 1 + more);
        }
        let row = match self.results.iter().find(|(other, _)| *other == result) {
            Some((_, first)) if !result.is_empty() => {
                format!("{status}: [{host}]{head} => as [{first}]")
            }
            _ if result.is_empty() => format!("{status}: [{host}]{head}"),
            _ => format!("{status}: [{host}]{head} => {{{result}}}"),
        };
        output.summary(&shorten(&row, ROW_CHARS), 1 + more);
        if self.results.len() < COMPARED {
            self.results.push((result, host));
        }
    }

    /// Counts a host that needs no row of its own.
    fn quiet(&mut self, status: &str, host: &'a str, head: &str, lines: usize) {
        let Some(at) = QUIET.iter().position(|quiet| *quiet == status) else {
            return;
        };
        let (Some((names, count)), Some(last)) =
            (self.names.get_mut(at), self.last_host.get_mut(at))
        else {
            return;
        };
        *count += lines;
        if names.len() > NAMES_BYTES {
            return;
        }
        let item = head.trim_start_matches(" =>").trim();
        let has_item = status == "changed" && !item.is_empty();
        if has_item && *last != host || !names.contains(&format!("[{host}]")) {
            names.push_str(" [");
            names.push_str(host);
            names.push(']');
            *last = host;
        }
        // Items without changes are counted together.
        if has_item {
            names.push(' ');
            names.push_str(item);
        }
        if names.len() > NAMES_BYTES {
            names.push_str(MORE);
        }
    }

    /// Shows the current diff, unless an equal one was shown.
    fn tell_change(&mut self, host: &str, output: &mut Output) {
        if !std::mem::take(&mut self.in_change) || self.change.is_empty() {
            return;
        }
        let change = std::mem::take(&mut self.change);
        if !self.changes.contains(&change) {
            output.context_of(&format!("[{host}]:"), 0);
            for line in &change {
                output.fact(&shorten(line, ROW_CHARS));
            }
            if self.changes.len() < COMPARED {
                self.changes.push(change);
            }
        }
    }

    /// Writes the hosts without rows of their own.
    pub(super) fn write(mut self, output: &mut Output) {
        self.tell_change("", output);
        for (status, (names, lines)) in QUIET.iter().zip(&self.names) {
            if *lines > 0 {
                let count = if names.ends_with(MORE) {
                    format!(" ({lines} lines)")
                } else {
                    String::new()
                };
                output.summary(&format!("{status}:{names}{count}"), *lines);
            }
        }
    }
}
