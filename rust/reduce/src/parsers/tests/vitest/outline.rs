//! Rows of files, suites and tests with their symbols, and the output of tests between them.

use super::shape::{is_failed_row, is_noise, without_project};
use super::{Printed, Report, State};
use crate::line::{is_bad, shorten};
use crate::rows::report::{
    MESSAGE_CHARS, is_coverage_row, is_script_line, javascript_place, without_time,
};

/// How many lines that a failed test printed are kept.
const PRINTED_LINES: usize = 6;
/// How many first lines of what passed tests wrote to standard error are kept.
const LOUD_LINES: usize = 6;
const LOUD_CHARS: usize = 160;
/// How many of the tests with output are remembered.
const MAX_HEADS: usize = 64;

impl<'a> Report<'a, '_> {
    pub(super) fn outline(&mut self, line: &'a str, trimmed: &'a str) {
        let mut signs = trimmed.chars();
        let sign = signs.next().unwrap_or_default();
        let title = signs.as_str().trim_start();
        match sign {
            '✓' | '✔' | '↓' | '□' | '↳' | '√' => self.state = State::Outline,
            '×' | '✗' | '✖' | '❌' => self.outline_failure(trimmed, title),
            '→' if line.starts_with(' ') => {
                self.state = State::Outlined;
                self.more = 0;
                if self.outline_shown {
                    self.output.fact(&shorten(trimmed, MESSAGE_CHARS));
                }
            }
            '❯' if is_failed_row(line, title) => self.outline_failure(trimmed, title),
            '❯' => {
                if let Some(place) = javascript_place(title) {
                    // The title of this failure was cut off.
                    self.places.add(place);
                    self.state = State::Details;
                    return;
                }
                self.state = State::Outline;
                let file = without_project(title).split(" (").next().unwrap_or(title);
                let known = self.blocks.contains(file.trim_end());
                if !(known && self.counted) && title.contains(" failed") {
                    self.output.fact(trimmed);
                    self.output.failed();
                }
            }
            // A test that was not run after too many failures.
            '·' if line.starts_with("   · ") => {
                self.state = State::Outline;
            }
            '·' | '.' | '*' => {
                if !trimmed.chars().all(|sign| "·.*-xx×".contains(sign)) {
                    self.unknown.show(line, self.output);
                }
            }
            _ => self.other(line, trimmed),
        }
    }

    fn outline_failure(&mut self, trimmed: &str, title: &str) {
        // The number of retries follows the time, or precedes it.
        let title = title.split(" (retry x").next().unwrap_or(title);
        let title = without_project(without_time(title));
        self.outline_shown = !self.blocks.contains(title);
        self.state = State::Outline;
        self.output.failed();
        if self.outline_shown {
            let end = self.heads.iter().rposition(|head| head.ends_with(title));
            if let Some(head) = end.and_then(|at| self.heads.get(at)) {
                self.output.fact(head);
            }
            self.output.fact(trimmed);
        }
    }

    fn other(&mut self, line: &'a str, trimmed: &'a str) {
        if let Some(title) = line
            .strip_prefix("stdout | ")
            .or_else(|| line.strip_prefix("stderr | "))
        {
            let failed =
                title.contains(" > ") && self.blocks.contains(without_project(title.trim()));
            if !failed && self.heads.len() < MAX_HEADS && self.heads.last() != Some(&title) {
                self.heads.push(title);
            }
            self.state = State::Printed(Printed {
                failed,
                loud: !failed && line.starts_with("stderr"),
                shown: 0,
            });
        } else if self.state == State::Outlined {
            if self.outline_shown {
                self.more(trimmed);
            }
        } else if is_coverage_row(line) {
            self.output.fact(line.trim_end());
        } else if trimmed.starts_with("ERROR: Coverage for ") {
            self.output.fact(trimmed);
            self.output.failed();
        } else if !is_noise(line, trimmed, self.counted) && !is_script_line(line) {
            self.unknown.show(line, self.output);
        }
    }

    pub(super) fn printed(&mut self, line: &'a str, printed: Printed) {
        let Printed { failed, loud, .. } = printed;
        let mut next = Printed {
            loud: false,
            ..printed
        };
        if !failed && is_bad(line) {
            self.unknown.show(line, self.output);
        } else if loud && self.said.len() < LOUD_LINES && !self.said.contains(&line) {
            self.said.push(line);
            self.output.context(&shorten(line.trim_end(), LOUD_CHARS));
        } else if failed && printed.shown < PRINTED_LINES {
            let row = shorten(line.trim_end(), MESSAGE_CHARS);
            self.output.context(&row);
            next.shown += 1;
        }
        self.state = State::Printed(next);
    }
}
