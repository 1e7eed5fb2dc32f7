//! One number a line: the weight of its kind, novelty, rarity and spread; and which lines are placed first.

use hashbrown::HashMap;
use memchr::memchr2;

use crate::lexicon::lexicon;
use crate::source::{Kind, Line, Part, Source, real};
use crate::template::mixed;
use crate::values::outliers;

/// The last lines of the output are placed first, and this many below the last failure.
const TAIL: usize = 4;
const BELOW_FAILURE: usize = 5;
/// Templates with this many rows are searched for unusual fields.
const LEAST_ROWS: usize = 40;
const MOST_FIELDS: usize = 24;
/// An unusual field marks at most one row in this many.
const OUTLIER_SHARE: usize = 15;
const OUTLIER_VALUE: f64 = 5.0;
/// Of a heading, this share of the value of its best line.
const HEADING_SHARE: f64 = 0.75;
/// Up to this number of parts, their ends count more.
const FEW_PARTS: usize = 4;

/// Sets the values of all lines, and those that are reserved.
pub(crate) fn rank(source: &mut Source<'_>, parts: &[Part]) {
    let filled = source.filled(0, source.lines.len());
    by_template(source, &filled);
    by_novelty(source, &filled);
    near_ends(source, parts);
    near_failures(source, &filled);
    // A heading is worth what it holds.
    for number in filled.iter().rev() {
        let line = &source.lines[*number];
        let counts = !matches!(line.kind, Kind::Progress | Kind::Noise | Kind::Passed);
        if let Some(heading) = line.heading.filter(|_| counts) {
            let share = HEADING_SHARE * line.value;
            let above = &mut source.lines[heading];
            above.value = above.value.max(share);
        }
    }
}

fn by_template(source: &mut Source<'_>, filled: &[usize]) {
    let mut groups: HashMap<u64, usize> = HashMap::new();
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for number in filled {
        let line = &source.lines[*number];
        let key = mixed(line.template, initial(line.kind));
        let group = *groups.entry(key).or_insert(rows.len());
        if group == rows.len() {
            rows.push(Vec::new());
        }
        if let Some(group) = rows.get_mut(group) {
            group.push(*number);
        }
    }
    for group in rows {
        let is_long = group.len() >= LEAST_ROWS;
        let unusual = if is_long {
            outlier_rows(source, &group)
        } else {
            vec![false; group.len()]
        };
        let alarming = alarming_rows(source, &group);
        let mut nth_marked = 0;
        let marks = unusual.into_iter().zip(alarming);
        for ((nth, number), (is_outlier, is_alarming)) in
            spread(group.len()).into_iter().zip(&group).zip(marks)
        {
            let is_titled = is_of_title(source, &source.lines[*number]);
            let line = &mut source.lines[*number];
            let mut nth = nth;
            let mut value = line.weighs();
            let explains = matches!(
                line.kind,
                Kind::Plain | Kind::Change | Kind::Row | Kind::Location | Kind::Hint
            );
            if line.detail > 0 && line.weight <= 0.0 && explains {
                value = value.max(4.5 - 0.25 * real(line.detail));
            }
            if is_titled && matches!(line.kind, Kind::Failure | Kind::Location) {
                nth /= 6; // each failure has its message and place
            }
            if is_outlier || is_alarming {
                value = value.max(OUTLIER_VALUE);
                nth = (nth / 8).min(nth_marked);
                nth_marked += 1;
            }
            line.is_alarming = is_alarming;
            line.value = value / (1.0 + line.kind.decay() * real(nth));
        }
    }
}

/// Kinds that share repeats of a template.
fn initial(kind: Kind) -> u64 {
    match kind {
        Kind::Failure | Kind::Failed | Kind::Frame => 1,
        Kind::Passed | Kind::Plain | Kind::Progress | Kind::Preamble => 2,
        Kind::Heading | Kind::Hint | Kind::Hunk => 3,
        Kind::Change | Kind::Code | Kind::Context => 4,
        other => 5 + other as u64,
    }
}

fn is_of_title(source: &Source<'_>, line: &Line) -> bool {
    line.detail > 0
        && line
            .unit
            .is_some_and(|unit| source.lines[unit].kind == Kind::Title)
}

/// The ranks of places: three from the front, then one of the last, the middle, the quarters, and so on.
///
/// Any prefix of the order covers the whole, and most of it are lines that follow each other, which need no gap mark.
fn spread(count: usize) -> Vec<usize> {
    let mut ranks = vec![usize::MAX; count];
    let mut given = 0;
    let mut front = 0..count;
    let mut far = halves(count).into_iter();
    while given < count {
        for turn in 0..4 {
            let next = if turn < 3 {
                front.find(|place| ranks.get(*place) == Some(&usize::MAX))
            } else {
                far.find(|place| ranks.get(*place) == Some(&usize::MAX))
            };
            if let Some(rank) = next.and_then(|place| ranks.get_mut(place)) {
                *rank = given;
                given += 1;
            }
        }
    }
    ranks
}

/// The first, the last, the middle, the quarters, and so on.
fn halves(count: usize) -> Vec<usize> {
    let mut order = vec![0, count.saturating_sub(1)];
    let mut ranges = vec![(0, count.saturating_sub(1))];
    let mut at = 0;
    while let Some((low, high)) = ranges.get(at).copied() {
        at += 1;
        if high - low > 1 {
            let middle = usize::midpoint(low, high);
            order.push(middle);
            ranges.push((low, middle));
            ranges.push((middle, high));
        }
    }
    order
}

