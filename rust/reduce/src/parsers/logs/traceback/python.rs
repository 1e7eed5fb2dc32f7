//! Frames and exceptions of Python.

use super::folder::{Folder, PYTHON_HEAD, State};
use crate::line::beginnings::Beginnings;
use crate::line::frame::{is_exception, is_python_frame};
use crate::line::library::is_library;
use ethos_registry_core::find_text::FindText as _;

/// Lines between chained exceptions.
static CHAINS: Beginnings<2> = Beginnings::new([
    "During handling of the above exception",
    "The above exception was the direct cause",
]);

impl<'a> Folder<'a> {
    pub(super) fn python_frame(&mut self, body: &'a str, keep: &mut impl FnMut(&'a str)) -> bool {
        self.frames += 1;
        if is_library(body) {
            self.shown = false;
            self.held = (!self.own).then_some(body);
        } else {
            self.own = true;
            self.held = None;
            self.keep_once(body, keep);
        }
        // A place in no function is one that the parser did not understand.
        self.unread = usize::from(self.shown && !body.has_text(", in "));
        true
    }

    pub(super) fn python(
        &mut self,
        body: &'a str,
        indent: usize,
        frames: usize,
        keep: &mut impl FnMut(&'a str),
    ) -> Option<bool> {
        if body.is_empty() {
            return Some(true);
        }
        if body.ends_with(PYTHON_HEAD) {
            return None;
        }
        if is_python_frame(body) {
            self.state = State::Python { indent };
            return Some(self.python_frame(body, keep));
        }
        if body.starts_with("[Previous line repeated") {
            if self.shown {
                keep(body);
            }
            return Some(true);
        }
        if indent > frames {
            if std::mem::take(&mut self.unread) > 0 {
                keep(body);
            }
            return Some(true);
        }
        if let Some(held) = self.held.take() {
            self.keep_once(held, keep);
        }
        keep(body);
        self.state = State::PythonEnd;
        Some(true)
    }

    pub(super) fn python_end(
        &mut self,
        line: &'a str,
        body: &'a str,
        keep: &mut impl FnMut(&'a str),
    ) -> Option<bool> {
        if body.is_empty() {
            return Some(true);
        }
        if CHAINS.begin(body) {
            self.keep_once(body, keep);
            return Some(true);
        }
        let text = line.trim_start();
        let is_drawn = text.starts_with("+-") && body.contains("----");
        if is_drawn {
            return Some(true);
        }
        // A note of one of a group: what is drawn may follow.
        let is_note = text.starts_with("| ")
            && !body.ends_with(PYTHON_HEAD)
            && !is_python_frame(body)
            && !is_exception(body);
        is_note.then_some(false)
    }

    pub(super) fn notebook_frame(&mut self, body: &'a str, keep: &mut impl FnMut(&'a str)) -> bool {
        self.frames += 1;
        let foreign = is_library(body);
        if !foreign {
            self.own = true;
            self.keep_once(body, keep);
        }
        self.state = State::Notebook { foreign };
        true
    }
}

/// A line of source with its number; an arrow points to the one that was run.
pub(super) fn notebook_source<'a>(
    body: &'a str,
    foreign: bool,
    keep: &mut impl FnMut(&'a str),
) -> Option<bool> {
    let numbered = body.trim_start_matches(['-', '>']).trim_start();
    let digits = numbered.bytes().take_while(u8::is_ascii_digit).count();
    let behind = numbered.as_bytes().get(digits);
    let is_source = digits > 0 && matches!(behind, None | Some(b' '));
    if !is_source && !body.is_empty() && body != "(...)" {
        return None;
    }
    if body.starts_with("--") && !foreign {
        keep(body);
    }
    Some(true)
}
