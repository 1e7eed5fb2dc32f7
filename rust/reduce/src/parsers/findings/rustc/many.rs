//! Very many warnings: the first places of each, a few of those that differ in names only, every file.

use std::fmt::Write as _;

use hashbrown::{HashMap, HashSet};

use super::diagnostic::Diagnostic;
use crate::output::Output;
use crate::parsers::findings::finding::masked;

/// Where not all places are shown: this many of each warning, and the first one of each file that none names.
const FIRST_PLACES: usize = 6;
/// Warnings that differ in names and numbers only; each is shown.
const ALIKE: usize = 8;

/// Warnings that differ in names and numbers only.
#[derive(Default)]
struct Kind<'a> {
    /// The locations that are shown.
    told: Vec<usize>,
    /// The other locations, and how many source lines contain them.
    others: Vec<&'a str>,
    other_lines: usize,
}

/// Writes `diagnostics`: errors whole, of the warnings as much as shows which there are.
pub(super) fn write<'a>(diagnostics: &mut [Diagnostic<'a>], output: &mut Output) {
    let mut kinds: Vec<Kind<'a>> = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    let warnings = diagnostics.iter().enumerate();
    for (index, one) in warnings.filter(|(_, one)| !one.is_error()) {
        let at = *known.entry(masked(one.head)).or_insert(kinds.len());
        if at == kinds.len() {
            kinds.push(Kind::default());
        }
        let Some(kind) = kinds.get_mut(at) else {
            continue;
        };
        if kind.told.len() < ALIKE {
            kind.told.push(index);
        } else {
            let places = one.places.iter().map(|place| place.text);
            kind.others.extend(places);
            kind.other_lines += one.lines;
        }
    }
    let told: HashMap<usize, &Kind<'a>> = kinds
        .iter()
        .flat_map(|kind| kind.told.iter().map(move |index| (*index, kind)))
        .collect();
    let mut files = HashSet::new();
    for (index, one) in diagnostics.iter_mut().enumerate() {
        if one.is_error() {
            one.write(output);
        } else if let Some(kind) = told.get(&index) {
            keep_first_places(one, &mut files);
            one.write(output);
            if kind.told.last() == Some(&index) && !kind.others.is_empty() {
                others(kind, &mut files, output);
            }
        }
    }
}

/// Leaves out the places after the first ones, except for one in each file that is not yet in `files`.
fn keep_first_places<'a>(one: &mut Diagnostic<'a>, files: &mut HashSet<&'a str>) {
    let all = one.places.len();
    let mut read = 0;
    one.places.retain(|place| {
        read += 1;
        files.insert(path(place.text)) || read <= FIRST_PLACES
    });
    one.more_places += all - one.places.len();
}

/// One row for those of a kind that are not shown: `... 3 like it src/a.rs:1:5 +2`.
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
