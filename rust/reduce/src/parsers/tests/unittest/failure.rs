//! What is shown of the failures of tests.

use hashbrown::HashSet;

use super::LINE_CHARS;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::report::says;
use ethos_registry_core::find_text::FindText as _;

/// Different frames below tests that are remembered.
const FRAMES: usize = 4_096;

/// The failure that is read, and what was shown of those before it.
#[derive(Debug, Default)]
pub(super) struct Failure<'a> {
    head: &'a str,
    /// Its first place, and its last line.
    place: &'a str,
    last: &'a str,
    /// The test and the place of the failure before it.
    before: (&'a str, &'a str),
    /// Frames that were shown in full, and those of this failure, whose rows may go.
    shown: HashSet<&'a str>,
    new: Vec<&'a str>,
    /// The last frame, if it was shown before: it is shown again where the exception was raised.
    again: Option<&'a str>,
}

impl<'a> Failure<'a> {
    /// The failure whose head follows.
    pub(super) fn open(&mut self, head: &'a str, output: &mut Output) {
        self.close(output);
        self.before = (test(self.head), self.place);
        self.head = head;
        self.place = "";
        self.last = "";
        self.again = None;
        output.open_failure(&shorten(head, LINE_CHARS), 1);
    }

    /// No more is said of it.
    pub(super) fn close(&mut self, output: &mut Output) {
        let stays = output.close_failure();
        for frame in self.new.drain(..) {
            if stays && self.shown.len() < FRAMES {
                self.shown.insert(frame);
            }
        }
    }

    /// Shows a line of its traceback: of further failures of one test not the same place again, and of
    /// frames below the test that were shown before only the last, by the name of its file.
    pub(super) fn show(&mut self, line: &'a str, output: &mut Output) {
        self.last = line;
        if !line.starts_with("File \"") {
            if let Some(again) = self.again.take() {
                let short = without_folders(again);
                output.place(&shorten(short, LINE_CHARS), 1, [(again, short)]);
            }
            output.fact(&shorten(line, LINE_CHARS));
            return;
        }
        if is_of_doctest(line) {
            return;
        }
        let mut beside = without_folders(line);
        if self.place.is_empty() {
            self.place = line;
            if self.before == (test(self.head), line) {
                return;
            }
            // The head shows the test.
            beside = beside
                .split_text(", in ")
                .map_or(beside, |(place, _)| place);
        } else {
            self.again = self.shown.contains(line).then_some(line);
            if self.again.is_some() {
                return;
            }
            self.new.push(line);
        }
        output.place(&shorten(line, LINE_CHARS), 1, [(line, beside)]);
    }

    /// Whether a changed line below its message is identified by that.
    pub(super) fn tells(&self, line: &str) -> bool {
        let value = line.strip_prefix("- ").or_else(|| line.strip_prefix("+ "));
        value.is_some_and(|value| says(self.last, value))
    }
}

/// A frame from the name of its file on: `oak.py", line 7, in grow`.
fn without_folders(frame: &str) -> &str {
    let path = frame.split_text("\", ").map_or(frame, |(path, _)| path);
    let name = path.rfind(['/', '\\']).map_or(0, |slash| slash + 1);
    frame.get(name..).unwrap_or(frame)
}

/// Whether a frame is that of the harness which runs the examples of docstrings.
fn is_of_doctest(frame: &str) -> bool {
    frame.ends_with(", in runTest") && frame.has_text("doctest.py\", line ")
}

/// The test of a head, without what shows a subtest: `FAIL: test_a (m.C.test_a)`.
fn test(head: &str) -> &str {
    let end = head.find_text(") ").map_or(head.len(), |end| end + 1);
    head.get(..end).unwrap_or(head)
}
