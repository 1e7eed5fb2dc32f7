//! Runs of rows with the same columns. The row above them is the heading.

use crate::source::{Kind, Part, Source};

const LEAST_COLUMNS: usize = 2;
/// Rows have headings from this number of columns.
const LEAST_HEADED: usize = 3;
/// Of that many rows in a hundred the columns are the same where the padding between them goes.
const EQUAL_PERCENT: usize = 70;
/// A table has more rows than this.
const LEAST_ROWS: usize = 5;
const HEADING_WEIGHT: f64 = 4.0;

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let counts: Vec<usize> = (part.start..part.end)
        .map(|number| columns(source.at(number)))
        .collect();
    let count_of = |number: usize| counts.get(number - part.start).copied().unwrap_or_default();
    let mut first = part.start;
    while first < part.end {
        let count = count_of(first);
        if count < LEAST_COLUMNS {
            first += 1;
            continue;
        }
        let mut last = first;
        while last + 1 < part.end {
            let kind = source.lines[last + 1].kind;
            let is_row = kind == Kind::Ruler || count_of(last + 1).abs_diff(count) <= 1;
            if !is_row || kind == Kind::Blank {
                break;
            }
            last += 1;
        }
        if last - first >= LEAST_ROWS {
            if count >= LEAST_HEADED {
                rows(source, first, last);
            }
            let rows = source.filled(first, last + 1);
            let equal = rows.iter().filter(|row| count_of(**row) == count).count();
            if equal * 100 >= EQUAL_PERCENT * rows.len() {
                for row in rows {
                    let line = &mut source.lines[row];
                    line.has_cells =
                        !line.kind.is_verbatim() && !line.is_piece && line.indent == line.blanks;
                }
            }
        }
        first = last + 1;
    }
}

fn rows(source: &mut Source<'_>, first: usize, last: usize) {
    let is_plain = matches!(
        source.lines[first].kind,
        Kind::Plain | Kind::Row | Kind::Heading | Kind::Preamble
    );
    let is_named = !has_number(source.at(first)) || source.lines[first + 1].kind == Kind::Ruler;
    if is_plain && is_named {
        let heading = &mut source.lines[first];
        heading.kind = Kind::Heading;
        heading.weight = HEADING_WEIGHT;
        for row in source.filled(first + 1, last + 1) {
            source.lines[row].heading = Some(first);
        }
    }
    for row in first..=last {
        if source.lines[row].kind == Kind::Plain {
            source.lines[row].kind = Kind::Row;
        }
    }
}

/// The number of cells that two blanks, a tab or a bar divide.
fn columns(line: &str) -> usize {
    let bytes = line.trim_ascii().as_bytes();
    if bytes.is_empty() {
        return 0;
    }
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let (mut count, mut at, mut bars) = (1, 0, 0);
    while at < bytes.len() {
        let start = at;
        let mut is_bar = false;
        while byte(at) == b' ' || matches!(byte(at), b'|' | b'\t') {
            is_bar |= byte(at) != b' ';
            at += 1;
        }
        if is_bar || at - start >= 2 {
            count += 1;
            bars += usize::from(is_bar);
        }
        at = at.max(start + 1);
    }
    // Two blanks alone make no table of two columns.
    if count == LEAST_COLUMNS && bars == 0 {
        1
    } else {
        count
    }
}

fn has_number(line: &str) -> bool {
    line.as_bytes()
        .windows(2)
        .any(|pair| pair.iter().all(u8::is_ascii_digit))
}
