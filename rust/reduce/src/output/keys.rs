//! Finds the source lines that are equal to rows of an output, or that contain them.

use std::borrow::Cow;

use aho_corasick::AhoCorasick;
use hashbrown::{HashMap, HashSet};
use memchr::{memchr, memmem};

use super::said::{Said, SourceLine};
use crate::line::fingerprint::{fingerprint, mixed};
use crate::line::long_line::{NOTE_HEAD, NOTE_TAIL};
use crate::line::template_key::template_key;
use ethos_registry_core::chunk::chunk_at;

/// How many equal source lines are remembered for each row.
pub(super) const MAX_EQUAL: usize = 1_024;
/// Shorter lines are not compared with rows that were cut.
const CUT_LINE_BYTES: usize = 120;
const CUT_KEY_BYTES: usize = 16;
/// Limits the number of rows, and the length of the source, for which rows are searched as parts of lines.
const MAX_PARTS: usize = 4_096;
const MAX_PARTS_BYTES: usize = 8 << 20;
const MAX_PART_MATCHES: usize = 1 << 18;
/// Shorter rows may be a part of any line.
pub(super) const LEAST_PART_BYTES: usize = 6;
const FILTER_WORDS: usize = 1_024;

/// `line` without blanks at its ends, and with each run of blanks replaced by one.
pub(super) fn squeezed(line: &str) -> Cow<'_, str> {
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

/// Source lines by the key that they are compared with.
pub(super) struct Keys {
    filter: Vec<u64>,
    exact: HashMap<u64, usize>,
    cut: HashMap<u64, Vec<(String, String, usize)>>,
    pub(super) templates: HashMap<u64, usize>,
    /// The lines of each key, and how many there are.
    pub(super) found: Vec<(Vec<SourceLine>, usize)>,
}

impl Keys {
    pub(super) fn of(rows: &[Said<'_>]) -> (Self, Vec<Option<usize>>) {
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

    pub(super) fn key_of(&self, line: &str) -> Option<usize> {
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
    (mixed(ends, bytes.len() as u64) >> 48) as usize
}

fn cut_key(line: &str) -> u64 {
    mixed(chunk_at(line.as_bytes(), 0), chunk_at(line.as_bytes(), 8))
}

/// Adds the lines that contain rows, for rows that are not whole lines, if the source is not too long.
pub(super) fn add_parts(
    rows: &[Said<'_>],
    source: &str,
    of_rows: &mut [Option<usize>],
    found: &mut Vec<(Vec<SourceLine>, usize)>,
    line_at: &dyn Fn(usize) -> Option<SourceLine>,
) {
    let mut patterns: Vec<(Cow<'_, str>, Vec<usize>)> = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    for (row, said) in rows.iter().enumerate() {
        let (Said::Line(line) | Said::Repeated(line, _)) = said else {
            continue;
        };
        let key = of_rows.get(row).copied().flatten();
        let is_found = key
            .and_then(|key| found.get(key))
            .is_some_and(|(lines, _)| !lines.is_empty());
        let line = squeezed(line);
        if is_found || line.len() < LEAST_PART_BYTES || line.contains(NOTE_TAIL) {
            continue;
        }
        let pattern = *known.entry(fingerprint(&line)).or_insert(patterns.len());
        match patterns.get_mut(pattern) {
            Some((_, rows)) => rows.push(row),
            None => patterns.push((line, vec![row])),
        }
    }
    if patterns.is_empty() || patterns.len() > MAX_PARTS || source.len() > MAX_PARTS_BYTES {
        return;
    }
    let Ok(automaton) = AhoCorasick::new(patterns.iter().map(|(line, _)| line.as_bytes())) else {
        return;
    };
    let mut lines: Vec<Vec<SourceLine>> = vec![Vec::new(); patterns.len()];
    for part in automaton
        .find_overlapping_iter(source)
        .take(MAX_PART_MATCHES)
    {
        let Some(lines) = lines.get_mut(part.pattern().as_usize()) else {
            continue;
        };
        if lines.len() < MAX_EQUAL
            && let Some(line) = line_at(part.start())
            && lines.last() != Some(&line)
        {
            lines.push(line);
        }
    }
    for ((_, rows), lines) in patterns.into_iter().zip(lines) {
        let key = found.len();
        found.push((lines, 0));
        for row in rows {
            if let Some(of_row) = of_rows.get_mut(row) {
                *of_row = Some(key);
            }
        }
    }
}

/// Hashes of the JSON members that rows show, as if each was a line.
pub(super) fn members(rows: &[Said<'_>]) -> HashSet<u64> {
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
