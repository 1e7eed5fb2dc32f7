//! Findings of linters, type checkers and compilers: the same message shown once, with all its places.

mod annotation;
pub(crate) mod by_message;
mod code;
pub(crate) mod ends;
mod message;
mod rows;
mod sample;

pub(crate) use self::message::masked;
use self::rows::Rows;
use self::sample::Sample;
use crate::line::fingerprint::fingerprint;
use crate::line::{Place, shorten};
use crate::output::Output;
pub(crate) use annotation::{annotated, logged_issue};
pub(crate) use code::{is_code, trimmed_end};

/// Up to this many errors of a type checker or compiler every place is shown; beyond it the first
/// ones of each message, and how many each file has. Messages that differ only in numbers and quoted
/// names are one message then.
const ALL_ERRORS: usize = 600;
/// The same for linters, most of whose findings are about style.
const ALL_REMARKS: usize = 150;
/// Of more of those only the first places of each message are shown if all would take too much, and a
/// sample takes this many percent of it at most.
const SOME_REMARKS: usize = 100;
const SAMPLE_PERCENT: usize = 90;
/// Of more errors those that differ in names only are shown together.
const NAMED_ERRORS: usize = 200;
/// The same for what a compiler warns of.
const NAMED_WARNINGS: usize = 40;
/// If at least this many of them do so.
const NAMED_TOGETHER: usize = 6;
const MESSAGE_CHARS: usize = 240;

/// One message at one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding<'a> {
    /// Path, line and column as the tool wrote them, or what else names the place.
    pub(crate) place: &'a str,
    /// The path alone; a place that does not begin with it is below it.
    pub(crate) path: &'a str,
    /// The message, with severity and code.
    pub(crate) message: &'a str,
    /// The line that states both, as the tool wrote it; empty when they are on different lines.
    pub(crate) whole: &'a str,
}

impl<'a> Finding<'a> {
    /// `message`, which is on another line than its place.
    pub(crate) fn at(place: Place<'a>, message: &'a str) -> Self {
        Self {
            place: place.text,
            path: place.path,
            message,
            whole: "",
        }
    }
}

/// Findings in the order in which they came; of very many a sample.
#[derive(Debug, Default)]
pub(crate) struct Findings<'a> {
    /// Whether messages that differ in numbers and names only are distinguished, however many there are.
    exact: bool,
    /// Whether they are warnings of a compiler.
    warnings: bool,
    /// The last one, whose message may go on, and the lines that do so.
    open: Option<Finding<'a>>,
    open_lines: Vec<&'a str>,
    all: Vec<Finding<'a>>,
    /// Lines that go on with the message of a finding, by its index.
    continued: Vec<(usize, &'a str)>,
    errors: usize,
    /// All of them, when they are too many to show every location.
    sample: Option<Sample<'a>>,
}

impl<'a> Findings<'a> {
    /// Findings in which each message counts, as those of a compiler.
    pub(crate) fn exact() -> Self {
        Self {
            exact: true,
            ..Self::default()
        }
    }

    /// What a compiler warns of.
    pub(crate) fn warnings() -> Self {
        Self {
            warnings: true,
            ..Self::exact()
        }
    }

    pub(crate) fn push(&mut self, finding: Finding<'a>) {
        self.close();
        self.open = Some(finding);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_none() && self.all.is_empty()
    }

    /// Whether the last finding only announced its message, which `message` is: `path:1 in f:`.
    pub(crate) fn takes_message(&mut self, message: &'a str) -> bool {
        let announces = |message: &str| {
            message.ends_with(':') && (message.starts_with("in ") || message.starts_with("at "))
        };
        match self.open.as_mut().filter(|last| announces(last.message)) {
            Some(last) => {
                last.message = message;
                last.whole = "";
                true
            }
            None => false,
        }
    }

    /// What continues the message of the last finding, which a tool has broken into lines.
    pub(crate) fn continue_last(&mut self, more: &'a str) {
        if self.open.is_some() && self.open_lines.len() < MESSAGE_CHARS {
            self.open_lines.push(more.trim());
        }
    }

