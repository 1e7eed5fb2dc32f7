//! Panics of Go and Rust, and reports of sanitizers and valgrind.

use super::folder::{Folder, State};
use crate::line::beginnings::Beginnings;
use crate::line::frame::is_goroutine;
use crate::line::is_ruler;
use crate::line::library::{is_library, is_library_name, is_standard};
use ethos_registry_core::find_text::FindText as _;

/// How many lines of a panic message are kept.
const MESSAGE_LINES: usize = 10;
/// Goroutines whose header is kept even if none of their frames are.
const GOROUTINES: usize = 8;
/// Messages of valgrind and sanitizers about themselves.
static PROCESS_NOISE: Beginnings<8> = Beginnings::new([
    "Memcheck, a memory error detector",
    "Copyright (C)",
    "Using Valgrind-",
    "Command: ",
    "For lists of detected and suppressed errors",
    "For counts of detected and suppressed errors",
    "Rerun with ",
    "ABORTING",
]);

impl<'a> Folder<'a> {
    pub(super) fn goroutine(&mut self, body: &'a str, keep: &mut impl FnMut(&'a str)) {
        self.held = None;
        self.state = State::Goroutine;
        self.goroutines += 1;
        self.goroutine = Some(body).filter(|_| self.goroutines > GOROUTINES);
        if self.goroutine.is_none() {
            keep(body);
        }
    }

    pub(super) fn goroutine_line(
        &mut self,
        line: &'a str,
        body: &'a str,
        keep: &mut impl FnMut(&'a str),
    ) -> Option<bool> {
        if body.is_empty() {
            return Some(true);
        }
        if is_goroutine(body) {
            self.goroutine(body, keep);
            return Some(true);
        }
        if line.starts_with('\t') && (body.has_text(".go:") || body.has_text(".s:")) {
            self.frames += 1;
            let function = self.held.take();
            if !is_library(body) && function.is_none_or(|function| !is_library_name(function)) {
                // A crash also writes where the stack was: alike stacks of several would differ.
                let place = body.split_text(" fp=0x").map_or(body, |(place, _)| place);
                self.keep_pair(function, place, keep);
            }
            return Some(true);
        }
        if line.starts_with("created by ") || body.ends_with(')') {
            self.held = Some(line);
            return Some(true);
        }
        if line.starts_with("[signal ")
            || line.starts_with('\t')
            || line.starts_with("exit status ")
        {
            keep(body);
            return Some(true);
        }
        None
    }

    pub(super) fn panic_message(
        &mut self,
        body: &'a str,
        kept: usize,
        keep: &mut impl FnMut(&'a str),
    ) -> Option<bool> {
        if body == "stack backtrace:" {
            self.state = State::PanicFrames;
            return Some(true);
        }
        if body.starts_with("note: run with `RUST_BACKTRACE") {
            self.state = State::Outside;
            return Some(true);
        }
        if kept >= MESSAGE_LINES || body.starts_with("thread '") {
            return None;
        }
        if body.is_empty() || is_ruler(body) {
            // What was expected and what came stand apart.
            return Some(true);
        }
        keep(body);
        self.state = State::PanicMessage { kept: kept + 1 };
        Some(true)
    }

    pub(super) fn panic_frame(
        &mut self,
        body: &'a str,
        keep: &mut impl FnMut(&'a str),
    ) -> Option<bool> {
        let name = body.split_text(": ").filter(|(number, _)| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        if name.is_some() {
            self.frames += 1;
            self.held = Some(body);
            return Some(true);
        }
        if let Some(path) = body.strip_prefix("at ") {
            let function = self.held.take();
            let name = function.and_then(|function| function.split_text(": "));
            let name = name.map_or("", |(_, name)| name);
            // The harness wraps each test in a closure that is at its header.
            let wrapper = name
                .strip_suffix("::{{closure}}")
                .is_some_and(|inner| inner == self.function);
            self.function = name;
            let library = is_library(path) || is_library_name(name);
            let panicking = !self.panic.is_empty() && path.ends_with(self.panic);
            if !library && !wrapper && !panicking {
                self.keep_pair(function, body, keep);
            }
            return Some(true);
        }
        if body.starts_with("note: ") {
            self.state = State::Outside;
            return Some(true);
        }
        None
    }

    /// A line that begins with `==` and the number of a process: valgrind, sanitizers.
    pub(super) fn process_line(&mut self, line: &'a str, keep: &mut impl FnMut(&'a str)) -> bool {
        let rest = line.trim_start_matches('=');
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Some(text) = rest.get(digits..).and_then(|text| text.strip_prefix("==")) else {
            return false;
        };
        if digits == 0 {
            return false;
        }
        let text = text.trim();
        let frame = text.starts_with("at 0x") || text.starts_with("by 0x");
        if frame {
            self.frames += 1;
        }
        let function = text.split_text(": ").map(|(_, function)| function);
        let foreign = frame && (is_library(text) || function.is_some_and(is_standard));
        let dropped = text.is_empty() || PROCESS_NOISE.begin(text) || foreign;
        if !dropped {
            if frame {
                self.keep_once(text, keep);
            } else if text.starts_with("ERROR: ") {
                self.frames += 1;
                keep(line);
            } else {
                keep(text);
            }
        }
        true
    }
}