/// Which rows have a name that contains a word for a failure, if they are few.
fn alarming_rows(source: &Source<'_>, rows: &[usize]) -> Vec<bool> {
    let is_alarming = |row: &usize| {
        !source.lines[*row].kind.is_verbatim() && lexicon().is_named_badly(source.at(*row))
    };
    let mut found: Vec<bool> = rows.iter().map(is_alarming).collect();
    if found.iter().filter(|is_alarming| **is_alarming).count() * OUTLIER_SHARE > rows.len() {
        found.fill(false);
    }
    found
}

/// Which rows have a field unlike that of the other rows of their template.
fn outlier_rows(source: &Source<'_>, rows: &[usize]) -> Vec<bool> {
    let fields: Vec<Vec<&str>> = rows.iter().map(|row| fields(source.at(*row))).collect();
    let columns = fields.iter().map(Vec::len).min().unwrap_or_default();
    let mut found = vec![false; rows.len()];
    for column in 0..columns {
        let values: Vec<&str> = fields
            .iter()
            .filter_map(|row| row.get(column).copied())
            .collect();
        let unusual = outliers(&values);
        let hits = values
            .iter()
            .filter(|value| unusual.contains(**value))
            .count();
        if hits * OUTLIER_SHARE <= rows.len() {
            for (is_outlier, value) in found.iter_mut().zip(&values) {
                *is_outlier |= unusual.contains(value);
            }
        }
    }
    found
}

/// The fields of a row: quoted or bracketed text, or words.
fn fields(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let mut fields = Vec::new();
    let mut at = 0;
    while at < bytes.len() && fields.len() < MOST_FIELDS {
        let sign = byte(at);
        if sign.is_ascii_whitespace() || sign == b'|' {
            at += 1;
            continue;
        }
        let closing = match sign {
            b'"' => Some(b'"'),
            b'[' => Some(b']'),
            _ => None,
        };
        let rest = bytes.get(at + 1..).unwrap_or_default();
        let closed = closing.and_then(|closing| memchr2(closing, b'\n', rest));
        let end = if let Some(length) = closed {
            at + length + 2
        } else {
            let is_word = |byte: &&u8| !byte.is_ascii_whitespace() && **byte != b'|';
            at + 1 + rest.iter().take_while(is_word).count()
        };
        fields.push(text.get(at..end).unwrap_or_default());
        at = end;
    }
    fields
}

/// The first lines of each file and each code count more.
fn by_novelty(source: &mut Source<'_>, filled: &[usize]) {
    let mut files: HashMap<u64, usize> = HashMap::new();
    let mut codes: HashMap<u64, usize> = HashMap::new();
    for number in filled {
        let line = &mut source.lines[*number];
        if !matches!(
            line.kind,
            Kind::Failure | Kind::Title | Kind::Location | Kind::Warning | Kind::Row
        ) {
            continue;
        }
        for (seen, key, first) in [(&mut files, line.file, 8.0), (&mut codes, line.code, 12.0)] {
            if key != 0 {
                let nth = seen.entry(key).or_default();
                let value = if *nth == 0 && line.kind != Kind::Row {
                    line.weighs().max(first)
                } else {
                    line.weighs()
                };
                line.value = line.value.max(value / (1.0 + 0.3 * real(*nth)));
                *nth += 1;
            }
        }
    }
}

/// Lines near an end of their part count more.
fn near_ends(source: &mut Source<'_>, parts: &[Part]) {
    let bonus = if parts.len() < FEW_PARTS { 2.5 } else { 1.5 };
    for part in parts {
        let filled = source.filled(part.start, part.end);
        for (nth, number) in filled.iter().enumerate() {
            let edge = real(nth).min(0.5 * real(filled.len() - 1 - nth));
            let line = &mut source.lines[*number];
            if !matches!(
                line.kind,
                Kind::Progress | Kind::Noise | Kind::Passed | Kind::Code
            ) {
                line.value += bonus / (1.0 + edge / 4.0);
            }
        }
        if parts.len() > 1 {
            for number in filled.iter().rev().take(2) {
                let line = &mut source.lines[*number];
                line.value = line.value.max(6.0);
            }
        }
    }
}

/// Lines near a failure count more; the first line, the end and the last failure with what is below it are reserved.
fn near_failures(source: &mut Source<'_>, filled: &[usize]) {
    let is_bad =
        |number: &&usize| matches!(source.lines[**number].kind, Kind::Failure | Kind::Title);
    let bad: Vec<usize> = filled.iter().filter(is_bad).copied().collect();
    for number in &bad {
        for (distance, bonus) in [(-2_isize, 0.8), (-1, 1.5), (1, 1.5), (2, 0.8), (3, 0.8)] {
            let Some(near) = number.checked_add_signed(distance) else {
                continue;
            };
            let line = &mut source.lines[near];
            if matches!(line.kind, Kind::Plain | Kind::Row | Kind::Heading) && line.detail == 0 {
                line.value += bonus;
            }
        }
    }
    let below = bad
        .last()
        .map(|last| source.filled(*last, last + BELOW_FAILURE))
        .unwrap_or_default();
    for number in filled.iter().take(1).chain(bad.first()).chain(&below) {
        source.lines[*number].reserved = 2;
    }
    for number in filled.iter().rev().take(TAIL) {
        source.lines[*number].reserved = 3;
    }
}
