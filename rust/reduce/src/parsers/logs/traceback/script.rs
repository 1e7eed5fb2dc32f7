//! What Node shows around a stack: an excerpt of source, and the properties of what was thrown.

use super::folder::{Folder, State};
use crate::line::frame::{is_at_frame, is_exception};

/// How many properties of a thrown object are kept.
const PROPERTIES: usize = 8;

impl<'a> Folder<'a> {
    pub(super) fn property(
        &mut self,
        line: &'a str,
        body: &'a str,
        kept: usize,
        keep: &mut impl FnMut(&'a str),
    ) -> Option<bool> {
        if let Some(held) = self.held.take() {
            self.keep_once(held, keep);
        }
        if is_at_frame(body) {
            self.state = State::Stack;
            return Some(self.stack_frame(body, keep));
        }
        if line.starts_with('}') {
            self.state = State::Stack;
            return Some(true);
        }
        if line.len() == body.len() && !body.is_empty() {
            return None;
        }
        // The message of a system error contains these as well.
        let said = ["errno: ", "syscall: ", "path: ", "dest: ", "[errors]: "];
        if body.starts_with("[cause]") || is_exception(body) {
            keep(body.trim_end());
        } else if kept < PROPERTIES
            && body.contains(": ")
            && !said.iter().any(|name| body.starts_with(name))
        {
            self.keep_once(body, keep);
            self.state = State::Properties { kept: kept + 1 };
        }
        Some(true)
    }

    /// The source under a place goes with the carets that mark it; without carets it is text.
    pub(super) fn excerpt(
        &mut self,
        line: &'a str,
        body: &str,
        keep: &mut impl FnMut(&'a str),
    ) -> Option<bool> {
        let carets =
            !body.is_empty() && body.bytes().all(|byte| matches!(byte, b'^' | b'~' | b' '));
        match self.held.take() {
            None => {
                self.held = Some(line);
                Some(true)
            }
            Some(_) if carets => {
                self.state = State::Outside;
                Some(true)
            }
            Some(held) => {
                keep(held);
                None
            }
        }
    }
}
