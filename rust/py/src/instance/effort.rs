//! How much one validation may look at: a schema of somebody else and a value of some kilobytes can
//! make it look at one place on a million ways, or at each pair of an item and an alternative.
//!
//! The library asks values for everything it does with them, so they count. Once the effort is spent
//! they are empty: what is left of the validation ends soon, and its answer is not used.

use std::cell::Cell;
use std::time::{Duration, Instant};

use serde_json::Value;

/// What is allowed whatever the size of the value: about a tenth of a second.
const FREE: usize = 1 << 22;
/// What is allowed for each place of a large value.
const FOR_EACH_PLACE: usize = 16;
/// The bytes of text that are read in the time of one look.
const BYTES: usize = 64;
/// The items that are marked in the time of one look.
pub(super) const MARKS: usize = 16;
/// What it costs more to read a name: a pattern is compared with it.
pub(super) const NAME: usize = 2;
/// What it costs to compare numbers of any size.
pub(super) const NUMBERS: usize = 40;
/// What it costs to copy one place of a value.
pub(super) const COPY: usize = 8;
/// What it costs to report one problem of a value.
pub(super) const REPORT: usize = 32;

/// The positions of its automaton that a pattern passes in about a quarter of a second, if each byte
/// leads to new ones. Most patterns are a hundred times faster.
const POSITIONS: usize = 1 << 23;
/// The positions that have few sets: each set is walked once.
const LIGHT: usize = 12;
/// The positions after which the clock is looked at.
const POSITIONS_UNTIMED: usize = 1 << 20;
const PATTERNS_AT_MOST: Duration = Duration::from_millis(200);

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    static PATTERNS: Cell<Patterns> = const { Cell::new(Patterns { weight: 1, passed: 0, since: None }) };
}

#[derive(Clone, Copy)]
struct Patterns {
    /// Positions for each byte.
    weight: usize,
    /// Positions since the clock was looked at.
    passed: usize,
    since: Option<Instant>,
}

/// Start to count for a value of this many places, and patterns of this weight.
pub(crate) fn allow(places: usize, weight: usize) {
    set_left(places.saturating_mul(FOR_EACH_PLACE).max(FREE));
    PATTERNS.set(Patterns {
        weight,
        passed: 0,
        since: None,
    });
}

/// Count that a pattern is compared with text; whether it is still allowed.
#[expect(
    clippy::disallowed_methods,
    reason = "what a pattern costs cannot be known before"
)]
pub(super) fn compare(text: &str) -> bool {
    let mut patterns = PATTERNS.get();
    let positions = text.len().saturating_mul(patterns.weight);
    patterns.passed += positions.min(POSITIONS);
    if patterns.passed > POSITIONS_UNTIMED {
        patterns.passed = 0;
        let since = *patterns.since.get_or_insert_with(Instant::now);
        let is_too_much = patterns.weight > LIGHT && positions > POSITIONS;
        if is_too_much || since.elapsed() > PATTERNS_AT_MOST {
            set_left(0);
        }
    }
    PATTERNS.set(patterns);
    look(of_text(text))
}

pub(super) fn left() -> usize {
    LEFT.get()
}

pub(super) fn set_left(left: usize) {
    LEFT.set(left);
}

/// Whether everything is spent.
pub(crate) fn is_spent() -> bool {
    left() == 0
}

/// Count one look that costs `more` than others; whether it is still allowed.
pub(super) fn look(more: usize) -> bool {
    let left = left().saturating_sub(more.saturating_add(1));
    set_left(left);
    left > 0
}

/// What text costs more than another value.
pub(super) fn of_text(text: &str) -> usize {
    text.len() / BYTES
}

/// The places of a value; a long string is several.
pub(crate) fn places(value: &Value) -> usize {
    1 + match value {
        Value::String(text) => of_text(text),
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| of_text(name) + places(value))
            .sum(),
        _ => 0,
    }
}
