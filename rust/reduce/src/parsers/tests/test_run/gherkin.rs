//! Scenarios and steps, as behave and cucumber print them; nothing is kept of passed scenarios.

/// Words with which a step begins.
const STEPS: [&str; 6] = ["Given ", "When ", "Then ", "And ", "But ", "* "];
const SCENARIOS: [&str; 5] = [
    "Scenario: ",
    "Scenario Outline: ",
    "Scenario Template: ",
    "Example: ",
    "Background:",
];

/// Lines that belong to the lines that follow, and are left out if none do.
#[derive(Debug, Default)]
pub(super) struct Gherkin<'a> {
    scenario: Option<&'a str>,
    step: Option<&'a str>,
    /// The scenario has failed: its other steps were not run.
    failed: bool,
    /// Code that is suggested for undefined steps.
    in_snippets: bool,
}

/// What happens to a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It is left out, or waits.
    Held,
    /// It is written after the lines that wait.
    Shown,
    /// It does not belong to a scenario.
    Other,
}

impl<'a> Gherkin<'a> {
    pub(super) fn line(&mut self, trimmed: &'a str) -> Line {
        let may_be = self.in_snippets
            || trimmed.starts_with('Y')
            || trimmed.ends_with(':')
            || memchr::memchr(b'#', trimmed.as_bytes()).is_some();
        if !may_be {
            return Line::Other;
        }
        let proposes = trimmed.starts_with("You can implement step definitions ");
        if proposes || trimmed.ends_with(" scenarios:") {
            // The last scenario has ended.
            (self.scenario, self.step) = (None, None);
            self.in_snippets = proposes;
        }
        if self.in_snippets {
            return Line::Held;
        }
        let Some((text, place)) = trimmed.rsplit_once(" # ") else {
            return Line::Other;
        };
        let placed = place == "None" || place.contains(':');
        let begins = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
        if !placed || place.contains(' ') {
            Line::Other
        } else if text.starts_with("Feature: ") {
            Line::Held
        } else if begins(&SCENARIOS) {
            self.scenario = Some(trimmed);
            self.step = None;
            self.failed = false;
            Line::Held
        } else if begins(&STEPS) {
            if self.failed {
                return Line::Held;
            }
            self.step = Some(trimmed);
            if place == "None" {
                self.failed = true;
                Line::Shown
            } else {
                Line::Held
            }
        } else {
            Line::Other
        }
    }

    /// Returns the waiting scenario and step that the next line belongs to.
    pub(super) fn take(&mut self) -> impl Iterator<Item = &'a str> + use<'a> {
        let waits = self.scenario.is_some() || self.step.is_some();
        self.failed |= waits;
        self.scenario.take().into_iter().chain(self.step.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_passed_go_and_those_of_a_failure_come_with_it() {
        let mut gherkin = Gherkin::default();
        for line in [
            "Feature: Oak  # oak.feature:1",
            "Scenario: grows  # oak.feature:2",
            "Given an oak # steps.py:1",
            "Scenario: falls  # oak.feature:7",
            "Given an oak # steps.py:1",
            "When it falls # steps.py:4",
        ] {
            assert_eq!(gherkin.line(line), Line::Held, "{line}");
        }
        assert_eq!(gherkin.line("ASSERT FAILED: it stands"), Line::Other);
        let waiting: Vec<_> = gherkin.take().collect();
        assert_eq!(
            waiting,
            [
                "Scenario: falls  # oak.feature:7",
                "When it falls # steps.py:4"
            ]
        );
        assert_eq!(gherkin.line("Then it lies # None"), Line::Held);
    }

    #[test]
    fn a_step_that_nobody_wrote_is_shown() {
        let mut gherkin = Gherkin::default();
        assert_eq!(gherkin.line("Scenario: turns # oak.feature:2"), Line::Held);
        assert_eq!(gherkin.line("When it turns # None"), Line::Shown);
        assert_eq!(gherkin.line("Then it stands # None"), Line::Held);
    }

    #[test]
    fn comments_are_no_steps() {
        let mut gherkin = Gherkin::default();
        for line in ["Then # see below: here", "x = 1 # a:b", "Given a # b"] {
            assert_eq!(gherkin.line(line), Line::Other, "{line}");
        }
    }
}
