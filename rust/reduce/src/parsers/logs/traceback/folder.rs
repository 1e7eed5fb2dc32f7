//! Reads tracebacks line by line and shows which of their lines to keep.

use hashbrown::HashSet;

use super::python::notebook_source;
use super::race;
use crate::line::frame::{
    debugged_at, is_at_frame, is_exception, is_excerpt_head, is_goroutine, is_notebook_frame,
    is_numbered_frame, is_python_frame, is_rust_function,
};
use crate::line::library::{is_library, is_library_name};
use ethos_registry_core::find_text::FindText as _;

/// How many frames are remembered, so that each is shown once.
const REMEMBERED: usize = 4_096;

/// The end of the first line of a Python traceback.
pub(super) const PYTHON_HEAD: &str = "Traceback (most recent call last):";
/// The position of the next line in a traceback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Outside,
    /// Among Python frames with this indentation.
    Python { indent: usize },
    /// In a box that Rich draws.
    Boxed,
    /// After a Python exception, where exception groups and chains continue.
    PythonEnd,
    /// In the source of a frame of a notebook; the value is whether it is installed code.
    Notebook { foreign: bool },
    /// Among frames that begin with `at`, `from` or a number.
    Stack,
    /// Among the properties of a thrown JavaScript object; counts those kept.
    Properties { kept: usize },
    /// After a location above an excerpt of source.
    Excerpt,
    /// Among functions and locations of a goroutine.
    Goroutine,
    /// In the message of a Rust panic; counts the lines kept.
    PanicMessage { kept: usize },
    /// Among functions and locations of a Rust backtrace.
    PanicFrames,
    /// In the memory dump of a sanitizer.
    Shadow,
    /// In a report of a data race; the value is whether the stack has shown a location.
    Race { is_placed: bool },
}

/// Reads tracebacks, which may be embedded in any other output.
///
/// Exceptions, causes, panics and the frames of the user's own code are kept, each frame once, without
/// drawing (indentation, rulers of exception groups). If a traceback contains only installed code,
/// the innermost frame is kept.
#[derive(Debug, Default)]
pub(crate) struct Folder<'a> {
    pub(super) state: State,
    /// A line that is kept or removed depending on a later line.
    pub(super) held: Option<&'a str>,
    seen: HashSet<&'a str>,
    /// Whether the open traceback has a frame of the user's own code.
    pub(super) own: bool,
    /// Where a Rust panic began, without folders: the frame there adds nothing.
    pub(super) panic: &'a str,
    /// The function of the previous frame.
    pub(super) function: &'a str,
    /// Whether the last frame was kept.
    pub(super) shown: bool,
    /// How many lines of source come next that could not be read.
    pub(super) unread: usize,
    /// The functions in the current stack of a debugger, and the locations in them.
    debugged: HashSet<(&'a str, &'a str)>,
    /// Whether no frame of a numbered stack has been kept yet: its innermost frame identifies the stack.
    opened: bool,
    pub(super) frames: usize,
    pub(super) goroutines: usize,
    /// The header of a goroutine that is kept with the first frame below it that is.
    pub(super) goroutine: Option<&'a str>,
}

