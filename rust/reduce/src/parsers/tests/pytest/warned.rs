//! Warnings of a session: each kind once, with its places and what was raised where no test saw it.

use hashbrown::HashMap;

use super::report::WARNING_CHARS;
use crate::line::library::is_library;
use crate::line::{place, shorten};
use crate::output::Output;

/// Different warnings that are remembered.
const KINDS: usize = 4_096;
/// Further places of one warning.
const PLACES: usize = 20;
/// Lines about what was raised behind one warning.
const RAISED: usize = 12;
/// How much deeper than the section a warning is.
const BLANKS: &str = "  ";
/// How a traceback begins, of a thread or of what the interpreter collected.
const HEAD: &str = "  Traceback (most recent call last):";

/// A warning: its first line, where else it came from, and what was raised.
#[derive(Debug)]
struct Warning<'a> {
    line: &'a str,
    places: Vec<&'a str>,
    raised: Vec<&'a str>,
    lines: usize,
}

/// Where among the frames of a traceback the next line is.
#[derive(Clone, Copy, Debug, Default)]
enum Frames<'a> {
    #[default]
    Outside,
    Inside {
        /// The innermost one so far that is not of a library.
        own: Option<&'a str>,
    },
}

/// The warnings of one session.
#[derive(Debug, Default)]
pub(super) struct Warned<'a> {
    list: Vec<Warning<'a>>,
    kinds: HashMap<&'a str, usize>,
    /// Which warning the next lines belong to.
    last: usize,
    /// The test in which it was given.
    test: &'a str,
    frames: Frames<'a>,
}

impl<'a> Warned<'a> {
    /// A line of the section of warnings: two blanks begin a warning, more blanks its source.
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

    /// Takes `line` if it is of a traceback; whether it was.
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
