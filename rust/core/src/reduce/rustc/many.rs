//! Very many warnings: the first places of each, a few of those that differ in names only, every file.

use std::fmt::Write as _;

use hashbrown::{HashMap, HashSet};

use super::diagnostic::Diagnostic;
use crate::reduce::findings::masked;
use crate::reduce::output::Output;

/// Where not all places are told: so many of each warning, and the first one of each file that none names.
const FIRST_PLACES: usize = 6;
/// Warnings that differ in names and numbers only, of which each is told.
const ALIKE: usize = 8;

/// Warnings that differ in names and numbers only.
#[derive(Default)]
struct Kind<'a> {
    told: usize,
    /// Of those that are not told: their places, and the lines of the source that say them.
    others: Vec<&'a str>,
    other_lines: usize,
    /// The last one of them that is told.
    last: usize,
}

/// Writes `diagnostics`: errors whole, of the warnings as much as tells which there are.
pub(super) fn write<'a>(diagnostics: &mut [Diagnostic<'a>], output: &mut Output) {
    let mut kinds: HashMap<u64, Kind<'a>> = HashMap::new();
    for (index, one) in diagnostics.iter_mut().enumerate() {
        if one.is_error() {
            continue;
        }
        let kind = kinds.entry(masked(one.head)).or_default();
        if kind.told < ALIKE {
            kind.told += 1;
            kind.last = index;
        } else {
            kind.others
                .extend(one.places.iter().map(|place| place.text));
            kind.other_lines += one.lines;
            one.lines = 0;
        }
    }
    let mut files = HashSet::new();
    for (index, one) in diagnostics.iter_mut().enumerate() {
        if one.is_error() {
            one.write(output);
            continue;
        }
        if one.lines > 0 {
            let mut kept = 0;
            let all = one.places.len();
            one.places.retain(|place| {
                kept += 1;
                files.insert(path(place.text)) || kept <= FIRST_PLACES
            });
            one.more_places += all - one.places.len();
            one.write(output);
        }
        let kind = kinds.get(&masked(one.head));
        if let Some(kind) = kind.filter(|kind| kind.last == index && kind.other_lines > 0) {
            others(kind, &mut files, output);
        }
    }
}

/// One row for those of a kind that are not told: `... 3 like it src/a.rs:1:5 +2`.
fn others<'a>(kind: &Kind<'a>, files: &mut HashSet<&'a str>, output: &mut Output) {
    let mut row = format!("... {} like it", kind.others.len());
    let mut told = 0;
    for (index, place) in kind.others.iter().enumerate() {
        if files.insert(path(place)) || index < FIRST_PLACES {
            told += 1;
            row.push(' ');
            row.push_str(place);
        }
    }
    if told < kind.others.len() {
        // Writing to a `String` cannot fail.
        let _ = write!(row, " +{}", kind.others.len() - told);
    }
    output.summary(&row, kind.other_lines);
}

/// The path in `src/a.rs:1:5`.
fn path(place: &str) -> &str {
    place.split(':').next().unwrap_or_default()
}
