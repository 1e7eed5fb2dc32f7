//! A reduced text while it is put together, and the account of what is not in it.

use std::fmt::Write as _;

use crate::find_text::FindText as _;

const NOTE_HEAD: &str = "[";
const NOTE_MIDDLE: &str = " of ";
const NOTE_TAIL: &str = " lines left out]";
/// About as long as an account is.
const ACCOUNT_BYTES: usize = 32;

/// How much a row matters when not all rows fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// A failure, a verdict, a count, a place: goes last.
    Fact,
    /// What helps to understand it: goes first, from the middle.
    Context,
}

/// One line of the reduced text: twice where it ends, and one more for a fact. There may be millions.
#[derive(Clone, Copy, Debug)]
struct Row(usize);

impl Row {
    fn new(end: usize, weight: Weight) -> Self {
        Self(end << 1 | usize::from(weight == Weight::Fact))
    }

    fn end(self) -> usize {
        let Self(packed) = self;
        packed >> 1
    }

    fn weight(self) -> Weight {
        let Self(packed) = self;
        if packed & 1 == 1 {
            Weight::Fact
        } else {
            Weight::Context
        }
    }
}

/// Rows, and how many lines of the source they show.
#[derive(Debug, Default)]
pub(super) struct Output {
    text: String,
    rows: Vec<Row>,
    shown_lines: usize,
    failure: bool,
    form: Form,
    asked_lines: usize,
    source_bytes: usize,
    /// In how many outputs, one in another, this is a part.
    depth: usize,
}

/// A place among the rows of an output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
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
}

/// More lines than these are asked for to set a bound, not to be read one by one.
const MOST_ASKED_LINES: usize = 100;

impl Output {
    /// The output of a command that ends in `| head -n 40`, if `asked_lines` is 40.
    pub(super) fn asked_for(asked_lines: Option<usize>) -> Self {
        Self {
            asked_lines: asked_lines
                .filter(|lines| *lines <= MOST_ASKED_LINES)
                .unwrap_or(0),
            ..Self::default()
        }
    }

    /// One for a part of the source, of which as much was asked for.
    pub(super) fn of_part(&self) -> Self {
        Self {
            asked_lines: self.asked_lines,
            depth: self.depth + 1,
            ..Self::default()
        }
    }

    /// In how many outputs, one in another, this is a part.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The source has so many bytes, with all that a terminal does not show.
    pub(super) fn of_source(mut self, bytes: usize) -> Self {
        self.source_bytes = bytes;
        self
    }

    /// How many bytes the source has; 0 when nobody said.
    pub(super) fn source_bytes(&self) -> usize {
        self.source_bytes
    }

    /// So many rows of a list were asked for by a last `head` or `tail`: they are all shown. 0 when
    /// none were, or more than anyone reads.
    pub(super) fn asked_lines(&self) -> usize {
        self.asked_lines
    }

    /// A line of the source, copied: a fact.
    pub(super) fn fact(&mut self, line: &str) {
        self.shown_lines += 1;
        self.row(line, Weight::Fact);
    }

    /// A line of the source, copied: context of a fact.
    pub(super) fn context(&mut self, line: &str) {
        self.shown_lines += 1;
        self.row(line, Weight::Context);
    }

    /// A line of the source that stands for `times` lines like it: `line ×12`.
    pub(super) fn repeated(&mut self, line: &str, times: usize) {
        if times > 1 {
            self.shown_lines += 1;
            self.row(&format!("{line} ×{times}"), Weight::Context);
        } else {
            self.context(line);
        }
    }

    /// A row of our own words that shows `lines` lines of the source: names grouped under their
    /// folder, places under their message.
    pub(super) fn summary(&mut self, row: &str, lines: usize) {
        self.shown_lines += lines;
        self.row(row, Weight::Fact);
    }

    /// Like [`summary`](Self::summary), a row that only helps to understand a fact.
    pub(super) fn context_of(&mut self, row: &str, lines: usize) {
        self.shown_lines += lines;
        self.row(row, Weight::Context);
    }

    /// A line of a text of which nothing but form is left out: [`is_all`](Self::is_all) closes it.
    pub(super) fn line_of_all(&mut self, line: &str) {
        self.row(line, Weight::Fact);
    }

