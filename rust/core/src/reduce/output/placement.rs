//! Where in the source the rows of an output are.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};
use memchr::{memchr, memchr_iter, memmem, memrchr};

use crate::chunk::chunk_at;
use crate::reduce::fingerprint::{fingerprint, mixed};
use crate::reduce::fold::template_key;
use crate::reduce::long_line::{NOTE_HEAD, NOTE_TAIL};

/// This many lines of the source that are equal to a row are remembered.
const MAX_EQUAL: usize = 1_024;
/// Shorter lines are not compared with rows that were cut.
const CUT_LINE_BYTES: usize = 120;
const CUT_KEY_BYTES: usize = 16;
/// Shorter rows may be a part of any line.
const LEAST_PART_BYTES: usize = 6;
const LEAST_SEARCHED_BYTES: usize = 1 << 20;
const FILTER_WORDS: usize = 1_024;

/// A line of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceLine {
    pub(super) number: usize,
    /// Where it is in the text with squeezed blanks.
    start: usize,
    end: usize,
    /// Where the next line begins in the source.
    pub(super) next: usize,
}

/// `line` without blanks at its ends, and one blank for each run of them between.
fn squeezed(line: &str) -> Cow<'_, str> {
    let line = line.trim();
    let bytes = line.as_bytes();
    if memchr(b'\t', bytes).is_none() && memmem::find(bytes, b"  ").is_none() {
        return Cow::Borrowed(line);
    }
    let mut squeezed = String::with_capacity(line.len());
    for word in line.split([' ', '\t']).filter(|word| !word.is_empty()) {
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
    }
    Cow::Owned(squeezed)
}

