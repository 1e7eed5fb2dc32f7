//! Records with a time: lines without one belong to the record above, and count less unless it is bad.

use crate::source::{Kind, Part, Source};

const LEAST_STAMPS: usize = 10;
/// At least one line in this many has a time.
const STAMP_SHARE: usize = 8;
/// The weight of a line without a time.
const WEIGHT: f64 = 0.6;

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let stamped: Vec<bool> = (part.start..part.end)
        .map(|number| is_stamped(source.bytes(number)))
        .collect();
    let count = stamped.iter().filter(|is_stamped| **is_stamped).count();
    if count < LEAST_STAMPS || count * STAMP_SHARE < part.end - part.start {
        return;
    }
    let mut record = None;
    for (number, is_stamped) in (part.start..part.end).zip(stamped) {
        if is_stamped {
            record = Some(number);
            continue;
        }
        let Some(above) = record else {
            continue;
        };
        let is_bad = matches!(
            source.lines[above].kind,
            Kind::Failure | Kind::Title | Kind::Warning
        );
        let line = &mut source.lines[number];
        if !is_bad && matches!(line.kind, Kind::Plain | Kind::Row) {
            line.kind = Kind::Context;
            line.heading = Some(above);
            line.weight = WEIGHT;
        }
    }
}

/// Whether a line begins with a time, or a date and a time.
fn is_stamped(line: &[u8]) -> bool {
    let line = line.get(..40).unwrap_or(line);
    let start = line
        .iter()
        .position(u8::is_ascii_alphanumeric)
        .unwrap_or(line.len());
    if start > 2 {
        return false;
    }
    let line = line.get(start..).unwrap_or_default();
    let line = after_date(line).unwrap_or(line);
    is_time(line)
}

/// What follows `2026-01-02 ` or `Jan  2 `.
fn after_date(line: &[u8]) -> Option<&[u8]> {
    let is_digit = |at: usize| line.get(at).is_some_and(u8::is_ascii_digit);
    let is_one_of =
        |at: usize, symbols: &[u8]| line.get(at).is_some_and(|byte| symbols.contains(byte));
    let is_date = (0..4).all(is_digit)
        && is_one_of(4, b"-/")
        && is_digit(5)
        && is_digit(6)
        && is_one_of(7, b"-/")
        && is_digit(8)
        && is_digit(9);
    if is_date {
        return is_one_of(10, b"T ").then(|| line.get(11..)).flatten();
    }
    let is_month = line.iter().take(3).all(u8::is_ascii_alphabetic) && is_one_of(3, b" ");
    if !is_month {
        return None;
    }
    let rest = line.get(4..)?.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=2)
        .contains(&digits)
        .then(|| rest.get(digits + 1..))
        .flatten()
}

fn is_time(line: &[u8]) -> bool {
    let is_digit = |at: usize| line.get(at).is_some_and(u8::is_ascii_digit);
    is_digit(0) && is_digit(1) && line.get(2) == Some(&b':') && is_digit(3) && is_digit(4)
}
