//! One failure of a pytest report: its messages and locations.

use hashbrown::HashSet;

use super::captured::Captured;
use super::native;
use crate::line::beginnings::Beginnings;
use crate::line::frame::is_exception;
use crate::line::library::is_library;
use crate::line::{Place, place};
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

/// A shorter first message is shown with some of the lines that explain it.
const SHORT_MESSAGE: usize = 60;
/// How many lines that explain a message are searched for those to keep.
const EXPLAINING: usize = 64;
/// How many exceptions of one failure are kept: causes, parts of groups.
const MESSAGES: usize = 8;
/// How many changed lines of a comparison are kept where all of it was asked for.
const COMPARED: usize = 24;
/// Tests that only one of two processes collected: how many are shown.
const DIFFERING: usize = 6;
/// Prefixes of the example that Hypothesis found.
static EXAMPLES: Beginnings<2> = Beginnings::new(["Falsifying example: ", "Failing test case: "]);
const EXAMPLE_MESSAGES: usize = 24;
/// How many lines below an announcement are shown with it: what only one of two sets holds.
const ANNOUNCED: usize = 3;
/// How much deeper than the message its comparison is indented.
const COMPARED_BLANKS: usize = 2;
/// How many locations in own code are kept: the test's and the innermost ones.
const PLACES: usize = 8;
/// How many places are remembered until all are seen.
const SEEN_PLACES: usize = 4_096;
/// How many further lines of a message that the test passed to its assertion are kept.
const OWN_WORDS: usize = 3;
/// How many lines of a failure without messages are kept.
const UNEXPLAINED: usize = 8;

/// The part of a failure that is kept.
#[derive(Debug, Default)]
pub(super) struct Failure<'a> {
    /// What went wrong, without the symbol `E`, the first message first.
    pub(super) messages: Vec<&'a str>,
    /// Whether these lines are not marked as a message: the error was cut off, or has another format.
    pub(super) is_bare: bool,
    /// Where: `path:line`, the test's place first.
    pub(super) places: Vec<&'a str>,
    /// The part of the captured output that is shown.
    pub(super) captured: Vec<&'a str>,
}

/// Which of the lines that explain a message are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of them: the file could not be collected.
    All,
    /// The changed lines of comparisons, which were requested.
    Comparisons,
    /// At most this number.
    Some(usize),
}

/// The position of the next line within a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Source,
    Messages,
    Captured,
    /// After a ruler under which Hypothesis gives the falsifying example.
    Example,
    /// After `Expected:` or `Got:` of a doctest.
    Doctest,
}

/// Reads `body`, the lines under the header of a failure.
pub(super) fn read(body: &str, wanted: Wanted) -> Failure<'_> {
    let mut failure = Failure::default();
    let mut state = State::Source;
    let mut explaining = Vec::new();
    let mut first_blanks = 0;
    let mut example = false;
    let mut unexpected = false;
    let mut seen = HashSet::new();
    let mut captured = Captured::new(!matches!(wanted, Wanted::All | Wanted::Some(1)));
    for line in lines(body) {
        let plain = without_signs(line);
        if example || EXAMPLES.begin(plain) {
            // Hypothesis prints one argument per line.
            example = plain != ")" && failure.messages.len() < EXAMPLE_MESSAGES;
            if example {
                failure.messages.push(plain.trim_end());
            }
            continue;
        }
        match line.as_bytes().first() {
            Some(b'-') if line.starts_with("---") => {
                state = if line.contains(" Hypothesis ") {
                    State::Example
                } else {
                    captured.section(line);
                    State::Captured
                };
            }
            _ if state == State::Captured => captured.line(line),
            _ if state == State::Example => failure.explain(line, UNEXPLAINED),
            Some(b'E') if line == "E" || line.starts_with("E  ") => {
                let text = line.get(1..).unwrap_or_default();
                let message = text.trim_start();
                let blanks = text.len() - message.len();
                let further = failure.messages.len() < MESSAGES && is_exception(message);
                if state != State::Messages || (further && blanks <= first_blanks) {
                    failure.explained(&mut explaining, wanted);
                    state = State::Messages;
                    first_blanks = blanks;
                    failure.message(message);
                } else if wanted == Wanted::Comparisons && blanks > first_blanks + COMPARED_BLANKS {
                    // Equal lines are between the changed lines of a comparison.
                } else if explaining.len() < most_explaining(message) && is_telling(message) {
                    explaining.push(message);
                }
            }
            Some(b' ' | b'>' | b'\t') => {
                if state == State::Doctest {
                    failure.explain(line, UNEXPLAINED);
                } else {
                    state = State::Source;
                }
            }
            _ => {
                state = match line {
                    "Expected:" | "Got:" | "Differences (ndiff with -expected +actual):" => {
                        failure.messages.push(line);
                        State::Doctest
                    }
                    _ => State::Source,
                };
                if let Some(found) = location(line) {
                    if seen.insert(found) {
                        failure.places.push(found);
                    }
                    if failure.places.len() > SEEN_PLACES {
                        seen.remove(failure.places.remove(2));
                    }
                } else if unexpected && is_exception(line) {
                    failure.messages.push(line);
                }
                unexpected |= line.starts_with("UNEXPECTED EXCEPTION: ");
            }
        }
    }
    failure.explained(&mut explaining, wanted);
    failure.captured = captured.finish();
    if !failure.messages.iter().any(|message| !is_example(message)) {
        failure.without_messages(body);
    }
    failure.own_places();
    failure
}

