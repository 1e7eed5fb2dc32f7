//! The output of each package: test names are unique within it.

use hashbrown::HashSet;
use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::VERDICT;
use super::json::Event;
use crate::rows::report::{MAX_NAMES, Names};
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

/// The prefix, up to its first tab, of the line that ends the output of a package.
const ENDS: [&[u8]; 2] = [b"\nFAIL", b"\nok  "];
/// The output of an event in which the run crashes.
const PANIC: &[u8] = b"\"Output\":\"panic: ";

/// The parts of `text`, each up to the end of the line that closes a package.
pub(super) fn packages(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    // Most inputs have few tabs, so searching for them is fastest.
    let mut closing = memchr_iter(b'\t', bytes).filter(move |at| {
        let before = bytes.get(..*at).unwrap_or_default();
        ENDS.iter().any(|end| before.ends_with(end))
    });
    let mut from = 0;
    std::iter::from_fn(move || {
        let end = closing
            .next()
            .and_then(|at| Some(at + memchr(b'\n', bytes.get(at..)?)? + 1));
        let part = text.get(from..end.unwrap_or(bytes.len()))?;
        from += part.len();
        (!part.is_empty()).then_some(part)
    })
}

/// The tests that failed.
#[derive(Debug, Default)]
pub(super) struct Failed<'a> {
    /// Their names, as they are in the text.
    names: Names<'a>,
    /// Failed tests of events, with their packages, which may be interleaved.
    in_packages: HashSet<(&'a str, &'a str)>,
    /// Those without a verdict.
    died: HashSet<&'a str>,
    /// The package and the test of the last event, and whether it failed; there are several events for each.
    last: Option<((&'a str, &'a str), bool)>,
}

impl<'a> Failed<'a> {
    /// The failed tests whose verdicts are in `text`.
    pub(super) fn of(text: &'a str) -> Self {
        let mut failed = Self::default();
        let mut rest = text;
        while let Some((before, _)) = rest.split_text(VERDICT) {
            let start = memrchr(b'\n', before.as_bytes()).map_or(0, |newline| newline + 1);
            let from_line = rest.get(start..).unwrap_or_default();
            let line = lines(from_line).next().unwrap_or_default();
            failed.add(line);
            if failed.names.len() + failed.in_packages.len() >= MAX_NAMES {
                break;
            }
            rest = from_line.get(line.len()..).unwrap_or_default();
        }
        failed.add_panics(text);
        failed
    }

    /// Adds the tests of events in which a run crashed: no verdict follows.
    fn add_panics(&mut self, text: &'a str) {
        for at in memmem::find_iter(text.as_bytes(), PANIC).take(MAX_NAMES) {
            let start = memrchr(b'\n', text.as_bytes().get(..at).unwrap_or_default());
            let line = text.get(start.map_or(0, |newline| newline + 1)..);
            let event = line.and_then(|line| Event::read(lines(line).next()?));
            let owner = event.and_then(|event| event.package.zip(event.test));
            if let Some((_, name)) = owner.filter(|owner| self.in_packages.insert(*owner)) {
                self.died.insert(name);
            }
        }
    }

    /// The prefix of the row of the test `name`: there is no verdict for a test in which the run crashed.
    pub(super) fn word(&self, name: &str) -> &'static str {
        if self.died.contains(name) {
            "=== RUN   "
        } else {
            VERDICT
        }
    }

    fn add(&mut self, line: &'a str) {
        if let Some(event) = Event::read(line) {
            self.in_packages.extend(event.package.zip(event.test));
        } else if let Some((_, rest)) = line.split_text(VERDICT) {
            self.names.extend(rest.split(" (").next());
        }
    }

    /// The test `name`, if it failed.
    pub(super) fn named(&self, name: &str) -> Option<&'a str> {
        self.names.get(name).copied()
    }

    /// The test of `event`, if it failed.
    pub(super) fn told(&mut self, event: &Event<'a>) -> Option<&'a str> {
        let (package, test) = event.package.zip(event.test)?;
        let known = self.last.filter(|(last, _)| *last == (package, test));
        let (_, failed) = known.unwrap_or_else(|| {
            let key = (package, test);
            (key, self.in_packages.contains(&key))
        });
        self.last = Some(((package, test), failed));
        failed.then_some(test)
    }

    /// Whether no verdict was found in plain output.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_the_line_that_closes_its_package() {
        let text = "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\toak\t0.1s\nok  \telm\t0.2s\n--- FAIL: TestB (0.00s)\nFAIL\tash\t0.1s\nFAIL\n";
        let parts: Vec<&str> = packages(text).collect();
        assert_eq!(parts.concat(), text);
        let names: Vec<Vec<&str>> = parts
            .iter()
            .map(|part| Failed::of(part).names.into_iter().collect())
            .collect();
        assert_eq!(names, [vec!["TestA"], vec![], vec!["TestB"], vec![]]);
    }

    #[test]
    fn a_test_in_whose_events_the_run_died_failed() {
        let event = |test: &str, said: &str| {
            format!(
                "{{\"Time\":\"2026\",\"Action\":\"output\",\"Package\":\"oak\",\"Test\":\"{test}\",\"Output\":\"{said}\\n\"}}\n"
            )
        };
        let text = event("TestA", "fell")
            + &event("TestB", "panic: test timed out after 2s")
            + &event("TestC", "panics: none");
        let failed = Failed::of(&text);
        assert_eq!(failed.word("TestB"), "=== RUN   ");
        assert_eq!(
            failed.in_packages.into_iter().collect::<Vec<_>>(),
            [("oak", "TestB")]
        );
    }

    #[test]
    fn a_text_of_no_package_is_one_part() {
        assert_eq!(packages("{\"Action\":\"run\"}\n").count(), 1);
        assert_eq!(packages("").count(), 0);
    }
}
