//! What the test runner of Playwright states: failed tests with their errors and places, retries, totals.
//!
//! A failed test is in the outline, in a block of its own, and in the list of the totals; the block
//! is kept. A block or a retry that states the same as one before is shown in a few words.

mod block;
mod line;

use hashbrown::HashMap;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::report::{MAX_NAMES, MESSAGE_CHARS, Names, is_script_line};
use crate::rows::unknown::in_place::UnknownInPlace;
use block::Block;
use line::{head, is_beginning, is_step, outlined, total, unruled};

pub(crate) const FAMILY: Family = Family {
    name: "playwright",
    runs,
    marks: Marks::OneOf(&[&["\nRunning 0"]]),
    recognises,
    reduce,
};

fn runs(input: &Input<'_>) -> bool {
    input.program() == "playwright" && input.subcommand() == "test"
}

fn recognises(input: &Input<'_>) -> Match {
    if input.beginning().any(is_beginning) {
        return Match::Certain;
    }
    let mut ending = input.ending();
    if runs(input) && ending.any(|line| head(line).is_some() || total(line).is_some()) {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let heads = input.lines().filter_map(head).map(|(_, title)| title);
    let mut report = Report {
        heads: heads.take(MAX_NAMES).collect(),
        open: None,
        told: HashMap::new(),
        listed: "",
        unknown: UnknownInPlace::default(),
        output,
    };
    for line in input.lines() {
        report.line(line);
    }
    report.close();
}

struct Report<'a, 'o> {
    /// Titles of the tests that have a block.
    heads: Names<'a>,
    open: Option<Block<'a>>,
    /// What blocks say, and the number of the first that states it.
    told: HashMap<u64, &'a str>,
    /// What the last total counts: the titles below it are of such tests.
    listed: &'static str,
    unknown: UnknownInPlace,
    output: &'o mut Output,
}

impl<'a> Report<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim();
        if let Some((number, _)) = head(line) {
            self.close();
            self.output.failed();
            self.open = Some(Block::new(number, unruled(trimmed)));
            return;
        }
        if let Some(block) = self.open.as_mut() {
            if trimmed.is_empty() || line.starts_with("    ") {
                block.line(trimmed);
                return;
            }
            self.close();
        }
        if trimmed.is_empty() {
            return;
        }
        if let Some(word) = total(line) {
            self.listed = word;
            if !matches!(word, "passed" | "skipped" | "did not run") {
                self.output.failed();
            }
            self.output.fact(trimmed);
            return;
        }
        if let Some((failed, title)) = outlined(trimmed) {
            if failed {
                self.output.failed();
            }
            if failed && !self.heads.contains(title) {
                self.output.fact(&shorten(trimmed, MESSAGE_CHARS));
            }
            return;
        }
        if is_step(trimmed) {
            return;
        }
        if !self.listed.is_empty() && line.starts_with("    ") && trimmed.contains(" › ") {
            let title = unruled(trimmed);
            if self.listed != "failed" || !self.heads.contains(title) {
                self.output.fact(&shorten(title, MESSAGE_CHARS));
            }
            return;
        }
        if is_beginning(line) {
            self.output.context(trimmed);
        } else if !is_script_line(line) {
            self.unknown.show(line, self.output);
        }
    }

    fn close(&mut self) {
        let Some(block) = self.open.take() else {
            return;
        };
        let known = block
            .key()
            .map(|key| self.told.entry(key).or_insert(block.number));
        let same = known.filter(|number| **number != block.number);
        block.write(same.map(|number| *number), self.output);
    }
}

#[cfg(test)]
mod tests;