    /// Ends the message of the last finding.
    fn close(&mut self) {
        let Some(finding) = self.open.take() else {
            return;
        };
        self.errors += usize::from(finding.message.starts_with("error: "));
        if let Some(sample) = self.sample.as_mut() {
            sample.push(finding, &self.open_lines);
        } else {
            let owner = self.all.len();
            let lines = self.open_lines.iter();
            self.continued.extend(lines.map(|line| (owner, *line)));
            self.all.push(finding);
            if self.all.len() > ALL_ERRORS {
                self.sample = Some(self.sampled(self.exact));
                self.all.truncate(1);
                self.continued.clear();
            }
        }
        self.open_lines.clear();
    }

    fn sampled(&self, exact: bool) -> Sample<'a> {
        let mut sample = Sample::new(!exact, self.is_taste());
        let mut lines = Vec::new();
        for (number, finding) in self.all.iter().enumerate() {
            lines.clear();
            lines.extend(self.continuation(number));
            sample.push(*finding, &lines);
        }
        sample
    }

    /// The lines that go on with the message of a finding.
    fn continuation(&self, index: usize) -> impl Iterator<Item = &'a str> {
        let start = self.continued.partition_point(|(owner, _)| *owner < index);
        let rest = self.continued.get(start..).unwrap_or_default();
        rest.iter()
            .take_while(move |(owner, _)| *owner == index)
            .map(|(_, line)| *line)
    }

    /// One row a message: alone with its place as the tool wrote it, or followed by all its places.
    ///
    /// Of very many findings a sample is shown, of about `target_chars`; of severe ones each.
    pub(crate) fn write(&mut self, target_chars: usize, output: &mut Output) {
        self.close();
        if !self.is_empty() {
            output.failed();
        }
        if let Some(sample) = &self.sample {
            sample.write(target_chars, output);
        } else if self.all.len() > self.most_told() {
            self.sampled(self.exact).write(target_chars, output);
        } else {
            let rows = self.rows();
            let size: usize = rows.iter().map(|(_, row)| row.len() + 1).sum();
            if self.all.len() > SOME_REMARKS && self.is_taste() && size > target_chars {
                let sample = self.sampled(true);
                if sample.fits(size * SAMPLE_PERCENT / 100) {
                    sample.write(target_chars, output);
                    return;
                }
            }
            for (count, row) in &rows {
                output.summary(row, *count);
            }
        }
    }

    /// Whether there are too many to show each location.
    pub(crate) fn are_sampled(&self) -> bool {
        self.sample.is_some() || self.all.len() > self.most_told()
    }

    /// Of how many findings every place is shown.
    fn most_told(&self) -> usize {
        if self.is_taste() {
            ALL_REMARKS
        } else {
            ALL_ERRORS
        }
    }

    fn is_taste(&self) -> bool {
        !self.exact && self.errors * 2 <= self.all.len()
    }

    /// A row for each message, and how many findings it shows.
    ///
    /// Of many errors those that differ in names only are in one row: each name before its places.
    fn rows(&self) -> Vec<(usize, String)> {
        let by_kind = !self.exact && self.errors > NAMED_ERRORS
            || self.warnings && self.all.len() > NAMED_WARNINGS;
        let mut rows = Rows::of_at_least(if self.warnings { NAMED_TOGETHER } else { 0 });
        for (number, finding) in self.all.iter().enumerate() {
            let more = self.continuation(number);
            let (keys, said) = if by_kind {
                let said = message::joined(finding.message, more);
                ((message::without_names(&said), fingerprint(&said)), said)
            } else {
                let key = message::exact(finding.message, more);
                ((key, key), String::new())
            };
            rows.push(keys, &said, finding.place, || self.text(number, finding));
        }
        rows.told()
    }

    fn text(&self, number: usize, finding: &Finding<'_>) -> String {
        let Finding {
            place,
            message,
            whole,
            ..
        } = finding;
        let mut text = match (whole.is_empty(), place.is_empty()) {
            (false, _) => (*whole).to_owned(),
            (true, true) => (*message).to_owned(),
            (true, false) => format!("{place}: {message}"),
        };
        for line in self.continuation(number) {
            text.push(' ');
            text.push_str(line);
        }
        shorten(&text, MESSAGE_CHARS + place.chars().count()).into_owned()
    }
}

#[cfg(test)]
mod tests;
