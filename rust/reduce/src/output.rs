//! A reduced text under construction, and the account of what is not in it.

mod compared;
mod failures;
mod fill;
mod keys;
mod line_set;
pub(crate) mod lossless;
mod marked;
mod nested;
mod placement;
mod ranges;
mod row;
mod said;
mod within;
mod writer;

use self::compared::Compared;
use self::failures::Failures;
pub(crate) use self::fill::{Importance, LEAST_RANK};
pub(crate) use self::nested::{Nested, Told};
use self::row::Row;
pub(crate) use self::row::Weight;
use ethos_registry_core::find_text::FindText as _;

const NOTE_HEAD: &str = "[";
const NOTE_MIDDLE: &str = " of ";
const NOTE_TAIL: &str = " lines left out]";
/// The most rows of generated text: a reduced text has few rows that are not source lines, so an account that counts
/// more belongs to the last part only.
const MOST_OWN_ROWS: usize = 1_000;
/// More requested lines are a safety limit, not lines that someone wants to read.
pub(crate) const MOST_ASKED_LINES: usize = 100;
/// The typical length of an account.
const ACCOUNT_BYTES: usize = 32;

/// Rows, and how many source lines they show.
#[derive(Debug, Default)]
pub(crate) struct Output {
    text: String,
    rows: Vec<Row>,
    shown_lines: usize,
    failure: bool,
    form: Form,
    asked_lines: usize,
    source_bytes: usize,
    /// The nesting depth, if this is a part of other outputs.
    depth: usize,
    /// How parts of the source are reduced like separate outputs.
    nested: Option<Nested>,
    failures: Failures,
    compared: Option<Compared>,
}

/// A position among the rows of an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    bytes: usize,
    rows: usize,
    shown_lines: usize,
}

/// How the rows relate to the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// They are a part of it and end with an account.
    #[default]
    Part,
    /// They are all of it except for form; `ended` is whether the last line has a line end.
    Complete { ended: bool },
    /// The source is not reduced.
    Source,
    /// Source lines that fit are shown.
    Lines,
}

impl Output {
    /// The output of a command that ends in `| head -n 40`, if `asked_lines` is 40.
    pub(crate) fn asked_for(asked_lines: Option<usize>) -> Self {
        let mut output = Self::default();
        output.asks_for(asked_lines.unwrap_or_default());
        output
    }

    /// Sets how many of the following rows of a list were requested; 0 for all.
    pub(crate) fn asks_for(&mut self, lines: usize) {
        self.asked_lines = if lines <= MOST_ASKED_LINES { lines } else { 0 };
    }

    /// An output for the requested part of the source.
    pub(crate) fn of_part(&self) -> Self {
        Self {
            asked_lines: self.asked_lines,
            depth: self.depth + 1,
            nested: self.nested,
            ..Self::default()
        }
    }

