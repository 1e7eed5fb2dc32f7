//! The block of a failed test: its tries, each with messages, differences, places and attachments.

use crate::line::fingerprint::{fingerprint, fingerprint_after};
use crate::line::shorten;
use crate::output::Output;
use crate::rows::report::{MESSAGE_CHARS, is_excerpt, is_rule, javascript_place};
use ethos_registry_core::find_text::FindText as _;

use super::line::unruled;

/// Lines of one try that are shown, of them lines of a difference.
const TRY_LINES: usize = 24;
const CHANGED_LINES: usize = 12;
/// Places of one error.
const PLACES: usize = 3;

/// A failed test.
pub(super) struct Block<'a> {
    pub(super) number: &'a str,
    head: &'a str,
    tries: Vec<Try<'a>>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Message,
    Difference,
    /// How to look at an attachment follows.
    Usage,
}

#[derive(Default)]
struct Try<'a> {
    /// `Retry #1`; of the first try nothing.
    head: &'a str,
    /// What it states: messages, differences, places.
    rows: Vec<&'a str>,
    changed: usize,
    places: usize,
    /// Files that it left.
    files: Vec<&'a str>,
}

impl<'a> Block<'a> {
    pub(super) fn new(number: &'a str, head: &'a str) -> Self {
        Self {
            number,
            head,
            tries: vec![Try::default()],
            state: State::Message,
        }
    }

    /// Takes a line of the block.
    pub(super) fn line(&mut self, trimmed: &'a str) {
        if trimmed.starts_with("Retry #") {
            self.state = State::Message;
            self.tries.push(Try {
                head: unruled(trimmed),
                ..Try::default()
            });
            return;
        }
        let Some(this) = self.tries.last_mut() else {
            return;
        };
        if trimmed.is_empty() || is_rule(trimmed) {
            return;
        }
        if trimmed == "Usage:" {
            self.state = State::Usage;
            return;
        }
        let ends = is_excerpt(trimmed) || self.state == State::Usage;
        if ends {
            self.state = State::Message;
            return;
        }
        if trimmed.starts_with("Error Context: ") || trimmed.starts_with("attachment #") {
            this.files.push(unruled(trimmed));
            return;
        }
        if let Some(frame) = trimmed.strip_prefix("at ") {
            let own = |place: &&str| !place.contains("node_modules/") && this.places < PLACES;
            if let Some(place) = javascript_place(frame).filter(own) {
                this.places += 1;
                this.rows.push(place);
            }
            return;
        }
        if trimmed.starts_with("- Expected") || trimmed.starts_with("+ Received") {
            self.state = State::Difference;
            return;
        }
        let attached = this
            .files
            .last()
            .is_some_and(|file| file.starts_with("attachment #"));
        if attached && !trimmed.has_text(" ") {
            this.files.push(trimmed);
            return;
        }
        if trimmed.starts_with("Error") || trimmed.starts_with("Call log:") {
            self.state = State::Message;
        }
        if self.state == State::Difference {
            if trimmed.starts_with(['-', '+']) && this.changed < CHANGED_LINES {
                this.changed += 1;
                this.rows.push(trimmed);
            }
        } else if this.rows.len() < TRY_LINES {
            this.rows.push(trimmed);
        }
    }

    /// What states whether another block states the same; `None` where it states nothing.
    pub(super) fn key(&self) -> Option<u64> {
        let first = self.tries.first().filter(|first| !first.rows.is_empty())?;
        let mut key = fingerprint("");
        for row in self.tries.iter().flat_map(|one| one.rows.iter()) {
            key = fingerprint_after(key, row.as_bytes());
        }
        // A message of one short line is shown sooner than where it is.
        (first.rows.len() > 1).then_some(key)
    }

    /// Writes it; `same` is the number of a block that states the same.
    pub(super) fn write(&self, same: Option<&str>, output: &mut Output) {
        output.fact(&shorten(self.head, MESSAGE_CHARS));
        let mut before: Option<&Try<'a>> = None;
        for one in &self.tries {
            if same.is_none() && before.is_none_or(|before| before.rows != one.rows) {
                if !one.head.is_empty() {
                    output.fact(one.head);
                }
                for row in &one.rows {
                    output.fact(&shorten(row, MESSAGE_CHARS));
                }
            } else if before.is_some() && same.is_none() {
                output.summary(&format!("{}: alike", one.head), 1);
            }
            if before.is_none() {
                if let Some(number) = same {
                    output.summary(&format!("says the same as {number})"), 0);
                }
                for file in &one.files {
                    output.context(&shorten(file, MESSAGE_CHARS));
                }
                before = Some(one);
            }
        }
    }
}
