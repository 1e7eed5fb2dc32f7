//! Sequences of paths whose number counts up.

use crate::output::Output;

/// From this many such paths on, only the first and the last are shown.
const RUN: usize = 4;

/// Consecutive paths that differ only in a number that increases by one.
#[derive(Default)]
pub(super) struct Run<'a> {
    /// The first ones; they are written unchanged if there are no more.
    first: [&'a str; RUN - 1],
    last: &'a str,
    last_number: Option<Numbered<'a>>,
    count: usize,
    row: String,
}

impl<'a> Run<'a> {
    pub(super) fn push(&mut self, path: &'a str, output: &mut Output) {
        let number = numbered(path);
        let follows = self.count > 0
            && match (&self.last_number, &number) {
                (Some(last), Some(number)) => number.follows(last),
                _ => false,
            };
        if !follows {
            self.end(output);
        }
        if let Some(place) = self.first.get_mut(self.count) {
            *place = path;
        }
        self.last = path;
        self.last_number = number;
        self.count += 1;
    }

    /// Writes all paths, or the first and the last.
    pub(super) fn end(&mut self, output: &mut Output) {
        let [first, ..] = self.first;
        if self.count >= RUN {
            let count = self.count.to_string();
            self.write(&[first, " … ", self.last, " (", &count, ")"], output);
        } else {
            for path in self.first.into_iter().take(self.count) {
                self.write(&[path], output);
            }
        }
        self.count = 0;
    }

    fn write(&mut self, parts: &[&str], output: &mut Output) {
        self.row.clear();
        self.row.push('\t');
        self.row.extend(parts.iter().copied());
        output.line_of_all(&self.row);
    }
}

/// A path and the last number in it.
struct Numbered<'a> {
    before: &'a str,
    after: &'a str,
    number: u64,
    digits: usize,
    is_padded: bool,
}

impl Numbered<'_> {
    fn follows(&self, last: &Self) -> bool {
        last.number.checked_add(1) == Some(self.number)
            && (last.digits == self.digits || !(last.is_padded || self.is_padded))
            && last.before == self.before
            && last.after == self.after
    }
}

fn numbered(path: &str) -> Option<Numbered<'_>> {
    let bytes = path.as_bytes();
    let end = bytes.iter().rposition(u8::is_ascii_digit)? + 1;
    let (head, after) = path.split_at_checked(end)?;
    let digits = head.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (before, number) = head.split_at_checked(end - digits)?;
    Some(Numbered {
        before,
        after,
        number: number.parse().ok()?,
        digits,
        is_padded: digits > 1 && number.starts_with('0'),
    })
}
