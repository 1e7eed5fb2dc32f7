//! The first and the last of many lines.

use std::collections::VecDeque;

use crate::line::shorten;
use crate::output::{Output, Weight};
use crate::rows::unknown::is_bar;
use ethos_registry_core::clean::same_bar;

/// Lines in their order; only those that are shown are held.
#[derive(Debug)]
pub(crate) struct Ends<'a> {
    first: Vec<&'a str>,
    last: VecDeque<&'a str>,
    most: (usize, usize),
    /// How many between them are not held.
    between: usize,
}

impl<'a> Ends<'a> {
    /// Holds up to this many of the first and of the last lines.
    pub(crate) fn new(first: usize, last: usize) -> Self {
        Self {
            first: Vec::new(),
            last: VecDeque::new(),
            most: (first, last),
            between: 0,
        }
    }

    /// Holds `line`; of the states of one progress bar that follow each other the last.
    pub(crate) fn push(&mut self, line: &'a str) {
        let newest = self.last.back_mut().or_else(|| self.first.last_mut());
        if let Some(newest) = newest
            && is_bar(line)
            && is_bar(newest)
            && same_bar(newest, line)
        {
            *newest = line;
            return;
        }
        if self.first.len() < self.most.0 {
            self.first.push(line);
            return;
        }
        self.last.push_back(line);
        if self.last.len() > self.most.1 {
            self.last.pop_front();
            self.between += 1;
        }
    }

    /// Takes back the last line, if it is `line`.
    pub(crate) fn take_back(&mut self, line: &str) {
        if self.last_ones(1).next() == Some(line) && self.last.pop_back().is_none() {
            self.first.pop();
        }
    }

    /// Keeps the lines that are wanted.
    pub(crate) fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.first.retain(|line| is_wanted(line));
        self.last.retain(|line| is_wanted(line));
    }

    /// Up to `count` of the last lines, the last one first.
    pub(crate) fn last_ones(&self, count: usize) -> impl Iterator<Item = &'a str> {
        let lines = self.last.iter().rev().chain(self.first.iter().rev());
        lines.take(count).copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.last.is_empty()
    }

    /// How many bytes they take when each line is written with at most this many.
    pub(crate) fn size(&self, most: usize) -> usize {
        let lines = self.first.iter().chain(&self.last);
        lines.map(|line| line.len().min(most) + 1).sum()
    }

    /// Writes the lines, each of at most this many characters, and how many are missing between them.
    pub(crate) fn write(&self, weight: Weight, chars: usize, output: &mut Output) {
        self.write_with(weight, chars, output, |_, _| {});
    }

    /// The same; `behind` writes what follows a line.
    pub(crate) fn write_with(
        &self,
        weight: Weight,
        chars: usize,
        output: &mut Output,
        behind: impl Fn(&str, &mut Output),
    ) {
        let write = |line: &str, output: &mut Output| {
            match weight {
                Weight::Fact => output.fact(&shorten(line, chars)),
                Weight::Context => output.context(&shorten(line, chars)),
            }
            behind(line, output);
        };
        for line in &self.first {
            write(line, output);
        }
        output.gap(self.between);
        for line in &self.last {
            write(line, output);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_progress_bar_the_last_state_is_told() {
        let mut ends = Ends::new(2, 2);
        for line in [
            "reading... [ 10%] oak",
            "reading... [ 20%] elm",
            "writing... [ 10%] oak",
            "writing... [ 20%] elm: error",
            "writing... [ 30%] ash",
        ] {
            ends.push(line);
        }
        let told: Vec<&str> = ends.last_ones(9).collect();
        assert_eq!(
            told,
            [
                "writing... [ 30%] ash",
                "writing... [ 20%] elm: error",
                "writing... [ 10%] oak",
                "reading... [ 20%] elm"
            ]
        );
    }

    #[test]
    fn the_first_and_the_last_are_told_and_how_many_stand_between() {
        let mut ends = Ends::new(2, 2);
        for line in ["a", "b", "c", "d", "e", "f"] {
            ends.push(line);
        }
        ends.take_back("f");
        ends.take_back("x");
        assert_eq!(ends.last_ones(3).collect::<Vec<_>>(), ["e", "b", "a"]);
        assert_eq!(ends.size(9), 6);
        let mut output = Output::default();
        ends.write(Weight::Fact, 10, &mut output);
        assert_eq!(
            output.finish(6, usize::MAX),
            "a\nb\n[2 lines left out]\ne\n[3 of 6 lines left out]"
        );
    }
}
