//! Data races that Go reports: two stacks that touch one place in memory, and who started them.

use super::folder::{Folder, State};
use crate::line::beginnings::Beginnings;
use crate::line::library::is_library;
use ethos_registry_core::find_text::FindText as _;

/// The first line of a report.
pub(super) const HEAD: &str = "WARNING: DATA RACE";
/// How the headers of the stacks begin that met.
static ACCESSES: Beginnings<6> = Beginnings::new([
    "Read at ",
    "Write at ",
    "Previous read at ",
    "Previous write at ",
    "Atomic ",
    "Previous atomic ",
]);

impl<'a> Folder<'a> {
    /// A line of a report; `is_placed` states whether the open stack has shown a place.
    pub(super) fn race_line(
        &mut self,
        line: &'a str,
        body: &'a str,
        is_placed: bool,
        keep: &mut impl FnMut(&'a str),
    ) -> Option<bool> {
        if body.is_empty() {
            return Some(true);
        }
        if body.starts_with("====") {
            self.held = None;
            self.state = State::Outside;
            return Some(true);
        }
        let is_start = body.starts_with("Goroutine ") && body.ends_with(" created at:");
        if is_start || ACCESSES.begin(body) {
            self.held = None;
            self.state = State::Race {
                is_placed: is_start,
            };
            keep(body);
            return Some(true);
        }
        if !line.starts_with("  ") {
            return None;
        }
        if !body.has_text(".go:") {
            self.held = Some(body);
            return Some(true);
        }
        self.frames += 1;
        let function = self.held.take();
        let place = body.split(" +0x").next().unwrap_or(body);
        if is_library(place) {
            return Some(true);
        }
        if is_placed {
            self.keep_pair(function, place, keep);
        } else {
            // Where a stack ends is shown even if another one ended there too.
            function.into_iter().for_each(&mut *keep);
            keep(place);
            self.state = State::Race { is_placed: true };
        }
        Some(true)
    }
}