impl<'a> Failure<'a> {
    fn message(&mut self, message: &'a str) {
        if !message.is_empty() {
            self.messages.push(message);
        }
    }

    /// Keeps those of `lines`, the text below the last message, that explain it.
    fn explained(&mut self, lines: &mut Vec<&'a str>, wanted: Wanted) {
        self.own_words(lines);
        if wanted != Wanted::All {
            // A full comparison also contains equal parts.
            let mut compared = false;
            lines.retain(|line| {
                compared |= *line == "Full diff:";
                !is_form(line) && (!compared || is_change(line))
            });
        }
        let most = match wanted {
            Wanted::All => COMPARED,
            Wanted::Comparisons => {
                lines.retain(|line| is_change(line) || !line.starts_with(' '));
                COMPARED
            }
            Wanted::Some(most) => {
                let first = self.messages.last().copied().unwrap_or_default();
                let is_short = first.len() < SHORT_MESSAGE || first.contains("...");
                let asserted = first.contains("assert ");
                if lines.iter().any(|line| is_table_head(line)) {
                    // The rows of the table are more informative than the greatest differences before it.
                    lines.retain(|line| !line.starts_with("Max "));
                }
                if lines.iter().any(|line| is_change(line)) {
                    // Between changed lines are those that are the same.
                    lines.retain(|line| is_change(line));
                } else if !is_short {
                    lines.retain(|line| line.starts_with("assert ") && !asserted);
                }
                most
            }
        };
        // What is announced is shown with the announcement.
        let mut left = most;
        let mut announced = 0_usize;
        lines.retain(|line| {
            if is_head(line) {
                announced = ANNOUNCED;
            } else if announced > 0 {
                announced -= 1;
            } else if left > 0 {
                left -= 1;
            } else {
                return false;
            }
            true
        });
        self.messages.extend(lines.drain(..).take(COMPARED));
    }

    /// Moves the further lines of the test's own message, which precede `assert …` in `lines`, to the messages.
    fn own_words(&mut self, lines: &mut Vec<&'a str>) {
        let first = self.messages.last().copied().unwrap_or_default();
        let asserted = lines.iter().position(|line| line.starts_with("assert "));
        if let Some(end) = asserted.filter(|_| !first.contains("assert ")) {
            self.messages.extend(lines.drain(..end).take(OWN_WORDS));
        }
    }

    fn explain(&mut self, line: &'a str, limit: usize) {
        if !line.trim().is_empty() && self.messages.len() < limit {
            self.messages.push(line.trim_end());
        }
    }

    /// Reads a failure without message lines: a traceback in Python's format, or a few words.
    fn without_messages(&mut self, body: &'a str) {
        let differing = lines(body).filter(|line| is_differing(line));
        let end = body.find_text("\n---").unwrap_or(body.len());
        let body = body.get(..end).unwrap_or(body);
        let examples = std::mem::take(&mut self.messages);
        self.messages = native::kept(body);
        self.messages.extend(examples);
        if self.messages.is_empty() {
            let telling = lines(body).filter(|line| {
                is_telling(line) && location(line).is_none() && !line.starts_with("[gw")
            });
            self.is_bare = true;
            let skipped = telling.clone().count().saturating_sub(UNEXPLAINED);
            self.messages
                .extend(telling.skip(skipped).map(str::trim_end));
        }
        self.messages.extend(differing.take(DIFFERING));
    }