    /// The same output without its rows.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            nested: self.nested,
            ..Self::default()
        }
    }

    /// Sets how parts of the source are reduced like separate outputs.
    pub(crate) fn with_nested(mut self, nested: Nested) -> Self {
        self.nested = Some(nested);
        self
    }

    /// How parts of the source are reduced like separate outputs; `None` if it was not set.
    pub(crate) fn nested(&self) -> Option<Nested> {
        self.nested
    }

    /// The nesting depth: in how many outputs this is a part.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Sets the length of the source in bytes, including what a terminal does not show.
    pub(crate) fn of_source(mut self, bytes: usize) -> Self {
        self.source_bytes = bytes;
        self
    }

    /// The length of the source in bytes; 0 if it was not set.
    pub(crate) fn source_bytes(&self) -> usize {
        self.source_bytes
    }

    /// How many rows of a list a final `head` or `tail` requested, all of which are shown. 0 for no request, or for
    /// more than anyone reads.
    pub(crate) fn asked_lines(&self) -> usize {
        self.asked_lines
    }

    /// Writes a copy of a source line that is a fact.
    pub(crate) fn fact(&mut self, line: &str) {
        self.row(line, 1, Weight::Fact);
    }

    /// Writes a copy of a source line that is context of a fact.
    pub(crate) fn context(&mut self, line: &str) {
        self.row(line, 1, Weight::Context);
    }

    /// Writes a source line that represents `times` similar lines. The finished text shows a count, `line ×12`, if they
    /// are equal except for timestamps, durations, ids and addresses, and `(+3 similar)` otherwise.
    pub(crate) fn repeated(&mut self, line: &str, times: usize) {
        if times > 1 {
            self.row(&format!("{line} ×{times}"), times, Weight::Context);
        } else {
            self.context(line);
        }
    }

    /// Writes a row of generated text that shows `lines` source lines, such as names grouped under their folder or
    /// locations under their message.
    pub(crate) fn summary(&mut self, row: &str, lines: usize) {
        self.row(row, lines, Weight::Fact);
    }

    /// Like [`summary`](Self::summary), for a row that is context.
    pub(crate) fn context_of(&mut self, row: &str, lines: usize) {
        self.row(row, lines, Weight::Context);
    }

    /// Writes a line of an output that loses only its form and is closed with [`is_all`](Self::is_all).
    pub(crate) fn line_of_all(&mut self, line: &str) {
        self.row(line, 1, Weight::Fact);
    }

    /// The current position among the rows, for [`back_to`](Self::back_to).
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            bytes: self.text.len(),
            rows: self.rows.len(),
            shown_lines: self.shown_lines,
        }
    }

    /// Removes all rows after a position.
    pub(crate) fn back_to(&mut self, mark: Mark) {
        self.text.truncate(mark.bytes);
        self.rows.truncate(mark.rows);
        self.shown_lines = mark.shown_lines;
    }

    /// Declares that the rows are a complete output that lost only its form, so that it needs no account;
    /// `ended` is whether its last line has a line end.
    ///
    /// Reducing it again must not change it. If the budget cuts it, an account is added.
    pub(crate) fn is_all(&mut self, ended: bool) {
        self.form = Form::Complete { ended };
        self.failure = true;
    }

    /// Declares that the family recognises the text and that nothing in it can be left out.
    pub(crate) fn stays(&mut self) {
        self.form = Form::Source;
    }

    /// Keeps the text unreduced if the rows are about as long.
    pub(crate) fn stays_unless_shorter(&mut self, text: &str) {
        if !self.is_empty() && self.text.len() + ACCOUNT_BYTES >= text.len() {
            self.stays();
        }
    }

    /// Declares that there are no rows: source lines fill the text.
    pub(crate) fn fills(&mut self) {
        self.form = Form::Lines;
    }

    pub(crate) fn is_to_fill(&self) -> bool {
        self.form == Form::Lines
    }

    pub(crate) fn is_to_stay(&self) -> bool {
        self.form == Form::Source
    }

    /// Marks how many source lines are left out here.
    pub(crate) fn gap(&mut self, lines: usize) {
        if lines > 0 {
            self.row(&gap_row(lines), 0, Weight::Context);
        }
    }

    /// Declares that the rows report a failure, so that the exit code need not be explained.
    pub(crate) fn failed(&mut self) {
        self.failure = true;
    }

    pub(crate) fn saw_failure(&self) -> bool {
        self.failure
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends the rows of `part`, the reduction of a part of the source. Its failure is not taken over.
    pub(crate) fn append(&mut self, mut part: Self) {
        part.settle();
        self.settle();
        let before = self.text.len();
        self.text.push_str(&part.text);
        self.shown_lines += part.shown_lines;
        self.rows
            .extend(part.rows.into_iter().map(|row| row.moved(before)));
    }

    /// Whether a row contains `text`, or all of the source is shown.
    pub(crate) fn shows(&self, text: &str) -> bool {
        matches!(self.form, Form::Complete { .. })
            || memchr::memmem::find(self.text.as_bytes(), text.as_bytes()).is_some()
    }

    /// The length of the rows so far, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    fn row(&mut self, row: &str, lines: usize, weight: Weight) {
        self.says(row, lines);
        self.push(row, lines, weight);
    }

    /// The text, for tests of families without a source in which gaps could be located.
    #[cfg(test)]
    pub(crate) fn finish(self, source_lines: usize, budget_chars: usize) -> String {
        self.finish_of("", source_lines, budget_chars)
    }

    fn fits(&self, budget_chars: usize) -> bool {
        self.text.len() <= budget_chars || self.text.char_count() <= budget_chars
    }

    fn rows(&self) -> impl Iterator<Item = (&str, Row)> {
        let mut start = 0;
        self.rows.iter().map(move |row| {
            let text = self.text.get(start..row.end()).unwrap_or_default();
            start = row.end();
            (text, *row)
        })
    }
}

/// The marker of left-out lines: `[12 lines left out]`.
fn gap_row(lines: usize) -> String {
    let plural = if lines == 1 { "" } else { "s" };
    format!("[{lines} line{plural} left out]")
}

/// How many lines a marker counts.
fn gap_lines(row: &str) -> Option<usize> {
    let count = row.strip_prefix('[')?;
    let count = count
        .strip_suffix(" lines left out]")
        .or_else(|| count.strip_suffix(" line left out]"))?;
    count.parse().ok()
}

fn account(left_out: usize, source_lines: usize) -> String {
    format!("{NOTE_HEAD}{left_out}{NOTE_MIDDLE}{source_lines}{NOTE_TAIL}")
}

/// The account of an output if nothing of it is shown.
pub(crate) fn account_of_all(source_lines: usize) -> String {
    account(source_lines, source_lines)
}

/// All indices below `count`, from the middle to the ends.
fn from_the_middle(count: usize) -> impl Iterator<Item = usize> {
    let middle = count / 2;
    (0..=middle)
        .flat_map(move |step| [middle.checked_sub(step + 1), Some(middle + step)])
        .flatten()
        .filter(move |index| *index < count)
}

/// Whether `text` ends with an account that may be its own, so that it was reduced before.
pub(crate) fn is_reduced(text: &str) -> bool {
    let text = text.trim_end_matches('\n');
    let last = text.rsplit('\n').next().and_then(counts);
    last.is_some_and(|(left_out, source_lines)| {
        let shown_lines = source_lines.saturating_sub(left_out);
        let most_rows = shown_lines.saturating_mul(2).saturating_add(MOST_OWN_ROWS);
        memchr::memchr_iter(b'\n', text.as_bytes()).count() <= most_rows
    })
}

/// Whether `line` is the account of a reduced text.
pub(crate) fn is_account(line: &str) -> bool {
    counts(line).is_some()
}

/// The numbers of an account: how many lines are left out, and of how many.
fn counts(line: &str) -> Option<(usize, usize)> {
    let numbers = line.strip_prefix(NOTE_HEAD)?.strip_suffix(NOTE_TAIL)?;
    let (left_out, source_lines) = numbers.split_once(NOTE_MIDDLE)?;
    let number = |digits: &str| {
        let all = digits.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| digits.parse().ok()).flatten()
    };
    Some((number(left_out)?, number(source_lines)?))
}

#[cfg(test)]
mod tests;
