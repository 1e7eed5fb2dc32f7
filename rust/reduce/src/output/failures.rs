//! Failures with the same message, for example those of tests with one cause: the message is shown once, and the other failures
//! are listed below it with their names and locations.

use hashbrown::HashMap;

use super::row::{Row, Weight};
use super::{Mark, Output};
use crate::line::fingerprint::fingerprint_after;

/// The most different failures that are distinguished.
const KINDS: usize = 4_096;
/// The prefix of the name of a failure that is listed below an equal one.
const ALSO: &str = "also ";

/// The failures of an output.
#[derive(Debug, Default)]
pub(super) struct Failures {
    open: Option<Open>,
    kinds: Vec<Kind>,
    by_said: HashMap<u64, usize>,
}

/// A failure whose rows have been written.
#[derive(Debug)]
struct Open {
    before: Mark,
    /// The rows that name it, with the number of source lines that each shows.
    names: Vec<(String, usize)>,
    places: Vec<(String, String)>,
    place_lines: usize,
    /// The hash of its message, and the number of source lines of the message.
    said: u64,
    said_lines: usize,
}

impl Open {
    /// The rows of this failure when it is listed below an equal one that is at `places`.
    fn rows(self, places: &[(String, String)]) -> Vec<(String, usize)> {
        let is_known =
            |place: &&(String, String)| places.iter().any(|(whole, _)| *whole == place.0);
        let mut news = self.places.iter().filter(|place| !is_known(place));
        let (first, last) = (news.next(), news.next_back());
        let between = if news.next().is_some() { " …" } else { "" };
        let mut at = String::new();
        for (before, place) in [("", first), (between, last)] {
            if let Some((whole, short)) = place {
                // The short name would be read as the other location.
                let is_other = places.iter().any(|(_, known)| known == short);
                at.push_str(before);
                at.push(' ');
                at.push_str(if is_other { whole } else { short });
            }
        }
        let said = self.place_lines + self.said_lines;
        let row = |(number, (name, lines)): (usize, (String, usize))| {
            let lines = if number == 0 { lines + said } else { lines };
            (format!("{ALSO}{name}{at}"), lines)
        };
        self.names.into_iter().enumerate().map(row).collect()
    }
}

/// Failures with the same message.
#[derive(Debug)]
struct Kind {
    /// How many rows the output had after the first of them.
    end: usize,
    /// Where the first one is.
    places: Vec<(String, String)>,
    /// The rows of the others.
    others: Vec<(String, usize)>,
}

impl Output {
    /// Writes a row that names a failure and shows `lines` source lines. All rows up to
    /// [`close_failure`](Self::close_failure) are its message, except its [places](Self::place); several names may
    /// follow one another.
    pub(crate) fn open_failure(&mut self, name: &str, lines: usize) {
        let open = self.failures.open.as_ref();
        let named = open.filter(|open| open.said_lines == 0 && open.places.is_empty());
        match named {
            // A retried test failed in the same way.
            Some(open) if open.names.last().is_some_and(|(last, _)| last == name) => return,
            Some(_) => {}
            None => {
                self.close_failure();
            }
        }
        let before = self.mark();
        let open = self.failures.open.get_or_insert_with(|| Open {
            before,
            names: Vec::new(),
            places: Vec::new(),
            place_lines: 0,
            said: 0,
            said_lines: 0,
        });
        open.names.push((name.to_owned(), lines));
        self.push_name(name, lines);
    }

    /// Writes a row with a location of the open failure that shows `lines` source lines. `places` are pairs of a
    /// location and its short form. If the failure is listed below an equal one, the first and the last place that the
    /// other does not have are shown.
    pub(crate) fn place<'p>(
        &mut self,
        row: &str,
        lines: usize,
        places: impl IntoIterator<Item = (&'p str, &'p str)>,
    ) {
        if let Some(open) = &mut self.failures.open {
            let owned = |(whole, short): (&str, &str)| (whole.to_owned(), short.to_owned());
            open.places.extend(places.into_iter().map(owned));
            open.place_lines += lines;
        }
        self.push(row, lines, Weight::Fact);
    }

    /// Ends the message of the open failure. If another failure has the same message, the rows are removed and the
    /// failure is listed below that one. Returns whether the rows remain.
    pub(crate) fn close_failure(&mut self) -> bool {
        let Some(open) = self.failures.open.take().filter(|open| open.said_lines > 0) else {
            return true;
        };
        let failures = &mut self.failures;
        let known = failures.by_said.get(&open.said).copied();
        if let Some(kind) = known.and_then(|kind| failures.kinds.get_mut(kind)) {
            let before = open.before;
            kind.others.extend(open.rows(&kind.places));
            self.back_to(before);
            return false;
        }
        if failures.kinds.len() < KINDS {
            failures.by_said.insert(open.said, failures.kinds.len());
            failures.kinds.push(Kind {
                end: self.rows.len(),
                places: open.places,
                others: Vec::new(),
            });
        }
        true
    }

    /// Ends a test run: failures of the next run are not merged with these.
    pub(crate) fn end_failures(&mut self) {
        self.close_failure();
        self.failures.by_said.clear();
    }

    /// Closes the last failure and lists failures with equal messages together.
    pub(crate) fn settle(&mut self) {
        self.close_failure();
        let kinds = std::mem::take(&mut self.failures).kinds;
        if kinds.iter().all(|kind| kind.others.is_empty()) {
            return;
        }
        let text = std::mem::take(&mut self.text);
        let rows = std::mem::take(&mut self.rows);
        self.shown_lines = 0;
        let mut kinds = kinds.into_iter().peekable();
        let mut start = 0;
        for (number, row) in rows.into_iter().enumerate() {
            let told = text.get(start..row.end()).unwrap_or_default();
            start = row.end();
            self.push(told.trim_end_matches('\n'), row.lines(), row.weight());
            if row.is_name() {
                self.name_last();
            }
            while let Some(kind) = kinds.next_if(|kind| kind.end == number + 1) {
                for (row, lines) in kind.others {
                    self.push_name(&row, lines);
                }
            }
        }
    }

    /// Adds a row to the message of the open failure, if there is one.
    pub(super) fn says(&mut self, row: &str, lines: usize) {
        if let Some(open) = &mut self.failures.open {
            open.said = fingerprint_after(open.said, row.as_bytes());
            open.said_lines += lines;
        }
    }

    /// Writes a row that names a failure.
    fn push_name(&mut self, row: &str, lines: usize) {
        self.push(row, lines, Weight::Fact);
        self.name_last();
    }

    fn name_last(&mut self) {
        if let Some(last) = self.rows.last_mut() {
            *last = last.named();
        }
    }

    /// Writes a row.
    pub(super) fn push(&mut self, row: &str, lines: usize, weight: Weight) {
        self.text.push_str(row);
        self.text.push('\n');
        self.rows.push(Row::new(self.text.len(), lines, weight));
        self.shown_lines += lines;
    }
}