impl<'a> Folder<'a> {
    /// Reads `line`, passes lines to keep to `keep`, and returns whether `line` belongs to a traceback.
    pub(crate) fn line(&mut self, line: &'a str, keep: &mut impl FnMut(&'a str)) -> bool {
        let marks = |byte: &u8| matches!(byte, b' ' | b'\t' | b'|' | b'+');
        let indent = line.bytes().take_while(marks).count();
        let body = line.get(indent..).unwrap_or_default();
        if self.state != State::Outside {
            if let Some(belongs) = self.inside(line, body, indent, keep) {
                return belongs;
            }
            self.leave(keep);
        }
        self.outside(line, body, indent, keep)
    }

    /// Passes on what is still held at the end of the text.
    pub(crate) fn finish(&mut self, keep: &mut impl FnMut(&'a str)) {
        self.leave(keep);
    }

    /// How many tracebacks, frames and panics were read.
    pub(crate) fn frames(&self) -> usize {
        self.frames
    }

    /// Whether the last line was the exception that ends a Python traceback.
    pub(crate) fn is_behind_exception(&self) -> bool {
        self.state == State::PythonEnd
    }

    /// A line after which nothing is open.
    fn outside(
        &mut self,
        line: &'a str,
        body: &'a str,
        indent: usize,
        keep: &mut impl FnMut(&'a str),
    ) -> bool {
        let Some(first) = body.as_bytes().first() else {
            return false;
        };
        match first {
            b'T' | b'E' if body.ends_with(PYTHON_HEAD) => {
                self.state = State::Python { indent };
                self.frames += 1;
                return true;
            }
            b'F' if is_python_frame(body) => {
                self.state = State::Python { indent };
                return self.python_frame(body, keep);
            }
            b'F' | b'C' if is_notebook_frame(body) => return self.notebook_frame(body, keep),
            b'0'..=b'9' if indent > 0 && is_rust_function(body) => {
                self.state = State::PanicFrames;
                self.held = Some(body);
                return true;
            }
            b'a' if is_at_frame(body) => return self.stack_frame(body, keep),
            b'f' if indent > 0 && body.starts_with("from ") && body.has_text(".rb:") => {
                return self.stack_frame(body, keep);
            }
            b'#' if is_numbered_frame(body) => return self.stack_frame(body, keep),
            b'S' if body.starts_with("Shadow bytes around") => {
                self.state = State::Shadow;
                return true;
            }
            b't' if body.starts_with("thread '") && body.has_text(" panicked at ") => {
                self.state = State::PanicMessage { kept: 0 };
                let place = body.trim_end_matches(':');
                self.panic = place.rsplit(['/', ' ']).next().unwrap_or(place);
                self.frames += 1;
                keep(body);
                return true;
            }
            b'p' if body.starts_with("panic: ") => {
                self.state = State::Goroutine;
                self.frames += 1;
                keep(body);
                return true;
            }
            b'g' if is_goroutine(body) => {
                self.goroutine(body, keep);
                return true;
            }
            b'=' => return self.process_line(line, keep),
            0xE2 if self.opens_box(body) => return true,
            b'W' if body == race::HEAD => {
                self.state = State::Race { is_placed: false };
                self.frames += 1;
                keep(body);
                return true;
            }
            _ => {}
        }
        if line.ends_with(PYTHON_HEAD) {
            self.state = State::Python { indent };
            self.frames += 1;
            keep(line);
            return true;
        }
        if is_excerpt_head(line) {
            self.state = State::Excerpt;
            keep(line);
            return true;
        }
        if is_exception(body) {
            self.state = State::Stack;
            keep(body);
            return true;
        }
        false
    }

    /// Reads a line of an open traceback; `None` when it does not belong to it.
    fn inside(
        &mut self,
        line: &'a str,
        body: &'a str,
        indent: usize,
        keep: &mut impl FnMut(&'a str),
    ) -> Option<bool> {
        match self.state {
            State::Outside => None,
            State::Python { indent: frames } => self.python(body, indent, frames, keep),
            State::Boxed => self.boxed(body, keep),
            State::PythonEnd => self.python_end(line, body, keep),
            State::Notebook { foreign } => notebook_source(body, foreign, keep),
            State::Stack => self.stack(body, keep),
            State::Properties { kept } => self.property(line, body, kept, keep),
            State::Excerpt => self.excerpt(line, body, keep),
            State::Goroutine => self.goroutine_line(line, body, keep),
            State::PanicMessage { kept } => self.panic_message(body, kept, keep),
            State::PanicFrames => self.panic_frame(body, keep),
            State::Race { is_placed } => self.race_line(line, body, is_placed, keep),
            State::Shadow => {
                let dumped =
                    line.starts_with("  ") || line.starts_with("=>") || body.starts_with("Shadow");
                dumped.then_some(true)
            }
        }
    }

    fn leave(&mut self, keep: &mut impl FnMut(&'a str)) {
        let needs_place = matches!(
            self.state,
            State::Goroutine | State::PanicFrames | State::Race { .. }
        );
        if let Some(held) = self.held.take().filter(|_| !needs_place) {
            keep(held);
        }
        self.state = State::Outside;
        self.own = false;
        self.goroutine = None;
    }

    /// Keeps `frame` unless it was kept before.
    pub(super) fn keep_once(&mut self, frame: &'a str, keep: &mut impl FnMut(&'a str)) {
        self.keep_pair(None, frame, keep);
    }

    /// Keeps a function and its location unless the location was kept before.
    pub(super) fn keep_pair(
        &mut self,
        function: Option<&'a str>,
        frame: &'a str,
        keep: &mut impl FnMut(&'a str),
    ) {
        let frame = frame.trim_end();
        self.shown = if self.seen.len() < REMEMBERED {
            self.seen.insert(frame)
        } else {
            !self.seen.contains(frame)
        };
        if !self.shown {
            return;
        }
        if let Some(head) = self.goroutine.take() {
            keep(head);
        }
        if let Some(function) = function {
            keep(function);
        }
        keep(frame);
    }

    pub(super) fn stack_frame(&mut self, body: &'a str, keep: &mut impl FnMut(&'a str)) -> bool {
        self.frames += 1;
        let name = body.strip_prefix("at ").unwrap_or(body);
        let ruby = body.starts_with("from ").then(|| body.split_text(":in "));
        if let Some((place, _)) = ruby.flatten() {
            // In Ruby, one source line often has several frames.
            if !is_library(place) {
                self.own = true;
                self.held = None;
                self.keep_once(place.strip_prefix("from ").unwrap_or(place), keep);
            }
            self.state = State::Stack;
            return true;
        }
        if body.starts_with('#') && (body.has_text(" (/") || body.has_text(" (<")) {
            // A module without debug information has no location.
            self.state = State::Stack;
            return true;
        }
        let debugged = debugged_at(body);
        if body.starts_with("#0 ") {
            self.debugged.clear();
        }
        if debugged.is_some_and(|frame| !self.debugged.insert(frame)) {
            // A recursive call: the frame numbers show how often.
            return true;
        }
        // The address before the function is not useful; debuggers accept frame numbers.
        let addressed = debugged.is_none() && body.starts_with('#') && body.has_text(" 0x");
        self.opened |= body.starts_with("#0 ");
        let address = addressed.then(|| body.find_text(" in ")).flatten();
        let body = address.and_then(|at| body.get(at + 1..)).unwrap_or(body);
        if is_library_name(name) || is_library(body) {
            // The innermost frame, which comes first, represents a stack of installed code.
            if !self.own && self.held.is_none() {
                self.held = Some(body);
            }
        } else {
            self.own = true;
            self.held = None;
            let frame = body.strip_suffix(" {").unwrap_or(body);
            if std::mem::take(&mut self.opened) {
                self.seen.remove(frame.trim_end());
            }
            self.keep_once(frame, keep);
        }
        self.state = if body.ends_with(" {") {
            State::Properties { kept: 0 }
        } else {
            State::Stack
        };
        true
    }

    fn stack(&mut self, body: &'a str, keep: &mut impl FnMut(&'a str)) -> Option<bool> {
        if is_at_frame(body)
            || is_numbered_frame(body)
            || (body.starts_with("from ") && body.has_text(".rb:"))
        {
            return Some(self.stack_frame(body, keep));
        }
        let more = body.starts_with("... ") && body.has_text(" more");
        let closing = matches!(body, "}" | "})" | "]") || body.starts_with("Node.js v");
        (more || closing).then_some(true)
    }
}
