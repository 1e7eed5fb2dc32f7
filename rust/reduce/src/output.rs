//! A reduced text while it is put together, and the account of what is not in it.

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
/// A reduced text has not many more rows of our own words than it shows lines of its source: an account
/// under an input with more is that of its last part.
const MOST_OWN_ROWS: usize = 1_000;
/// More lines are asked for to set a bound, not to be read one by one.
pub(crate) const MOST_ASKED_LINES: usize = 100;
/// About as long as an account is.
const ACCOUNT_BYTES: usize = 32;

/// Rows, and how many lines of the source they show.
#[derive(Debug, Default)]
pub(crate) struct Output {
    text: String,
    rows: Vec<Row>,
    shown_lines: usize,
    failure: bool,
    form: Form,
    asked_lines: usize,
    source_bytes: usize,
    /// In how many outputs, one in another, this is a part.
    depth: usize,
    /// How parts of the source are reduced as outputs of their own.
    nested: Option<Nested>,
    failures: Failures,
    compared: Option<Compared>,
}

/// A place among the rows of an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    bytes: usize,
    rows: usize,
    shown_lines: usize,
}

/// What the rows are of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// A part of it, which an account closes.
    #[default]
    Part,
    /// All of it but for form, with or without an end of the last line.
    Complete { ended: bool },
    /// Nothing: the source stays as it is.
    Source,
    /// Those of its lines that fit.
    Lines,
}

impl Output {
    /// The output of a command that ends in `| head -n 40`, if `asked_lines` is 40.
    pub(crate) fn asked_for(asked_lines: Option<usize>) -> Self {
        let mut output = Self::default();
        output.asks_for(asked_lines.unwrap_or_default());
        output
    }

    /// Of what follows this many rows of a list were asked for; 0 for all of it.
    pub(crate) fn asks_for(&mut self, lines: usize) {
        self.asked_lines = if lines <= MOST_ASKED_LINES { lines } else { 0 };
    }

    /// One for the part of the source that was requested.
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

    /// Parts of the source are reduced so.
    pub(crate) fn with_nested(mut self, nested: Nested) -> Self {
        self.nested = Some(nested);
        self
    }

    /// How parts of the source are reduced as outputs of their own; `None` where no one said.
    pub(crate) fn nested(&self) -> Option<Nested> {
        self.nested
    }

    /// In how many outputs, one in another, this is a part.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// The source has this many bytes, with all that a terminal does not show.
    pub(crate) fn of_source(mut self, bytes: usize) -> Self {
        self.source_bytes = bytes;
        self
    }

    /// How many bytes the source has; 0 when no one said.
    pub(crate) fn source_bytes(&self) -> usize {
        self.source_bytes
    }

    /// This many rows of a list were asked for by a last `head` or `tail`: they are all shown. 0 when
    /// none were, or more than anyone reads.
    pub(crate) fn asked_lines(&self) -> usize {
        self.asked_lines
    }

    /// A line of the source, copied: a fact.
    pub(crate) fn fact(&mut self, line: &str) {
        self.row(line, 1, Weight::Fact);
    }

    /// A line of the source, copied: context of a fact.
    pub(crate) fn context(&mut self, line: &str) {
        self.row(line, 1, Weight::Context);
    }

    /// A line of the source that represents `times` lines that are similar. In the finished text those that are
    /// equal but for timestamps, durations, ids and addresses are counted as `line ×12`, the others as
    /// `(+3 similar)`.
    pub(crate) fn repeated(&mut self, line: &str, times: usize) {
        if times > 1 {
            self.row(&format!("{line} ×{times}"), times, Weight::Context);
        } else {
            self.context(line);
        }
    }

    /// A row of our own words that shows `lines` lines of the source: names grouped under their
    /// folder, places under their message.
    pub(crate) fn summary(&mut self, row: &str, lines: usize) {
        self.row(row, lines, Weight::Fact);
    }

    /// Like [`summary`](Self::summary), a row that only helps to understand a fact.
    pub(crate) fn context_of(&mut self, row: &str, lines: usize) {
        self.row(row, lines, Weight::Context);
    }

