//! Locates the rows of an output in its source.

use hashbrown::{HashMap, HashSet};
use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::keys::{Keys, LEAST_PART_BYTES, MAX_EQUAL, add_parts, members, squeezed};
use super::line_set::LineSet;
use super::said::{Said, SourceLine};
use crate::line::fingerprint::fingerprint;
use crate::line::template_key::template_key;

const LEAST_SEARCHED_BYTES: usize = 1 << 20;

/// The result of searching the source for the rows.
#[derive(Debug)]
pub(super) struct Placement {
    /// The line of each row, if the row is a source line.
    pub(super) lines: Vec<Option<SourceLine>>,
    /// Whether the line of a row is after the lines of all previous rows that are in order.
    pub(super) in_order: Vec<bool>,
    /// For each row, how many source lines are equal to it after masking.
    pub(super) repeats: HashMap<usize, usize>,
    /// Rows that represent the same lines as another row.
    shared_repeats: HashSet<usize>,
    /// Source lines that a row represents, or whose JSON member a row shows.
    pub(super) repeated: LineSet,
    /// Lines with nothing but blanks or one repeated symbol.
    pub(super) empty: LineSet,
    pub(super) source_lines: usize,
}

fn is_empty(line: &str) -> bool {
    let Some(first) = line.bytes().next() else {
        return true;
    };
    !first.is_ascii_alphanumeric() && crate::line::is_ruler(line)
}

impl Placement {
    pub(super) fn of(rows: &[Said<'_>], source: &str) -> Self {
        let (mut keys, mut of_rows) = Keys::of(rows);
        let source_lines = ethos_registry_core::lines::lines(source).count();
        let mut empty = LineSet::of(source_lines);
        let mut repeated = LineSet::of(source_lines);
        let mut is_repeat = vec![false; keys.found.len()];
        for (row, key) in rows.iter().zip(&of_rows) {
            if let (Said::Repeated(..), Some(key)) = (row, key)
                && let Some(repeat) = is_repeat.get_mut(*key)
            {
                *repeat = true;
            }
        }
        let members = members(rows);
        let mut text = String::with_capacity(source.len());
        let mut next = 0;
        let mut nexts = Vec::with_capacity(source_lines);
        for (number, line) in ethos_registry_core::lines::lines(source).enumerate() {
            next += line.len() + 1;
            nexts.push(next);
            let start = text.len();
            text.push_str(&squeezed(line));
            let here = SourceLine {
                number,
                start,
                end: text.len(),
                next,
            };
            let line = text.get(start..).unwrap_or_default();
            if is_empty(line) {
                empty.insert(number);
            }
            if !line.is_empty() {
                let key = keys.key_of(line);
                let is_repeated = |key: usize| is_repeat.get(key) == Some(&true);
                let of_template = if keys.templates.is_empty() || key.is_some_and(is_repeated) {
                    None
                } else {
                    keys.templates.get(&template_key(line)).copied()
                };
                let is_member = || {
                    !members.is_empty()
                        && members.contains(&fingerprint(line.trim_end_matches(',')))
                };
                if of_template.is_some()
                    || key.is_some_and(is_repeated)
                    || key.is_none() && is_member()
                {
                    repeated.insert(number);
                }
                for key in key.into_iter().chain(of_template) {
                    if let Some((lines, count)) = keys.found.get_mut(key) {
                        *count += 1;
                        if lines.len() < MAX_EQUAL {
                            lines.push(here);
                        }
                    }
                }
            }
            text.push('\n');
        }
        let mut placement = Self {
            lines: vec![None; rows.len()],
            in_order: vec![false; rows.len()],
            repeats: HashMap::new(),
            shared_repeats: shared(rows, &of_rows),
            repeated,
            empty,
            source_lines,
        };
        let starts: Vec<usize> = std::iter::once(0)
            .chain(memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1))
            .collect();
        let line_at = |offset: usize| {
            let number = starts
                .partition_point(|start| *start <= offset)
                .checked_sub(1)?;
            Some(SourceLine {
                number,
                start: *starts.get(number)?,
                end: starts.get(number + 1)?.checked_sub(1)?,
                next: *nexts.get(number)?,
            })
        };
        add_parts(rows, &text, &mut of_rows, &mut keys.found, &line_at);
        placement.place(rows, &of_rows, &keys.found);
        placement.search(rows, &text, &nexts);
        placement
    }

