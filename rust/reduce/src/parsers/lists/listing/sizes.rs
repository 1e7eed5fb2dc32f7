//! `du`: the last rows, which are the sums, and the largest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{complain, is_complaint, target_bytes};
use crate::input::Input;
use crate::output::Output;

/// A list with no more lines than this stays whole.
const FEW_ROWS: usize = 50;
/// The last rows, which hold the sums.
const LAST_ROWS: usize = 16;
/// Folders with fewer slashes in their path than the one with the fewest and these, and this many of
/// them, go before large files.
const TOP_LEVELS: usize = 2;
const SUMS: usize = 60;

/// A row, by its size and then by its place: the first of the same size is the greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row<'a> {
    size: u64,
    at: Reverse<usize>,
    line: &'a str,
}

/// The size with which `line` begins, in bytes, and the path after it.
pub(super) fn size(line: &str) -> Option<(u64, &str)> {
    // Most lines of other lists begin with no digit.
    line.as_bytes()
        .first()
        .filter(|byte| byte.is_ascii_digit())?;
    let is_blank = |byte: &u8| matches!(byte, b'\t' | b' ');
    let end = line.as_bytes().iter().position(is_blank)?;
    let path = line.get(end + 1..)?;
    Some((bytes(line.get(..end)?)?, path.trim_ascii_start()))
}

/// The number that `size` represents: `12877`, `4.0K`, `1,5M`.
pub(super) fn bytes(size: &str) -> Option<u64> {
    let is_unit = |byte: u8| !(byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    let unit = size.bytes().position(is_unit).unwrap_or(size.len());
    let (number, unit) = size.split_at_checked(unit)?;
    let shift = match unit.trim_end_matches(['B', 'i']) {
        "" => 0,
        "K" | "k" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    let mut parts = number.split(['.', ',']);
    let whole: u64 = parts.next()?.parse().ok()?;
    let tenths: u64 = parts
        .next()
        .and_then(|part| part.get(..1))
        .and_then(|digit| digit.parse().ok())
        .unwrap_or(0);
    let whole = whole.checked_mul(1 << shift)?;
    whole.checked_add((tenths << shift) / 10)
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let rows = input.lines().count();
    if rows <= FEW_ROWS.max(output.asked_lines()) {
        return output.stays();
    }
    let mut kept: Vec<(usize, &str)> = Vec::new();
    let mut room = target_bytes(input);
    let mut sums = Sums::default();
    let mut largest = Largest {
        most_bytes: room,
        ..Largest::default()
    };
    for (at, line) in input.lines().enumerate() {
        if is_complaint(line) {
            complain(line, output);
        } else if at + LAST_ROWS >= rows {
            kept.push((at, line));
            room = room.saturating_sub(line.len() + 1);
        } else {
            let (size, path) = size(line).unwrap_or((0, ""));
            let at = Reverse(at);
            let row = Row { size, at, line };
            largest.push(row);
            if !path.is_empty() {
                sums.push(row, memchr::memchr_iter(b'/', path.as_bytes()).count());
            }
        }
    }
    // Sums of folders near the top are the most informative, then the largest entries.
    let mut taken = hashbrown::HashSet::new();
    for row in sums.rows().into_iter().chain(largest.rows()) {
        let left = room.checked_sub(row.line.len() + 1);
        if let Some(left) = left.filter(|_| taken.insert(row.at.0)) {
            room = left;
            kept.push((row.at.0, row.line));
        }
    }
    kept.sort_unstable();
    for (_, row) in kept {
        output.fact(row);
    }
}

/// The largest rows that have together about this many bytes.
#[derive(Default)]
struct Largest<'a> {
    rows: BinaryHeap<Reverse<Row<'a>>>,
    bytes: usize,
    most_bytes: usize,
}

impl<'a> Largest<'a> {
    fn push(&mut self, row: Row<'a>) {
        if self.bytes >= self.most_bytes {
            if self.rows.peek().is_some_and(|least| least.0 > row) {
                return;
            }
            if let Some(least) = self.rows.pop() {
                self.bytes -= least.0.line.len() + 1;
            }
        }
        self.bytes += row.line.len() + 1;
        self.rows.push(Reverse(row));
    }

    /// The largest row first.
    fn rows(self) -> impl Iterator<Item = Row<'a>> {
        let rows = self.rows.into_sorted_vec();
        rows.into_iter().map(|row| row.0)
    }
}

/// The largest rows of each of the levels nearest to the top.
#[derive(Default)]
struct Sums<'a> {
    top: usize,
    levels: [BinaryHeap<Reverse<Row<'a>>>; TOP_LEVELS],
}

impl<'a> Sums<'a> {
    fn push(&mut self, row: Row<'a>, level: usize) {
        let is_first = self.levels.iter().all(BinaryHeap::is_empty);
        if is_first {
            self.top = level;
        }
        while level < self.top {
            self.top -= 1;
            self.levels.rotate_right(1);
            if let Some(top) = self.levels.first_mut() {
                top.clear();
            }
            if self.levels.iter().all(BinaryHeap::is_empty) {
                self.top = level;
            }
        }
        let Some(rows) = self.levels.get_mut(level - self.top) else {
            return;
        };
        if rows.len() >= SUMS {
            if rows.peek().is_some_and(|least| least.0 > row) {
                return;
            }
            rows.pop();
        }
        rows.push(Reverse(row));
    }

    /// The levels from the top, of each the largest row first; at most this many as are shown.
    fn rows(self) -> Vec<Row<'a>> {
        let levels = self.levels.into_iter().map(BinaryHeap::into_sorted_vec);
        let rows = levels.flatten().map(|row| row.0);
        rows.take(SUMS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_every_unit() {
        for (text, number) in [
            ("12", 12),
            ("4.0K", 4_096),
            ("1.5M", 1_572_864),
            ("2GiB", 1 << 31),
        ] {
            assert_eq!(bytes(text), Some(number), "{text}");
        }
        assert_eq!(bytes("Jan"), None);
    }

    #[test]
    fn the_levels_nearest_to_the_top_are_known() {
        let mut sums = Sums::default();
        let rows = [
            (7, 5),
            (9, 6),
            (1, 4),
            (3, 8),
            (4, 1),
            (2, 2),
            (5, 2),
            (8, 3),
        ];
        for (at, (size, level)) in rows.into_iter().enumerate() {
            let at = Reverse(at);
            sums.push(Row { size, at, line: "" }, level);
        }
        let sizes: Vec<u64> = sums.rows().iter().map(|row| row.size).collect();
        assert_eq!(sizes, [4, 5, 2]);
    }
}
