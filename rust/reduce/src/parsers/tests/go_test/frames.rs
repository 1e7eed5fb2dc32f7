//! Panics, fatal errors and data races: messages, and locations in the user's code.

use crate::line::beginnings::Beginnings;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::report::{MESSAGE_CHARS, is_rule};
use ethos_registry_core::find_text::FindText as _;

/// Prefixes of the first lines.
static STARTS: Beginnings<4> = Beginnings::new([
    "panic: ",
    "fatal error: ",
    "WARNING: DATA RACE",
    "runtime: goroutine stack exceeds",
]);
/// The message of a run that exceeded its time limit.
pub(super) const LATE: &str = "panic: test timed out after ";
/// Lines of a message before the first goroutine.
const MESSAGE_LINES: usize = 8;
/// Places of one goroutine, and of all, that are shown.
const GOROUTINE_PLACES: usize = 5;
const PLACES: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// Before the first goroutine; how many more lines are shown.
    Message(usize),
    Frames,
}

/// The stack that is being read.
pub(super) struct Stack<'a> {
    /// The root of Go's own sources, if a frame shows it.
    root: Option<&'a str>,
    state: State,
    last: String,
    /// Whether functions are shown, because no verdict shows the test.
    with_functions: bool,
    function: String,
    /// Whether it only shows where the goroutine was created.
    starts: bool,
    /// The header of a blocked goroutine, until its first location is found.
    head: String,
    /// The locations of the current goroutine.
    row: Vec<String>,
    /// Locations in Go's own packages and in modules; they count as the user's if these are tested.
    foreign: Vec<String>,
    /// The locations of earlier goroutines: each is shown once.
    shown: Vec<String>,
}

impl<'a> Stack<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            root: root(text),
            state: State::Outside,
            last: String::new(),
            with_functions: false,
            function: String::new(),
            starts: false,
            head: String::new(),
            row: Vec::new(),
            foreign: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Ends the stack and writes its locations.
    pub(super) fn flush(&mut self, output: &mut Output) {
        if self.state != State::Outside {
            self.write(output);
            self.state = State::Outside;
            self.last.clear();
            self.shown.clear();
        }
    }

    /// Writes the locations of the current goroutine.
    fn write(&mut self, output: &mut Output) {
        let foreign = std::mem::take(&mut self.foreign);
        if self.row.is_empty() && self.head.is_empty() {
            // A goroutine that is blocked in foreign code alone is not shown.
            self.row = foreign;
        }
        if !self.row.is_empty() {
            if !self.head.is_empty() {
                output.context(&self.head);
            }
            let separator = if self.with_functions { "\n" } else { " " };
            output.summary(&self.row.join(separator), self.row.len());
        }
        self.head.clear();
        self.function.clear();
        self.shown.append(&mut self.row);
    }

    /// Reads `line` if it belongs to a stack; returns whether it does. `named` is whether a verdict shows the failed
    /// test.
    pub(super) fn takes(&mut self, line: &str, named: bool, output: &mut Output) -> bool {
        let trimmed = line.trim();
        // The message of a panic may begin on the next line.
        if STARTS.begin(line.trim_start()) {
            self.begins(trimmed, named, output);
            return true;
        }
        match self.state {
            State::Outside => {
                // A frame whose beginning was cut off, or that another line precedes.
                let cut = line.starts_with('\t') && trimmed.starts_with('/') && is_frame(trimmed);
                if cut {
                    self.state = State::Frames;
                    self.with_functions = !named;
                    self.frame(line, trimmed, output);
                }
                cut
            }
            State::Message(left) => {
                self.message(trimmed, left, output);
                true
            }
            State::Frames => self.frame(line, trimmed, output),
        }
    }

    fn begins(&mut self, trimmed: &str, named: bool, output: &mut Output) {
        output.failed();
        // A panic that a test recovered is raised again with the same message.
        let words = trimmed.split(" [recovered").next().unwrap_or(trimmed);
        if self.state != State::Outside && self.last == words {
            return;
        }
        self.write(output);
        // The test that timed out may be different from the one that failed before.
        self.with_functions = !named || words.starts_with(LATE);
        words.clone_into(&mut self.last);
        self.state = State::Message(MESSAGE_LINES);
        output.fact(&shorten(trimmed, MESSAGE_CHARS));
    }

    fn message(&mut self, trimmed: &str, left: usize, output: &mut Output) {
        if is_goroutine(trimmed) {
            self.state = State::Frames;
            self.goroutine(trimmed, output);
        } else if left > 0 && !is_rule(trimmed) {
            self.state = State::Message(left - 1);
            output.context(&shorten(trimmed, MESSAGE_CHARS));
        }
    }

    fn goroutine(&mut self, head: &str, output: &mut Output) {
        self.write(output);
        if head.starts_with("Previous ") {
            // The other access of the race can be on the same line.
            self.shown.clear();
        }
        if !head.contains("[running]") && !head.starts_with("Goroutine ") {
            head.clone_into(&mut self.head);
        }
    }

    fn frame(&mut self, line: &str, trimmed: &str, output: &mut Output) -> bool {
        if is_goroutine(trimmed) {
            self.goroutine(trimmed, output);
            return true;
        }
        if let Some(place) = go_place(trimmed).filter(|_| line.starts_with([' ', '\t'])) {
            self.place(place);
            return true;
        }
        if line.starts_with('\t') && is_assembly(trimmed) {
            return true;
        }
        // The line of a function: `demo/bank.(*Account).Last(...)`, `created by testing.(*T).Run`.
        let function = trimmed.ends_with(')')
            || trimmed.starts_with("created by ")
            || trimmed.starts_with("...");
        if !function || line.starts_with("    ") {
            self.flush(output);
            return trimmed.bytes().all(|byte| byte == b'=');
        }
        let started = trimmed.strip_prefix("created by ");
        self.starts = started.is_some();
        let name = started.unwrap_or(trimmed);
        let name = name.split(" in goroutine ").next().unwrap_or(name);
        let end = name.rfind('(').unwrap_or(name.len());
        self.function.clear();
        self.function.push_str(name.get(..end).unwrap_or(name));
        true
    }

    fn place(&mut self, place: &str) {
        if self.shown.len() >= PLACES || is_of_runtime(place) {
            return;
        }
        let is_foreign = self.is_foreign(place);
        let row = if is_foreign { &self.foreign } else { &self.row };
        if row.len() >= GOROUTINE_PLACES || is_foreign && self.starts {
            return;
        }
        let is_place = |row: &String| row.rsplit(' ').next() == Some(place);
        if row.iter().chain(&self.shown).any(is_place) {
            return;
        }
        let function = self.function.rsplit('/').next().unwrap_or_default();
        let place = if self.with_functions && !function.is_empty() {
            format!("{function} {place}")
        } else {
            place.to_owned()
        };
        if is_foreign {
            self.foreign.push(place);
        } else {
            self.row.push(place);
        }
    }

    fn is_foreign(&self, place: &str) -> bool {
        self.root.is_some_and(|root| place.starts_with(root)) || place.contains("/pkg/mod/")
    }
}