/// What a row states of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// It is a line, or a line whose middle was cut.
    Line(&'a str),
    /// A line that represents this many that are similar to it.
    Repeated(&'a str, usize),
    /// Members of JSON.
    Members(&'a str),
    /// How many lines are left out here.
    Gap(usize),
    /// Nothing that can be found in the source by itself.
    #[default]
    Other,
}

/// A set of line numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct LineSet(Vec<u64>);

impl LineSet {
    fn of(lines: usize) -> Self {
        Self(vec![0; lines / 64 + 1])
    }

    pub(super) fn insert(&mut self, line: usize) {
        if let Some(word) = self.0.get_mut(line / 64) {
            *word |= 1 << (line % 64);
        }
    }

    pub(super) fn contains(&self, line: usize) -> bool {
        let word = self.0.get(line / 64).copied().unwrap_or_default();
        word >> (line % 64) & 1 == 1
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// How many of the lines from `from` up to `to` are in neither of two sets.
    pub(super) fn outside(&self, other: &Self, from: usize, to: usize) -> usize {
        let mut outside = 0;
        let mut at = from;
        while at < to {
            let word = at / 64;
            let end = to.min((word + 1) * 64);
            let of = |set: &Self| set.0.get(word).copied().unwrap_or_default();
            let width = end - at;
            let window = if width == 64 {
                u64::MAX
            } else {
                (1 << width) - 1
            };
            let outside_here = !(of(self) | of(other)) >> (at % 64) & window;
            outside += outside_here.count_ones() as usize;
            at = end;
        }
        outside
    }
}

/// What a scan of the source found for the rows.
#[derive(Debug)]
pub(super) struct Placement {
    /// The line of each row, if it is one.
    pub(super) lines: Vec<Option<SourceLine>>,
    /// Whether the line of a row is behind those of all rows before it that are in order.
    pub(super) in_order: Vec<bool>,
    /// For each row, how many lines of the source are equal to it but for masked parts.
    pub(super) repeats: HashMap<usize, usize>,
    /// Lines of the source that repeat a row, or hold a member that one shows.
    pub(super) repeated: LineSet,
    /// Lines that hold nothing but blanks or one repeated symbol.
    pub(super) empty: LineSet,
    pub(super) source_lines: usize,
}

/// Lines of the source by what they are compared with.
struct Keys {
    filter: Vec<u64>,
    exact: HashMap<u64, usize>,
    cut: HashMap<u64, Vec<(String, String, usize)>>,
    templates: HashMap<u64, usize>,
    /// The lines of each key, and how many there are.
    found: Vec<(Vec<SourceLine>, usize)>,
}

impl Keys {
    fn of(rows: &[Said<'_>]) -> (Self, Vec<Option<usize>>) {
        let mut keys = Self {
            filter: vec![0; FILTER_WORDS],
            exact: HashMap::new(),
            cut: HashMap::new(),
            templates: HashMap::new(),
            found: Vec::new(),
        };
        let of_rows = rows
            .iter()
            .map(|row| match row {
                Said::Line(line) => Some(keys.add(line)),
                Said::Repeated(line, _) => {
                    let key = keys.add(line);
                    if !line.contains(NOTE_TAIL) {
                        keys.templates
                            .entry(template_key(&squeezed(line)))
                            .or_insert(key);
                    }
                    Some(key)
                }
                Said::Members(_) | Said::Gap(_) | Said::Other => None,
            })
            .collect();
        (keys, of_rows)
    }

    /// The number of the key of `line`.
    fn add(&mut self, line: &str) -> usize {
        let line = &*squeezed(line);
        let next = self.found.len();
        let cut = line.split_once(NOTE_HEAD).zip(line.rsplit_once(NOTE_TAIL));
        if let Some(((head, _), (_, tail))) =
            cut.filter(|((head, _), _)| head.len() >= CUT_KEY_BYTES)
        {
            let of_head = self.cut.entry(cut_key(head)).or_default();
            let known = of_head
                .iter()
                .find(|(one, other, _)| one == head && other == tail);
            if let Some((_, _, key)) = known {
                return *key;
            }
            of_head.push((head.to_owned(), tail.to_owned(), next));
            self.found.push((Vec::new(), 0));
            return next;
        }
        let bit = filter_bit(line);
        if let Some(word) = self.filter.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
        let key = *self.exact.entry(fingerprint(line)).or_insert(next);
        if key == next {
            self.found.push((Vec::new(), 0));
        }
        key
    }

    fn key_of(&self, line: &str) -> Option<usize> {
        let bit = filter_bit(line);
        let may_be = self
            .filter
            .get(bit / 64)
            .is_some_and(|word| word >> (bit % 64) & 1 == 1);
        if may_be && let Some(key) = self.exact.get(&fingerprint(line)) {
            return Some(*key);
        }
        if self.cut.is_empty() || line.len() < CUT_LINE_BYTES {
            return None;
        }
        let cut = self.cut.get(&cut_key(line))?;
        let is_cut = |(head, tail, _): &&(String, String, usize)| {
            line.len() > head.len() + tail.len()
                && line.starts_with(head.as_str())
                && line.ends_with(tail.as_str())
        };
        cut.iter().find(is_cut).map(|(_, _, key)| *key)
    }
}

fn filter_bit(line: &str) -> usize {
    let bytes = line.as_bytes();
    let ends = mixed(
        chunk_at(bytes, 0),
        chunk_at(bytes, bytes.len().saturating_sub(8)),
    );
    #[expect(clippy::cast_possible_truncation, reason = "sixteen bits are left")]
    {
        (mixed(ends, bytes.len() as u64) >> 48) as usize
    }
}

fn cut_key(line: &str) -> u64 {
    mixed(chunk_at(line.as_bytes(), 0), chunk_at(line.as_bytes(), 8))
}

fn is_empty(line: &str) -> bool {
    let Some(first) = line.bytes().next() else {
        return true;
    };
    !first.is_ascii_alphanumeric() && crate::reduce::line::is_ruler(line)
}

impl Placement {
    pub(super) fn of(rows: &[Said<'_>], source: &str) -> Self {
        let (mut keys, of_rows) = Keys::of(rows);
        let source_lines = crate::lines::lines(source).count();
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
        for (number, line) in crate::lines::lines(source).enumerate() {
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
            repeated,
            empty,
            source_lines,
        };
        placement.place(rows, &of_rows, &keys.found);
        placement.search(rows, &text, &nexts);
        placement
    }

    /// Finds the lines that rows are a part of, between those of the rows around them.
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

    /// The line of a row, if it is behind those of the rows before it.
    fn ordered(&self, row: usize) -> Option<SourceLine> {
        let in_order = self.in_order.get(row) == Some(&true);
        self.lines.get(row).copied().flatten().filter(|_| in_order)
    }

    /// Finds the line of each row: first those that can be only one line, then the others between these.
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
            match lines.get(at).filter(|line| line.number < limit) {
                Some(line) => {
                    self.set(row, *line, true);
                    from = line.number + 1;
                }
                None => {
                    // Shown at another place than where it is in the source.
                    let key = of_rows.get(row).copied().flatten().unwrap_or_default();
                    let times = used.entry(key).or_insert(0);
                    if let Some(line) = lines.get(*times) {
                        self.set(row, *line, false);
                    }
                    *times += 1;
                }
            }
        }
    }

    /// Places rows that are the lines directly behind or before the line of a row that is placed.
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
            // Rows that may be either go with what they open.
            let from = end_row - backward.len();
            let to = first_row + forward.len();
            let opens = |row: &usize| rows.get(*row).is_some_and(opens);
            let split = if from < to {
                (from..to).find(opens).unwrap_or(to)
            } else {
                to
            };
            for (row, line) in (first_row..split).zip(&forward) {
                self.set(row, *line, true);
            }
            for (row, line) in (split.max(from)..end_row).rev().zip(&backward) {
                self.set(row, *line, true);
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

/// Whether the line of a row begins something that the lines below it go on with.
fn opens(row: &Said<'_>) -> bool {
    matches!(row, Said::Line(line) if line.trim_end().ends_with(['{', '[', '(', ':']))
}

/// The members of JSON that rows show, each as a line of its own would.
fn members(rows: &[Said<'_>]) -> HashSet<u64> {
    let mut members = HashSet::new();
    for row in rows {
        let Said::Members(text) = row else { continue };
        for part in text.split(['{', '}', '[', ']', ',']) {
            let mut key = "";
            for (number, value) in part.split('|').enumerate() {
                let value = value.split(" \u{d7}").next().unwrap_or_default();
                let value = value.split(" (").next().unwrap_or_default();
                let value = value
                    .get(value.find('"').unwrap_or(0)..)
                    .unwrap_or_default()
                    .trim();
                if number == 0 {
                    key = value.split_once(": ").map_or("", |(key, _)| key);
                    members.insert(fingerprint(value));
                } else {
                    members.insert(fingerprint(&[key, ": ", value].concat()));
                }
            }
        }
    }
    members
}

/// The longest of the series of rows whose lines follow each other.
fn increasing(rows: &[(usize, SourceLine)]) -> Vec<(usize, SourceLine)> {
    // The last row of the best series of each length, and before each row the one that it follows.
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
