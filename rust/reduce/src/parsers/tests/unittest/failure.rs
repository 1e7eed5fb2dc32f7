//! Selects the lines of failed tests.

use hashbrown::HashSet;

use super::LINE_CHARS;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::report::says;
use ethos_registry_core::find_text::FindText as _;

/// How many different frames are remembered.
const FRAMES: usize = 4_096;

/// The current failure, and what was shown of those before it.
#[derive(Debug, Default)]
pub(super) struct Failure<'a> {
    head: &'a str,
    /// Its first location, and its last line.
    place: &'a str,
    last: &'a str,
    /// The test and the location of the previous failure.
    before: (&'a str, &'a str),
    /// Frames that were shown in full, and those of this failure, whose rows may be removed.
    shown: HashSet<&'a str>,
    new: Vec<&'a str>,
    /// The last frame if it was shown before: it is shown again if it raised the exception.
    again: Option<&'a str>,
}

impl<'a> Failure<'a> {
    /// Opens the failure whose header follows.
    pub(super) fn open(&mut self, head: &'a str, output: &mut Output) {
        self.close(output);
        self.before = (test(self.head), self.place);
        self.head = head;
        self.place = "";
        self.last = "";
        self.again = None;
        output.open_failure(&shorten(head, LINE_CHARS), 1);
    }

    /// Closes the failure.
    pub(super) fn close(&mut self, output: &mut Output) {
        let stays = output.close_failure();
        for frame in self.new.drain(..) {
            if stays && self.shown.len() < FRAMES {
                self.shown.insert(frame);
            }
        }
    }

    /// Shows a line of the traceback. The location of a test is not repeated for its further failures. Of frames that
    /// were shown before, only the last is shown, by its file name.
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
            // The header shows the test.
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

    /// Whether the message already shows what a changed line below it shows.
    pub(super) fn tells(&self, line: &str) -> bool {
        let value = line.strip_prefix("- ").or_else(|| line.strip_prefix("+ "));
        value.is_some_and(|value| says(self.last, value))
    }
}

/// A frame from the file name on: `oak.py", line 7, in grow`.
fn without_folders(frame: &str) -> &str {
    let path = frame.split_text("\", ").map_or(frame, |(path, _)| path);
    let name = path.rfind(['/', '\\']).map_or(0, |slash| slash + 1);
    frame.get(name..).unwrap_or(frame)
}

/// Whether a frame is in the harness that runs doctest examples.
fn is_of_doctest(frame: &str) -> bool {
    frame.ends_with(", in runTest") && frame.has_text("doctest.py\", line ")
}

/// The test in a header, without the description of a subtest: `FAIL: test_a (m.C.test_a)`.
fn test(head: &str) -> &str {
    let end = head.find_text(") ").map_or(head.len(), |end| end + 1);
    head.get(..end).unwrap_or(head)
}