/// Whether a location is in code that runs programs and tests.
fn is_of_runtime(place: &str) -> bool {
    let is_in = |folder: &str| {
        place.starts_with(folder)
            || place
                .split_text("/src/")
                .is_some_and(|(_, rest)| rest.starts_with(folder))
    };
    is_in("testing/") || is_in("runtime/") || place.contains("_testmain.go")
}

/// Whether a line is the header of the frames of a goroutine.
fn is_goroutine(trimmed: &str) -> bool {
    if !trimmed.ends_with(':') {
        return false;
    }
    (trimmed.starts_with("goroutine ") && trimmed.contains('['))
        || ((trimmed.contains(" by goroutine ") || trimmed.contains(" by main goroutine"))
            && trimmed.contains(" at 0x"))
        || (trimmed.starts_with("Goroutine ") && trimmed.ends_with("created at:"))
}

/// `path.go:line` at the beginning of a frame.
fn go_place(trimmed: &str) -> Option<&str> {
    let at = memchr::memmem::find(trimmed.as_bytes(), b".go:")? + ".go:".len();
    let digits = trimmed
        .get(at..)?
        .bytes()
        .take_while(u8::is_ascii_digit)
        .count();
    let place = trimmed.get(..at + digits)?;
    (digits > 0 && !place.contains(' ')).then_some(place)
}

/// Whether a line is the place of a frame in the runtime's assembly: `/a/asm_amd64.s:1594 +0x1`.
fn is_assembly(trimmed: &str) -> bool {
    let place = trimmed.split(' ').next().unwrap_or_default();
    place.rsplit_once(".s:").is_some_and(|(_, number)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether a line is nothing but the place of a frame: `/a/b.go:8`, `/a/b.go:8 +0x1d`.
fn is_frame(trimmed: &str) -> bool {
    let rest = go_place(trimmed).and_then(|place| trimmed.get(place.len()..));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" +0x"))
}

/// The root of Go's own sources, with a slash at its end.
fn root(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let at = ["/src/testing/testing.go:", "/src/runtime/"]
        .iter()
        .find_map(|path| memchr::memmem::find(bytes, path.as_bytes()))?;
    let before = text.get(..at)?;
    let from = before.rfind(|sign: char| sign.is_whitespace() || matches!(sign, '"' | '\\'));
    let path = before.get(from.map_or(0, |from| from + 1)..)?;
    let start = at - path.len() + path.find('/')?;
    text.get(start..at + "/src/".len())
}
