//! Lines that a failed test of a long text logged from one place, and that differ in numbers only.

use super::super::fingerprint::{fingerprint, mixed, without_numbers};

/// How many of them are told.
const TOLD: usize = 3;
/// Among so many lines that are told others are looked for.
const MOST: usize = 64;

/// What the lines say that were told of one test, numbers aside.
#[derive(Debug, Default)]
pub(super) struct Alike(Vec<u64>);

impl Alike {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether enough lines from the place of `line` were told that differ from it in numbers only.
    pub(super) fn has_enough(&mut self, line: &str) -> bool {
        let Some((place, said)) = line.split_once(": ") else {
            return false;
        };
        let path = place.trim_end_matches(|sign: char| sign.is_ascii_digit());
        if !path.ends_with(".go:") {
            return false;
        }
        let key = mixed(fingerprint(place), without_numbers(said));
        let told = self.0.iter().filter(|known| **known == key).count();
        if told < TOLD && self.0.len() < MOST {
            self.0.push(key);
        }
        told >= TOLD
    }
}
