//! What a failed test logged, and how much of it is told.

use super::super::beginnings::Beginnings;
use super::super::fingerprint::{fingerprint, mixed, without_numbers};
use super::super::line::place;

/// Lines at one place, in a long text and in a short one, and such places.
const LINES: usize = 12;
const LINES_OF_SHORT: usize = 40;
const PLACES: usize = 12;
/// In a long text lines from one place differ in numbers only: how many of them are told.
const TOLD: usize = 3;
/// Among so many lines that are told others are looked for.
const MOST: usize = 64;

/// The frame that comparing libraries draw around values.
pub(super) static LOG_NOISE: Beginnings<6> = Beginnings::new([
    "Diff:",
    "--- Expected",
    "+++ Actual",
    "@@ ",
    "Test:",
    "Messages: \t",
]);

/// What one failed test logged so far.
#[derive(Debug, Default)]
pub(super) struct Logged {
    places: usize,
    /// Lines since the last place.
    lines: usize,
    /// What the lines say that were told, numbers aside.
    said: Vec<u64>,
    /// Whether the last line with a place was not told: what stands below it goes with it.
    hides: bool,
}

impl Logged {
    pub(super) fn clear(&mut self) {
        self.places = 0;
        self.lines = 0;
        self.said.clear();
        self.hides = false;
    }

    /// Counts the next line of a text of `is_long`; whether it is told.
    pub(super) fn tells(&mut self, line: &str, is_long: bool) -> bool {
        if is_placed(line) {
            self.hides = self.has_enough_alike(line, is_long);
            if self.hides {
                return false;
            }
            self.places += 1;
            self.lines = 1;
        } else if self.hides {
            return false;
        } else {
            self.lines += 1;
        }
        if is_long {
            self.lines <= LINES && self.places <= PLACES
        } else {
            self.lines + self.places <= LINES_OF_SHORT
        }
    }

    /// Whether enough lines like `line` were told: in a long text those from its place that differ in
    /// numbers only, in a short one those that say the same.
    fn has_enough_alike(&mut self, line: &str, is_long: bool) -> bool {
        let Some((place, said)) = line.split_once(": ") else {
            return false;
        };
        let path = place.trim_end_matches(|sign: char| sign.is_ascii_digit());
        if !path.ends_with(".go:") {
            return false;
        }
        let said = if is_long {
            without_numbers(said)
        } else {
            fingerprint(said)
        };
        let key = mixed(fingerprint(place), said);
        let told = self.said.iter().filter(|known| **known == key).count();
        if told < TOLD && self.said.len() < MOST {
            self.said.push(key);
        }
        told >= TOLD
    }
}

/// Whether a line begins with its place in a source file.
pub(super) fn is_placed(line: &str) -> bool {
    place(line).is_some_and(|place| is_source(place.path))
}

fn is_source(path: &str) -> bool {
    std::path::Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "go")
}
