//! Values that are known to be secret.

use std::collections::TryReserveError;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Input, MatchKind};

use super::{Found, finish, replace};

/// Values shorter than this are not searched for: they would match everywhere.
pub const KNOWN_MIN_BYTES: usize = 8;

/// Finds known values, literally.
#[derive(Clone, Debug)]
pub struct Known {
    search: AhoCorasick,
    values: Vec<Box<str>>,
    longest_bytes: usize,
}

impl Known {
    /// A search for `values`; `None` if none of them has [`KNOWN_MIN_BYTES`] bytes, or all together
    /// are too large to search for.
    #[must_use]
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let values: Vec<&str> = values
            .into_iter()
            .filter(|value| value.len() >= KNOWN_MIN_BYTES)
            .collect();
        let longest_bytes = values.iter().map(|value| value.len()).max()?;
        let search = AhoCorasickBuilder::new()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&values)
            .ok()?;
        Some(Self {
            search,
            values: values.into_iter().map(Box::from).collect(),
            longest_bytes,
        })
    }

    /// The length of the longest value: what a stream must hold back at the end of a chunk.
    #[must_use]
    pub fn longest_bytes(&self) -> usize {
        self.longest_bytes
    }

    /// The values in `text`; those that overlap are one.
    pub(super) fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Found> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.next(text, from)?;
            from = found.at.end;
            Some(found)
        })
    }

    /// The first value that begins at `from` or later, to the end of those that overlap it.
    fn next(&self, text: &str, from: usize) -> Option<Found> {
        let hit = self.search.find(Input::new(text).range(from..))?;
        let (mut at, mut last) = (hit.range(), hit.start());
        loop {
            let end = text.len().min(at.end + self.longest_bytes);
            let inside = Input::new(text).range(last + 1..end);
            match self.search.find(inside).filter(|hit| hit.start() < at.end) {
                Some(hit) => (at.end, last) = (at.end.max(hit.end()), hit.start()),
                None => return Some(Found { at, name: "secret" }),
            }
        }
    }

    /// `text` with `[redacted: secret]` for each value; `None` if it has none.
    ///
    /// # Errors
    /// There is not enough memory for the changed text.
    pub fn redact(&self, text: &str) -> Result<Option<String>, TryReserveError> {
        let mut out = String::new();
        let mut copied = 0;
        for found in self.find(text) {
            replace(&mut out, text, copied, &found)?;
            copied = found.at.end;
        }
        finish(out, text, copied)
    }

    /// The start of a stream: `text` without its values, and the rest that must wait, because more
    /// text may make it a value. Prefixed to the next piece, the rest gives what `redact` gives for
    /// the whole; it has fewer bytes than three times [`longest_bytes`](Self::longest_bytes). `None` if
    /// `text` can pass unchanged.
    ///
    /// # Errors
    /// There is not enough memory for the changed text.
    pub fn redact_start<'a>(
        &self,
        text: &'a str,
    ) -> Result<Option<(String, &'a str)>, TryReserveError> {
        let mut out = String::new();
        let mut copied = 0;
        let mut open = text.len() - self.open_bytes(text);
        loop {
            let found = self.next(text, copied).filter(|found| {
                // A value that overlaps this one may follow, but not without end.
                if open < found.at.end && found.at.len() < 2 * self.longest_bytes {
                    open = open.min(found.at.start);
                }
                found.at.start < open
            });
            let Some(found) = found else {
                if copied == 0 && open == text.len() {
                    return Ok(None);
                }
                let ready = text.get(copied..open).unwrap_or_default();
                out.try_reserve(ready.len())?;
                out.push_str(ready);
                return Ok(Some((out, text.get(open..).unwrap_or_default())));
            };
            replace(&mut out, text, copied, &found)?;
            copied = found.at.end;
            if copied > open {
                open = text.len() - self.open_bytes(text.get(copied..).unwrap_or_default());
            }
        }
    }

    /// The length of the longest end of `text` with which a longer value starts.
    fn open_bytes(&self, text: &str) -> usize {
        let starts = |value: &str| {
            let most = text.len().min(value.len().saturating_sub(1));
            let (text, value) = (text.as_bytes(), value.as_bytes());
            (1..=most).rev().find(|&length| {
                value
                    .get(..length)
                    .is_some_and(|start| text.ends_with(start))
            })
        };
        self.values
            .iter()
            .filter_map(|value| starts(value))
            .max()
            .unwrap_or(0)
    }
}
