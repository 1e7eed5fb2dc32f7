//! Selects the lines that a failed test logged.

use crate::line::beginnings::Beginnings;
use crate::line::fingerprint::{fingerprint, mixed, without_numbers};
use crate::line::place;

/// How many lines with one location are shown in a long and in a short text, and how many locations.
const LINES: usize = 12;
const LINES_OF_SHORT: usize = 40;
const PLACES: usize = 12;
/// How many lines with one location that differ only in numbers are shown in a long text.
const TOLD: usize = 3;
/// The same if the lines below contain the values.
const TOLD_BELOW: usize = 5;
/// How many shown lines are searched for similar ones.
const MOST: usize = 64;

/// The lines that assertion libraries print around values.
pub(super) static LOG_NOISE: Beginnings<6> = Beginnings::new([
    "Diff:",
    "--- Expected",
    "+++ Actual",
    "@@ ",
    "Test:",
    "Messages: \t",
]);

/// The lines of one failed test so far.
#[derive(Debug, Default)]
pub(super) struct Logged {
    places: usize,
    /// The last location, if nothing follows it.
    place: u64,
    /// The number of lines since the last location.
    lines: usize,
    /// Hashes of the shown lines without their numbers.
    said: Vec<u64>,
    /// Whether the last line with a location was left out: the lines below it are left out too.
    hides: bool,
}

impl Logged {
    pub(super) fn clear(&mut self) {
        self.places = 0;
        self.lines = 0;
        self.said.clear();
        self.hides = false;
    }

    /// Whether `line` repeats the location of the last line: `Error Trace: /w/oak_test.go:7`.
    pub(super) fn repeats_place(&self, line: &str) -> bool {
        let trace = line.strip_prefix("Error Trace:");
        trace.is_some_and(|path| {
            let name = path.rsplit(['/', '\t', ' ']).next().unwrap_or(path);
            self.place == fingerprint(name)
        })
    }

    /// Counts the next line; `is_long` is whether the output is long. Returns whether the line is shown.
    pub(super) fn tells(&mut self, line: &str, is_long: bool) -> bool {
        if is_placed(line) {
            self.hides = self.has_enough_alike(line, is_long);
            if self.hides {
                return false;
            }
            self.place = fingerprint(line.trim_end_matches([':', ' ']));
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

    /// Whether enough lines like `line` were shown: in a long text those with its location that differ only in numbers,
    /// in a short one those with the same message.
    fn has_enough_alike(&mut self, line: &str, is_long: bool) -> bool {
        // Assertion libraries print their message below a location.
        let bare = line.trim_end().strip_suffix(':');
        let Some((place, said)) = line.split_once(": ").or(bare.map(|place| (place, ""))) else {
            return false;
        };
        let path = place.trim_end_matches(|sign: char| sign.is_ascii_digit());
        if !path.ends_with(".go:") {
            return false;
        }
        let said_below = said.is_empty() && is_long;
        if said.is_empty() && !is_long {
            return false;
        }
        let said = if is_long {
            without_numbers(said)
        } else {
            fingerprint(said)
        };
        let key = mixed(fingerprint(place), said);
        let told = self.said.iter().filter(|known| **known == key).count();
        let most = if said_below { TOLD_BELOW } else { TOLD };
        if told < most && self.said.len() < MOST {
            self.said.push(key);
        }
        told >= most
    }
}

/// Whether a line begins with its location in a source file.
pub(super) fn is_placed(line: &str) -> bool {
    // Assertion libraries print their own locations after words.
    place(line).is_some_and(|place| is_source(place.path) && !place.path.contains([' ', '\t']))
}

fn is_source(path: &str) -> bool {
    std::path::Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "go")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_below_which_the_library_says_what_was_found_are_told_a_few_times() {
        let mut logged = Logged::default();
        let mut told = |line: &str| logged.tells(line, true);
        for number in 0..9 {
            assert_eq!(told("oak_test.go:7:"), number < TOLD_BELOW, "{number}");
            assert_eq!(told("Error: Not equal:"), number < TOLD_BELOW, "{number}");
        }
        assert!(told("oak_test.go:9:") && told("Error: Not equal:"));
    }

    #[test]
    fn a_place_that_stands_above_need_not_be_said_again() {
        let mut logged = Logged::default();
        assert!(logged.tells("oak_test.go:7:", false));
        assert!(logged.repeats_place("Error Trace:\t/w/oak/oak_test.go:7"));
        assert!(!logged.repeats_place("Error Trace:\t/w/oak/leaf.go:12"));
        assert!(!logged.repeats_place("Error: Not equal:"));
    }
}