    /// Leaves out locations in installed code if there are others, and the middle of many.
    fn own_places(&mut self) {
        let own = |place: &&str| !is_library(place);
        if self.places.iter().any(own) {
            self.places.retain(own);
        } else if let Some(last) = self.places.pop() {
            self.places.clear();
            // If a file cannot be parsed, the message itself contains the location.
            if !self
                .messages
                .iter()
                .any(|message| message.starts_with("File \""))
            {
                self.places.push(last);
            }
        }
        let too_many = self.places.len().saturating_sub(PLACES);
        if too_many > 0 {
            // In a chain of exceptions the test can be in the middle.
            let hidden: Vec<_> = self.places.drain(2..2 + too_many).collect();
            let test = hidden.into_iter().find(|place| is_in_tests(place));
            if let (Some(test), false) = (test, self.places.iter().any(|place| is_in_tests(place)))
            {
                self.places.insert(0, test);
            }
        }
    }
}

/// Whether a location is in a file of tests, judged by its name or its folder.
pub(super) fn is_in_tests(place: &str) -> bool {
    let path = place.split(':').next().unwrap_or(place);
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("test_") || name.ends_with("_test.py") || path.contains("tests/")
}

/// `line` without the symbols of a message and of an exception group before it.
fn without_signs(line: &str) -> &str {
    let sign = |byte: &u8| matches!(byte, b'E' | b'|' | b' ');
    let start = line.bytes().take_while(sign).count();
    line.get(start..).unwrap_or_default()
}

/// Whether a line names a test that one of two processes collected, and the other did not.
fn is_differing(line: &str) -> bool {
    let node = line.strip_prefix(['+', '-']);
    node.is_some_and(|node| {
        node.split_text(".py::")
            .is_some_and(|(path, _)| !path.contains(' '))
    })
}

/// Whether a message is a part of an example that Hypothesis found.
fn is_example(message: &str) -> bool {
    EXAMPLES.begin(message) || message.ends_with(',')
}

fn is_change(line: &str) -> bool {
    line.starts_with(['-', '+'])
}

/// How many explaining lines are kept after `line`: differences can be far below.
fn most_explaining(line: &str) -> usize {
    if is_change(line) {
        2 * EXPLAINING
    } else {
        EXPLAINING
    }
}

/// Whether a message is more than the format of a comparison.
fn is_telling(message: &str) -> bool {
    !message
        .trim_matches(['^', '~', '?', '+', '-', ' ', '|', '_'])
        .is_empty()
}

/// Whether a further line of a message describes how the comparison is shown, or repeats the first one.
fn is_form(line: &str) -> bool {
    static FORM: Beginnings<6> = Beginnings::new([
        "Full diff:",
        "Use -v",
        "Omitting ",
        "...Full output truncated",
        "where ",
        "and ",
    ]);
    line.starts_with('?')
        || line.ends_with(':') && !is_head(line)
        || FORM.begin(line.trim_start_matches(['+', ' ']))
}

/// Whether the lines below list what only one side of a comparison contains, or how numbers differ.
fn is_head(line: &str) -> bool {
    static HEADS: Beginnings<3> =
        Beginnings::new(["Left contains ", "Right contains ", "Extra items in "]);
    line.ends_with(':') && HEADS.begin(line) || is_table_head(line)
}

/// Whether a line is the header of the columns of numbers that should be nearly the same.
fn is_table_head(line: &str) -> bool {
    line.starts_with("Index") && line.contains("| Obtained")
}

/// The location in a line that shows one: `tests/a.py:3: KeyError`, `src/b.py:4: in f`, `/c.py:5`.
fn location(line: &str) -> Option<&str> {
    let found = script_place(line)?;
    let known = match found.rest.strip_prefix("in ") {
        Some(function) => !function.is_empty(),
        None => !found.rest.contains(' '),
    };
    known.then_some(found.text)
}

/// The location of a script that `line` begins with, without a column.
pub(super) fn script_place(line: &str) -> Option<Place<'_>> {
    let found = place(line)?;
    let path = found.path;
    let suffix = path.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    let is_path = !path.contains(['=', '\'', '"', '{', '(', ','])
        && (1..=5).contains(&suffix.len())
        && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let number = found.text.get(path.len() + 1..).unwrap_or_default();
    (is_path && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(found)
}

#[cfg(test)]
mod tests;