    /// A place among the rows, to which [`back_to`](Self::back_to) goes.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            bytes: self.text.len(),
            rows: self.rows.len(),
            shown_lines: self.shown_lines,
        }
    }

    /// Takes back all rows after a place.
    pub(super) fn back_to(&mut self, mark: Mark) {
        self.text.truncate(mark.bytes);
        self.rows.truncate(mark.rows);
        self.shown_lines = mark.shown_lines;
    }

    /// The rows are a whole text of which nothing but form was left out, with or without an end of the last
    /// line, so that it needs no account.
    ///
    /// Reducing it again must leave it as it is. An account closes what the budget cuts of it.
    pub(super) fn is_all(&mut self, ended: bool) {
        self.shown_lines = usize::MAX;
        self.form = Form::Complete { ended };
        self.failure = true;
    }

    /// The family knows the text, and there is nothing in it that may go: it stays as it is.
    pub(super) fn stays(&mut self) {
        self.form = Form::Source;
    }

    /// Lets the text stay when the rows are about as long as it is: nothing would be won.
    pub(super) fn stays_unless_shorter(&mut self, text: &str) {
        if !self.is_empty() && self.text.len() + ACCOUNT_BYTES >= text.len() {
            self.stays();
        }
    }

    pub(super) fn is_to_stay(&self) -> bool {
        self.form == Form::Source
    }

    /// How many lines of the source are left out here.
    pub(super) fn gap(&mut self, lines: usize) {
        if lines > 0 {
            let plural = if lines == 1 { "" } else { "s" };
            self.row(&format!("... {lines} line{plural}"), Weight::Context);
        }
    }

    /// The family saw that something failed: what the exit code says is in the text.
    pub(super) fn failed(&mut self) {
        self.failure = true;
    }

    pub(super) fn saw_failure(&self) -> bool {
        self.failure
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes over the rows of `part`, what is shown of a part of the source; not that it failed.
    pub(super) fn append(&mut self, part: Self) {
        let before = self.text.len();
        self.text.push_str(&part.text);
        let moved = |row: Row| Row::new(before + row.end(), row.weight());
        // Of a part that is shown as a whole nothing is counted.
        self.shown_lines += if matches!(part.form, Form::Complete { .. }) {
            part.rows.len()
        } else {
            part.shown_lines
        };
        self.rows.extend(part.rows.into_iter().map(moved));
    }

    /// Whether a row holds `text`, or all of the source is shown.
    pub(super) fn shows(&self, text: &str) -> bool {
        matches!(self.form, Form::Complete { .. })
            || memchr::memmem::find(self.text.as_bytes(), text.as_bytes()).is_some()
    }

    /// How many bytes the rows have so far.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    fn row(&mut self, row: &str, weight: Weight) {
        self.text.push_str(row);
        self.text.push('\n');
        let end = self.text.len();
        self.rows.push(Row::new(end, weight));
    }

    /// The text, closed by the account of what is not in it: `[959 of 1001 lines left out]`.
    ///
    /// When it has more than `budget_chars` characters, rows go from the middle: context first,
    /// then facts; a row says how many.
    pub(super) fn finish(self, source_lines: usize, budget_chars: usize) -> String {
        let fits = self.text.char_count() <= budget_chars;
        if let (Form::Complete { ended }, true) = (self.form, fits) {
            let mut text = self.within(budget_chars);
            if !ended {
                text.pop();
            }
            return text;
        }
        let left_out = source_lines.saturating_sub(self.shown_lines);
        let mut note = String::new();
        // Writing to a `String` cannot fail.
        let _ = write!(
            note,
            "{NOTE_HEAD}{left_out}{NOTE_MIDDLE}{source_lines}{NOTE_TAIL}"
        );
        let mut text = self.within(budget_chars.saturating_sub(note.len()));
        text.push_str(&note);
        text
    }

    fn within(self, budget_chars: usize) -> String {
        if self.text.len() <= budget_chars || self.text.char_count() <= budget_chars {
            return self.text;
        }
        let chars: Vec<usize> = self.rows().map(|(row, _)| row.chars().count()).collect();
        let mut keep = vec![true; chars.len()];
        let mut total: usize = chars.iter().sum();
        let reserve = "... 1000000000 rows\n".len();
        for weight in [Weight::Context, Weight::Fact] {
            for index in from_the_middle(chars.len()) {
                if total.saturating_add(reserve) <= budget_chars {
                    break;
                }
                let of_this_weight = self
                    .rows
                    .get(index)
                    .is_some_and(|row| row.weight() == weight);
                if let (true, Some(kept), Some(size)) =
                    (of_this_weight, keep.get_mut(index), chars.get(index))
                {
                    *kept = false;
                    total = total.saturating_sub(*size);
                }
            }
        }
        self.joined(&keep)
    }

    /// The kept rows; one row at the first gap says how many are missing in all.
    fn joined(&self, keep: &[bool]) -> String {
        let dropped = keep.iter().filter(|kept| !**kept).count();
        let mut text = String::new();
        let mut told = dropped == 0;
        for ((row, _), kept) in self.rows().zip(keep) {
            if *kept {
                text.push_str(row);
            } else if !told {
                told = true;
                let _ = writeln!(text, "... {dropped} rows");
            }
        }
        text
    }

    fn rows(&self) -> impl Iterator<Item = (&str, Weight)> {
        let mut start = 0;
        self.rows.iter().map(move |row| {
            let text = self.text.get(start..row.end()).unwrap_or_default();
            start = row.end();
            (text, row.weight())
        })
    }
}

/// All indices below `count`, the middle one first and the ends last.
fn from_the_middle(count: usize) -> impl Iterator<Item = usize> {
    let middle = count / 2;
    (0..=middle)
        .flat_map(move |step| [middle.checked_sub(step + 1), Some(middle + step)])
        .flatten()
        .filter(move |index| *index < count)
}

/// Whether `text` ends with the account of a reduced text: it was reduced before.
pub(super) fn is_reduced(text: &str) -> bool {
    let last = text.trim_end_matches('\n').rsplit('\n').next();
    let numbers = last.and_then(|line| line.strip_prefix(NOTE_HEAD)?.strip_suffix(NOTE_TAIL));
    let numbers = numbers.and_then(|numbers| numbers.split_once(NOTE_MIDDLE));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(left, all)| digits(left) && digits(all))
}

#[cfg(test)]
mod tests;
