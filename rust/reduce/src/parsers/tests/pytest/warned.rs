//! Warnings of a session: each kind once, with its locations and uncaught exceptions.

use hashbrown::HashMap;

use super::report::WARNING_CHARS;
use crate::line::library::is_library;
use crate::line::{place, shorten};
use crate::output::Output;

/// How many different warnings are remembered.
const KINDS: usize = 4_096;
/// How many further locations of one warning are shown.
const PLACES: usize = 20;
/// How many lines about an uncaught exception of a warning are shown.
const RAISED: usize = 12;
/// The indentation of a warning in the section.
const BLANKS: &str = "  ";
/// The first line of a traceback, from a thread or from an object that the interpreter collected.
const HEAD: &str = "  Traceback (most recent call last):";

/// A warning: its first line, its other locations, and the uncaught exception.
#[derive(Debug)]
struct Warning<'a> {
    line: &'a str,
    places: Vec<&'a str>,
    raised: Vec<&'a str>,
    lines: usize,
}

/// The position of the next line among the frames of a traceback.
#[derive(Clone, Copy, Debug, Default)]
enum Frames<'a> {
    #[default]
    Outside,
    Inside {
        /// The innermost frame so far that is not in a library.
        own: Option<&'a str>,
    },
}

/// The warnings of one session.
#[derive(Debug, Default)]
pub(super) struct Warned<'a> {
    list: Vec<Warning<'a>>,
    kinds: HashMap<&'a str, usize>,
    /// The warning that the next lines belong to.
    last: usize,
    /// The test in which it was issued.
    test: &'a str,
    frames: Frames<'a>,
}

impl<'a> Warned<'a> {
    /// Reads a line of the section of warnings: two blanks begin a warning, more blanks its source.
    pub(super) fn line(&mut self, line: &'a str) {
        if !line.starts_with(' ') {
            self.test = line;
            return;
        }
        if self.is_of_traceback(line) {
            return;
        }
        let text = line.trim_start();
        let Some(found) = place(text).filter(|_| line.len() - text.len() == BLANKS.len()) else {
            return;
        };
        self.last = self
            .kinds
            .get(found.rest)
            .copied()
            .unwrap_or(self.list.len());
        if let Some(warning) = self.list.get_mut(self.last) {
            warning.lines += 1;
            let new =
                !warning.line.starts_with(found.text) && !warning.places.contains(&found.text);
            if new && warning.places.len() < PLACES {
                warning.places.push(found.text);
            }
        } else if self.list.len() < KINDS {
            self.kinds.insert(found.rest, self.list.len());
            self.list.push(Warning {
                line: text,
                places: Vec::new(),
                raised: Vec::new(),
                lines: 1,
            });
        }
    }

    /// Reads `line` if it belongs to a traceback; returns whether it did.
    fn is_of_traceback(&mut self, line: &'a str) -> bool {
        if line == HEAD {
            self.frames = Frames::Inside { own: None };
            return true;
        }
        let Frames::Inside { own } = &mut self.frames else {
            return false;
        };
        let text = line.get(BLANKS.len()..).unwrap_or_default();
        if text.starts_with(' ') {
            let frame = text.trim_start();
            if frame.starts_with("File \"") && !is_library(frame) {
                *own = Some(frame);
            }
            return true;
        }
        let own = *own;
        self.frames = Frames::Outside;
        if let Some(warning) = self.list.get_mut(self.last) {
            let told = [Some(self.test), own, Some(text)];
            for line in told.into_iter().flatten().filter(|line| !line.is_empty()) {
                if warning.raised.len() < RAISED && !warning.raised.contains(&line) {
                    warning.raised.push(line);
                }
            }
        }
        true
    }

    pub(super) fn write(&self, output: &mut Output) {
        for warning in &self.list {
            let mut row = shorten(warning.line, WARNING_CHARS).into_owned();
            for place in &warning.places {
                row.push(' ');
                row.push_str(place);
            }
            output.summary(&row, warning.lines);
            for line in &warning.raised {
                output.context(&shorten(line, WARNING_CHARS));
            }
        }
    }
}
