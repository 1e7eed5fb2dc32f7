//! Failures of tests: what is shown of one, and those that say the same taken together.

use hashbrown::{HashMap, HashSet};

use super::super::fingerprint::fingerprint_after;
use super::super::line::shorten;
use super::super::output::Output;
use super::super::report::says;
use super::LINE_CHARS;
use crate::find_text::FindText as _;

/// Different frames below tests that are remembered.
const FRAMES: usize = 4_096;
/// Failures that say something else that are told apart.
const KINDS: usize = 4_096;

/// What is shown of one failure.
#[derive(Debug, Default)]
pub(super) struct Failure<'a> {
    head: &'a str,
    /// Its first place, the last one if it is another, and its last line.
    place: &'a str,
    last_place: &'a str,
    last: &'a str,
    /// Its rows, and what stands for those that are neither its head nor a frame; how many these are.
    pub(super) rows: Output,
    said: u64,
    said_lines: usize,
    /// Whether it shows what others cannot share.
    pub(super) is_own: bool,
    /// The last frame, if it was shown before: it is told again where the exception was raised.
    again: Option<&'a str>,
}

impl<'a> Failure<'a> {
    fn of(head: &'a str) -> Self {
        let mut failure = Self {
            head,
            ..Self::default()
        };
        failure.rows.fact(&shorten(head, LINE_CHARS));
        failure
    }

    /// Shows a line that is no frame.
    pub(super) fn say(&mut self, line: &'a str) {
        self.note(line);
        self.rows.fact(&shorten(line, LINE_CHARS));
    }

    /// The same for a line that only helps to understand the others.
    pub(super) fn explain(&mut self, line: &'a str) {
        self.note(line);
        self.rows.context(&shorten(line, LINE_CHARS));
    }

    fn note(&mut self, line: &str) {
        self.said = fingerprint_after(self.said, line.as_bytes());
        self.said_lines += 1;
    }

    /// Whether a changed line below its message is told by that.
    pub(super) fn tells(&self, line: &str) -> bool {
        let value = line.strip_prefix("- ").or_else(|| line.strip_prefix("+ "));
        value.is_some_and(|value| says(self.last, value))
    }

    /// The row of a failure that says what `first` says: its head and where it failed.
    fn beside(&self, first: &Self) -> String {
        let mut row = format!("also {}", shorten(self.head, LINE_CHARS));
        if self.place != first.place {
            let place = without_folders(self.place);
            let place = place.split_text(", in ").map_or(place, |(place, _)| place);
            row.push(' ');
            row.push_str(place);
        }
        if self.last_place != first.last_place && !self.last_place.is_empty() {
            row.push_str(" … ");
            row.push_str(without_folders(self.last_place));
        }
        row
    }
}

/// Failures that say the same, in the order of the first of each.
#[derive(Debug, Default)]
pub(super) struct Failures<'a> {
    /// The one that is read.
    pub(super) open: Option<Failure<'a>>,
    kinds: Vec<(Failure<'a>, Vec<String>)>,
    by_said: HashMap<u64, usize>,
    /// The test and the place of the failure before.
    before: (&'a str, &'a str),
    /// Frames that were shown in full.
    shown: HashSet<&'a str>,
}

impl<'a> Failures<'a> {
    /// The failure of this head follows.
    pub(super) fn next(&mut self, head: &'a str) {
        self.close();
        self.open = Some(Failure::of(head));
    }

    /// Shows a line of the traceback of the open failure: of further failures of one test not the same place
    /// again, and of frames below the test that were shown before only the last, by the name of its file.
    pub(super) fn show(&mut self, line: &'a str) {
        let Some(failure) = &mut self.open else {
            return;
        };
        failure.last = line;
        if !line.starts_with("File \"") {
            if let Some(again) = failure.again.take() {
                let again = shorten(without_folders(again), LINE_CHARS);
                failure.rows.fact(&again);
            }
            failure.say(line);
            return;
        }
        if failure.place.is_empty() {
            failure.place = line;
            if self.before == (test(failure.head), line) {
                return;
            }
        } else {
            failure.last_place = line;
            if self.shown.contains(line) {
                failure.again = Some(line);
                return;
            }
            failure.again = None;
            if self.shown.len() < FRAMES {
                self.shown.insert(line);
            }
        }
        failure.rows.fact(&shorten(line, LINE_CHARS));
    }

    /// Puts the open failure to those that say the same.
    fn close(&mut self) {
        let Some(failure) = self.open.take() else {
            return;
        };
        self.before = (test(failure.head), failure.place);
        let shares = failure.said_lines > 0 && !failure.is_own && !failure.place.is_empty();
        let known = shares.then(|| self.by_said.get(&failure.said)).flatten();
        if let Some((first, others)) = known.and_then(|kind| self.kinds.get_mut(*kind)) {
            others.push(failure.beside(first));
            return;
        }
        if shares && self.by_said.len() < KINDS {
            self.by_said.insert(failure.said, self.kinds.len());
        }
        self.kinds.push((failure, Vec::new()));
    }

    /// Writes all failures and forgets them.
    pub(super) fn write(&mut self, output: &mut Output) {
        self.close();
        self.by_said.clear();
        for (failure, others) in self.kinds.drain(..) {
            let lines = 2 + failure.said_lines;
            output.append(failure.rows);
            for other in others {
                output.summary(&other, lines);
            }
        }
    }
}

/// A frame from the name of its file on: `oak.py", line 7, in grow`.
fn without_folders(frame: &str) -> &str {
    let path = frame.split_text("\", ").map_or(frame, |(path, _)| path);
    let name = path.rfind(['/', '\\']).map_or(0, |slash| slash + 1);
    frame.get(name..).unwrap_or(frame)
}

/// The test of a head, without what tells a subtest: `FAIL: test_a (m.C.test_a)`.
fn test(head: &str) -> &str {
    let end = head.find_text(") ").map_or(head.len(), |end| end + 1);
    head.get(..end).unwrap_or(head)
}
