//! Finds exceptions: numbers that are the same in nearly all lines of a template, and the few lines in which they
//! differ, such as one `-> 503` among hundreds of `-> 200`.

use std::cmp::Reverse;

use super::Numbered;
use super::large::Large;
use super::numbers::{NUMBERS, Numbers, values};

/// How many other values of a number are distinguished; with more it is a counter or a measurement.
const MAX_VALUES: usize = 8;
/// From this many lines on, a number is not a state if more than one line in this many differs.
const ENOUGH_LINES: usize = 64;
const STATE_SHARE: usize = 4;
/// How many lines with an exceptional value are counted for each number before the usual values are settled.
const EARLY_LINES: usize = 16;
/// After this many consecutive lines that differ in the same way, these are the usual lines.
const NEW_USUAL: usize = 16;
/// Lines with another value are exceptions up to one line in this many; a single line, if there are at least this many.
const ODD_SHARE: usize = 20;
const ODD_ONE_OF: usize = 8;
/// How many exceptions are shown for a template.
const MOST_ODD: usize = 6;

/// An unusual value of a number.
#[derive(Clone, Copy, Debug)]
struct Value<'a> {
    number: u32,
    /// How many lines have it, and in how many of these nothing else is rarer.
    seen: usize,
    count: usize,
    first: Numbered<'a>,
    /// Whether it was the usual value for a while.
    was_usual: bool,
}

/// One of the numbers of a template.
#[derive(Debug)]
struct Place<'a> {
    others: Vec<Value<'a>>,
    first_usual: Numbered<'a>,
    /// The number of the last line in which it has the usual value and another number does not.
    last_usual: usize,
}

impl Place<'_> {
    /// How many lines have another value that was never the usual one.
    fn unusual(&self) -> usize {
        let others = self.others.iter().filter(|other| !other.was_usual);
        others.map(|other| other.seen).sum()
    }
}

/// Lines that are exceptions for the same reason.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) first: Numbered<'a>,
    pub(super) count: usize,
    /// The first line in which the number has its usual value.
    pub(super) usual: Numbered<'a>,
}

/// The beginning and end of a usual line, with the watched numbers and the bytes next to them: compared without reading
/// the numbers between.
#[derive(Clone, Copy, Debug)]
struct Ends<'a> {
    head: &'a str,
    tail: &'a str,
}

impl<'a> Ends<'a> {
    fn of(line: &'a str, head: usize, tail: usize) -> Option<Self> {
        Some(Self {
            head: line.get(..head)?,
            tail: line.get(tail..)?,
        })
    }

    fn are_of(&self, line: &str) -> bool {
        line.len() >= self.head.len() + self.tail.len()
            && line.starts_with(self.head)
            && line.ends_with(self.tail)
    }
}

/// The usual values in the lines of a template, and the lines that differ.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    usual: Numbers,
    /// One bit for each watched number, and the data about it.
    watched: u32,
    places: Vec<Place<'a>>,
    ends: Option<Ends<'a>>,
    /// The number of the last line in which all values are usual.
    last_usual: usize,
    lines: usize,
    large: Large<'a>,
    /// How many consecutive lines up to the last differ in the same way, and their numbers.
    row: (usize, Numbers),
}

impl<'a> Watch<'a> {
    /// The state after the first line of a template, with which further lines are compared.
    pub(super) fn of(first: Numbered<'a>) -> Self {
        let usual = Numbers::of(first.line);
        let watched = usual.count.min(NUMBERS);
        Self {
            usual,
            watched: (1 << watched) - 1,
            places: (0..watched)
                .map(|_| Place {
                    others: Vec::new(),
                    first_usual: first,
                    last_usual: 0,
                })
                .collect(),
            ends: None,
            last_usual: first.number,
            lines: 1,
            large: Large::of(first),
            row: (0, usual),
        }
    }

    /// Adds a line.
    pub(super) fn line(&mut self, here: Numbered<'a>) {
        self.lines += 1;
        self.large.line(here, self.lines);
        if self.watched == 0 {
            return;
        }
        if self.is_usual(here.line) {
            self.last_usual = here.number;
            self.row.0 = 0;
            return;
        }
        let numbers = Numbers::of(here.line);
        if numbers.count != self.usual.count {
            // It is not known which numbers correspond to each other.
            return;
        }
        self.differs(here, &numbers);
        let in_row = self.row.0 > 0 && self.watched & numbers.differing(&self.row.1) == 0;
        self.row = (if in_row { self.row.0 + 1 } else { 1 }, numbers);
        if self.row.0 == NEW_USUAL {
            self.exchange(here, &numbers);
        }
    }