    /// A line of an output that loses only its form: [`is_all`](Self::is_all) closes it.
    pub(crate) fn line_of_all(&mut self, line: &str) {
        self.row(line, 1, Weight::Fact);
    }

    /// A place among the rows, to which [`back_to`](Self::back_to) goes.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            bytes: self.text.len(),
            rows: self.rows.len(),
            shown_lines: self.shown_lines,
        }
    }

    /// Takes back all rows after a place.
    pub(crate) fn back_to(&mut self, mark: Mark) {
        self.text.truncate(mark.bytes);
        self.rows.truncate(mark.rows);
        self.shown_lines = mark.shown_lines;
    }

    /// The rows are a complete output that lost only its form, with or without an end of the last
    /// line, so that it needs no account.
    ///
    /// Reducing it again must leave it as it is. An account closes what the budget cuts of it.
    pub(crate) fn is_all(&mut self, ended: bool) {
        self.form = Form::Complete { ended };
        self.failure = true;
    }

    /// The family knows the text, and there is nothing in it that may go: it stays as it is.
    pub(crate) fn stays(&mut self) {
        self.form = Form::Source;
    }

    /// Lets the text stay when the rows are about as long as it is: nothing would be won.
    pub(crate) fn stays_unless_shorter(&mut self, text: &str) {
        if !self.is_empty() && self.text.len() + ACCOUNT_BYTES >= text.len() {
            self.stays();
        }
    }

    /// No family has rows: lines of the source fill the text.
    pub(crate) fn fills(&mut self) {
        self.form = Form::Lines;
    }

    pub(crate) fn is_to_fill(&self) -> bool {
        self.form == Form::Lines
    }

    pub(crate) fn is_to_stay(&self) -> bool {
        self.form == Form::Source
    }

    /// How many lines of the source are left out here.
    pub(crate) fn gap(&mut self, lines: usize) {
        if lines > 0 {
            self.row(&gap_row(lines), 0, Weight::Context);
        }
    }

    /// The family saw that something failed: what the exit code states is in the text.
    pub(crate) fn failed(&mut self) {
        self.failure = true;
    }

    pub(crate) fn saw_failure(&self) -> bool {
        self.failure
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes over the rows of `part`, what is shown of a part of the source; not that it failed.
    pub(crate) fn append(&mut self, mut part: Self) {
        part.settle();
        self.settle();
        let before = self.text.len();
        self.text.push_str(&part.text);
        self.shown_lines += part.shown_lines;
        self.rows
            .extend(part.rows.into_iter().map(|row| row.moved(before)));
    }

    /// Whether a row holds `text`, or all of the source is shown.
    pub(crate) fn shows(&self, text: &str) -> bool {
        matches!(self.form, Form::Complete { .. })
            || memchr::memmem::find(self.text.as_bytes(), text.as_bytes()).is_some()
    }

    /// How many bytes the rows have so far.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    fn row(&mut self, row: &str, lines: usize, weight: Weight) {
        self.says(row, lines);
        self.push(row, lines, weight);
    }

    /// The text for tests of families, which have no source to look for gaps in.
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

/// The mark of lines that are left out: `[12 lines left out]`.
fn gap_row(lines: usize) -> String {
    let plural = if lines == 1 { "" } else { "s" };
    format!("[{lines} line{plural} left out]")
}

/// How many lines a mark counts.
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

/// The account of an output when nothing of it is shown.
pub(crate) fn account_of_all(source_lines: usize) -> String {
    account(source_lines, source_lines)
}

/// All indices below `count`, the middle one first and the ends last.
fn from_the_middle(count: usize) -> impl Iterator<Item = usize> {
    let middle = count / 2;
    (0..=middle)
        .flat_map(move |step| [middle.checked_sub(step + 1), Some(middle + step)])
        .flatten()
        .filter(move |index| *index < count)
}

/// Whether `text` ends with the account of a reduced text, and may be that text: it was reduced before.
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

/// How many lines an account states are left out, and of how many.
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