    /// Finds the lines that contain rows, between the lines of the neighbouring rows.
    fn search(&mut self, rows: &[Said<'_>], source: &str, nexts: &[usize]) {
        let mut room = source.len().saturating_mul(2).max(LEAST_SEARCHED_BYTES);
        let mut end = source.len();
        let mut ends = vec![end; rows.len()];
        for (row, limit) in ends.iter_mut().enumerate().rev() {
            *limit = end;
            if let Some(line) = self.ordered(row) {
                end = line.start;
            }
        }
        let (mut number, mut start) = (0, 0);
        for (row, (said, end)) in rows.iter().zip(ends).enumerate() {
            if let Some(line) = self.ordered(row) {
                (number, start) = (line.number + 1, line.end + 1);
                continue;
            }
            let (Said::Line(text) | Said::Repeated(text, _)) = said else {
                continue;
            };
            let text = squeezed(text);
            let part = source.get(start..end).unwrap_or_default();
            let is_known = self.lines.get(row).is_none_or(Option::is_some);
            if is_known || text.len() < LEAST_PART_BYTES || part.len() > room {
                continue;
            }
            let Some(at) = memmem::find(part.as_bytes(), text.as_bytes()) else {
                room -= part.len();
                continue;
            };
            let before = part.as_bytes().get(..at).unwrap_or_default();
            let behind = part.as_bytes().get(at..).unwrap_or_default();
            let line_start = memrchr(b'\n', before).map_or(0, |newline| newline + 1);
            let line_end = memchr(b'\n', behind).map_or(part.len(), |newline| at + newline);
            let number_here = number + memchr_iter(b'\n', before).count();
            let line = SourceLine {
                number: number_here,
                start: start + line_start,
                end: start + line_end,
                next: nexts.get(number_here).copied().unwrap_or_default(),
            };
            room -= at.min(room);
            self.set(row, line, true);
            (number, start) = (line.number + 1, line.end + 1);
        }
    }

    /// A copy without rows.
    pub(super) fn without_rows(&self) -> Self {
        Self {
            lines: Vec::new(),
            in_order: Vec::new(),
            repeats: HashMap::new(),
            shared_repeats: HashSet::new(),
            repeated: self.repeated.clone(),
            empty: self.empty.clone(),
            source_lines: self.source_lines,
        }
    }

    /// Copies what is known of a row of `other` that becomes one of these rows.
    pub(super) fn take_repeat(&mut self, other: &Self, from: usize, to: usize) {
        if let Some(count) = other.repeats.get(&from) {
            self.repeats.insert(to, *count);
        }
        if other.shared_repeats.contains(&from) {
            self.shared_repeats.insert(to);
        }
    }

    /// Whether no other row represents the lines that `row` represents.
    pub(super) fn is_only_repeat(&self, row: usize) -> bool {
        !self.shared_repeats.contains(&row)
    }

    /// The line of a row, if it is after the lines of the previous rows.
    fn ordered(&self, row: usize) -> Option<SourceLine> {
        let in_order = self.in_order.get(row) == Some(&true);
        self.lines.get(row).copied().flatten().filter(|_| in_order)
    }

    /// Finds the line of each row: first rows that match only one line, then the rows between them.
    fn place(
        &mut self,
        rows: &[Said<'_>],
        of_rows: &[Option<usize>],
        found: &[(Vec<SourceLine>, usize)],
    ) {
        let of_row = |row: usize| {
            of_rows
                .get(row)
                .copied()
                .flatten()
                .and_then(|key| found.get(key))
        };
        let only = |row: usize| {
            of_row(row).and_then(|(lines, _)| match lines.as_slice() {
                [one] => Some(*one),
                _ => None,
            })
        };
        let sure: Vec<(usize, SourceLine)> = (0..rows.len())
            .filter_map(|row| Some((row, only(row)?)))
            .collect();
        for (row, line) in increasing(&sure) {
            self.set(row, line, true);
        }
        self.extend(rows, &|row, number| {
            let (lines, _) = of_row(row)?;
            let at = lines
                .binary_search_by_key(&number, |line| line.number)
                .ok()?;
            lines.get(at).copied()
        });
        let mut next = self.source_lines;
        let mut limits = vec![next; rows.len()];
        for (row, limit) in limits.iter_mut().enumerate().rev() {
            *limit = next;
            if let Some(line) = self.ordered(row) {
                next = line.number;
            }
        }
        let mut from = 0;
        let mut used: HashMap<usize, usize> = HashMap::new();
        for (row, limit) in limits.into_iter().enumerate() {
            if let (Some(Said::Repeated(..)), Some((_, count))) = (rows.get(row), of_row(row)) {
                self.repeats.insert(row, *count);
            }
            if let Some(line) = self.lines.get(row).copied().flatten() {
                from = line.number + 1;
                continue;
            }
            let Some((lines, _)) = of_row(row) else {
                continue;
            };
            let at = lines.partition_point(|line| line.number < from);
            if let Some(line) = lines.get(at).filter(|line| line.number < limit) {
                self.set(row, *line, true);
                from = line.number + 1;
            } else {
                // Rows that are not in the order of the source.
                let key = of_rows.get(row).copied().flatten().unwrap_or_default();
                let times = used.entry(key).or_insert(0);
                if let Some(line) = lines.get(*times) {
                    self.set(row, *line, false);
                }
                *times += 1;
            }
        }
    }

    /// Places rows that are directly after or before the line of a placed row.
    fn extend(&mut self, rows: &[Said<'_>], line_at: &dyn Fn(usize, usize) -> Option<SourceLine>) {
        let placed: Vec<(usize, usize)> = (0..rows.len())
            .filter_map(|row| Some((row, self.ordered(row)?.number)))
            .collect();
        let ends = placed.iter().copied().map(Some).chain([None]);
        let mut last: Option<(usize, usize)> = None;
        for end in ends {
            let first_row = last.map_or(0, |(row, _)| row + 1);
            let end_row = end.map_or(rows.len(), |(row, _)| row);
            let mut number = last.map(|(_, number)| number);
            let forward: Vec<SourceLine> = (first_row..end_row)
                .map_while(|row| {
                    let next = number.map_or(0, |number| number + 1);
                    number = Some(next);
                    line_at(row, next)
                })
                .collect();
            let mut number = end.map(|(_, number)| number);
            let backward: Vec<SourceLine> = (first_row..end_row)
                .rev()
                .map_while(|row| {
                    number = number?.checked_sub(1);
                    line_at(row, number?)
                })
                .collect();
            // Rows that could be either are placed with the row that they introduce.
            let from = end_row - backward.len();
            let to = first_row + forward.len();
            let opens = |row: &usize| rows.get(*row).is_some_and(opens);
            let split = if from < to {
                (from..to).find(opens).unwrap_or(to)
            } else {
                to
            };
            let behind: Vec<(usize, SourceLine)> =
                (split.max(from)..end_row).rev().zip(backward).collect();
            // If both directions would use the same lines, the rows before the end get them.
            let limit = behind.last().map(|(_, line)| line.number);
            for (row, line) in (first_row..split).zip(forward) {
                if limit.is_none_or(|limit| line.number < limit) {
                    self.set(row, line, true);
                }
            }
            for (row, line) in behind {
                self.set(row, line, true);
            }
            last = end;
        }
    }

    fn set(&mut self, row: usize, line: SourceLine, in_order: bool) {
        if let (Some(place), Some(order)) = (self.lines.get_mut(row), self.in_order.get_mut(row)) {
            *place = Some(line);
            *order = in_order;
        }
    }
}

/// The rows that represent the same lines as another one.
fn shared(rows: &[Said<'_>], of_rows: &[Option<usize>]) -> HashSet<usize> {
    let mut first: HashMap<usize, usize> = HashMap::new();
    let mut shared = HashSet::new();
    for (row, (said, key)) in rows.iter().zip(of_rows).enumerate() {
        if let (Said::Repeated(..), Some(key)) = (said, key)
            && let Some(other) = first.insert(*key, row)
        {
            shared.extend([other, row]);
        }
    }
    shared
}

/// Whether the line of a row introduces the lines below it.
fn opens(row: &Said<'_>) -> bool {
    matches!(row, Said::Line(line) if line.trim_end().ends_with(['{', '[', '(', ':']))
}

/// The longest sequence of rows whose lines are in increasing order.
fn increasing(rows: &[(usize, SourceLine)]) -> Vec<(usize, SourceLine)> {
    // The last row of the best sequence of each length, and the predecessor of each row.
    let mut last: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; rows.len()];
    let number = |index: usize| rows.get(index).map_or(0, |(_, line)| line.number);
    for (index, (_, line)) in rows.iter().enumerate() {
        let length = last.partition_point(|other| number(*other) < line.number);
        if let Some(place) = before.get_mut(index) {
            *place = length.checked_sub(1).and_then(|at| last.get(at)).copied();
        }
        match last.get_mut(length) {
            Some(place) => *place = index,
            None => last.push(index),
        }
    }
    let mut series = Vec::with_capacity(last.len());
    let mut next = last.last().copied();
    while let Some(index) = next {
        series.extend(rows.get(index));
        next = before.get(index).copied().flatten();
    }
    series.reverse();
    series
}