    /// Records the unusual numbers of a line; the line is an exception because of the rarest.
    fn differs(&mut self, here: Numbered<'a>, numbers: &Numbers) {
        let differing = self.watched & numbers.differing(&self.usual);
        let lines = self.lines;
        let is_early = lines <= EARLY_LINES;
        let mut rarest = None;
        let places = self.places.iter_mut().zip(numbers.values).enumerate();
        for (at, (place, value)) in places {
            if self.watched >> at & 1 == 0 {
                continue;
            }
            if differing >> at & 1 == 0 {
                place.last_usual = here.number;
                continue;
            }
            let known = place.others.iter_mut().find(|other| other.number == value);
            let seen = if let Some(known) = known {
                known.seen += 1;
                known.count += usize::from(is_early);
                known.seen
            } else {
                place.others.push(Value {
                    number: value,
                    seen: 1,
                    // In the first lines it is not known yet which numbers are counters and clocks.
                    count: usize::from(is_early),
                    first: here,
                    was_usual: false,
                });
                1
            };
            let is_measure = place.others.len() > MAX_VALUES
                || lines >= ENOUGH_LINES && place.unusual() * STATE_SHARE > lines;
            if is_measure {
                self.watched &= !(1 << at);
                self.ends = None;
                place.others = Vec::new();
                continue;
            }
            // Clocks and counters are before the data they belong to.
            let found = (seen, place.others.len(), Reverse(at));
            rarest = Some(rarest.map_or(found, |rarest| found.min(rarest)));
        }
        let rarest = rarest.filter(|_| !is_early);
        let place = rarest.and_then(|(.., Reverse(at))| {
            Some((self.places.get_mut(at)?, numbers.values.get(at)?))
        });
        if let Some((place, value)) = place
            && let Some(other) = place.others.iter_mut().find(|other| other.number == *value)
        {
            other.count += 1;
        }
    }

    /// Makes `numbers` the usual ones.
    fn exchange(&mut self, here: Numbered<'a>, numbers: &Numbers) {
        let differing = self.watched & numbers.differing(&self.usual);
        let lines = self.lines;
        for (at, place) in self.places.iter_mut().enumerate() {
            if differing >> at & 1 == 0 {
                continue;
            }
            let (Some(value), Some(usual)) =
                (numbers.values.get(at), self.usual.values.get_mut(at))
            else {
                continue;
            };
            let others: usize = place.others.iter().map(|other| other.seen).sum();
            if let Some(other) = place.others.iter_mut().find(|other| other.number == *value) {
                let before = lines.saturating_sub(others);
                let first = std::mem::replace(&mut place.first_usual, other.first);
                *other = Value {
                    number: std::mem::replace(usual, *value),
                    seen: before,
                    count: before,
                    first,
                    was_usual: true,
                };
            }
            place.last_usual = here.number;
        }
        self.ends = None;
        self.last_usual = here.number;
        self.row.0 = 0;
    }

    /// The exceptions among all lines that were added.
    pub(super) fn odd(&self) -> Vec<Found<'a>> {
        let lines = self.lines;
        let mut odd: Vec<Found<'a>> = Vec::new();
        for (at, place) in self.places.iter().enumerate() {
            if self.watched >> at & 1 == 0 {
                continue;
            }
            let last_usual = place.last_usual.max(self.last_usual);
            for other in &place.others {
                let is_rare =
                    other.count * ODD_SHARE <= lines || other.count == 1 && lines > ODD_ONE_OF;
                // If the previous usual value never returned, this is a new state, which the last line shows.
                if other.count > 0 && is_rare && other.first.number < last_usual {
                    odd.push(Found {
                        first: other.first,
                        count: other.count,
                        usual: place.first_usual,
                    });
                }
            }
        }
        odd.extend(self.large.found().iter().map(|first| Found {
            first: *first,
            count: 1,
            usual: *first,
        }));
        // A line that is an exception because of two numbers is shown once.
        odd.sort_unstable_by_key(|found| (found.first.number, Reverse(found.count)));
        odd.dedup_by_key(|found| found.first.number);
        odd.sort_unstable_by_key(|found| (found.count, found.first.number));
        odd.truncate(MOST_ODD);
        odd
    }

    /// Whether `line` has the usual numbers.
    fn is_usual(&mut self, line: &'a str) -> bool {
        if self.ends.is_some_and(|ends| ends.are_of(line)) {
            return true;
        }
        let last = u32::BITS - self.watched.leading_zeros();
        let ending = if last as usize == self.usual.count {
            (self.watched << (u32::BITS - last)).leading_ones()
        } else {
            0
        };
        let heading = self.watched.trailing_ones().min(last - ending);
        let (mut head, mut tail) = (0, line.len());
        for ((place, (value, range)), usual) in (0..last).zip(values(line)).zip(self.usual.values) {
            if self.watched >> place & 1 == 1 && value != usual {
                return false;
            }
            if place + 1 == heading {
                head = range.end + 1;
            }
            if place + ending == last {
                tail = range.start.saturating_sub(1);
            }
        }
        if heading + ending == self.watched.count_ones() {
            self.ends = Ends::of(line, head, tail);
        }
        true
    }
}

#[cfg(test)]
mod tests;
