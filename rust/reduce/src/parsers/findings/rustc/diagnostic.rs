//! One diagnostic of the compiler, put together from its lines and written as one row.

use std::fmt::Write as _;

use crate::line::shorten;
use crate::output::Output;

pub(super) const HEAD_CHARS: usize = 300;
/// Longer labels are too long to show next to a location.
const LABEL_BYTES: usize = 72;
const LINE_CHARS: usize = 240;
/// How many lines with the reason of a link error, or notes, are kept.
pub(super) const FURTHER: usize = 8;

/// One diagnostic, or several with the same head.
#[derive(Debug, Default)]
pub(super) struct Diagnostic<'a> {
    /// `error[E0308]: mismatched types`.
    pub(super) head: &'a str,
    pub(super) places: Vec<Place<'a>>,
    /// The lint that is named where it is met first.
    pub(super) lint: Option<&'a str>,
    /// The messages of the linker.
    pub(super) further: Vec<&'a str>,
    pub(super) notes: Vec<Note<'a>>,
    /// How many more there are.
    pub(super) more_places: usize,
    /// Whether the place was before the header, in one line.
    pub(super) short: bool,
    /// How many lines of the source the row shows.
    pub(super) lines: usize,
}

/// Where a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub(super) text: &'a str,
    /// What the compiler wrote under the source.
    pub(super) label: &'a str,
}

/// What a note beside a diagnostic points at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note<'a> {
    /// `note: function defined here`.
    pub(super) text: &'a str,
    pub(super) place: &'a str,
    /// The line of source there, which names what is defined by it.
    pub(super) source: &'a str,
}

impl<'a> Diagnostic<'a> {
    pub(super) fn is_error(&self) -> bool {
        self.head.starts_with("error")
    }

    /// Keeps what reports why linking failed, not the command line of the linker.
    pub(super) fn linker(&mut self, line: &'a str) {
        let line = line.strip_prefix("= note: ").unwrap_or(line).trim_end();
        // Where a symbol is used is below it.
        let telling = [
            ">>> referenced by ",
            "ld: ",
            "undefined ",
            "cannot find ",
            "error: ",
            "ld.lld",
        ]
        .iter()
        .any(|word| line.contains(word));
        let command = line.starts_with('"') || line.contains("\"-m64\"");
        if telling && !command && self.further.len() < FURTHER {
            self.further.push(line);
        }
    }

    /// The place of the last note; each further one of it is a note of its own.
    pub(super) fn noted_at(&mut self, place: &'a str) {
        let room = self.notes.len() < FURTHER;
        match self.notes.last_mut() {
            Some(note) if note.place.is_empty() => note.place = place,
            Some(note) if room => {
                let text = note.text;
                self.notes.push(Note {
                    text,
                    place,
                    source: "",
                });
            }
            _ => {}
        }
    }

    /// Whether a label shows what the header does not.
    fn is_news(&self, label: &str) -> bool {
        let (_, tail) = label.split_once(' ').unwrap_or(("", label));
        let mut quoted = label.split('`').skip(1).step_by(2).peekable();
        let said = self.head.contains(label)
            || self.head.contains(tail)
            || quoted.peek().is_some() && quoted.all(|name| self.head.contains(name));
        let advice = label.starts_with("help: ") && self.head.starts_with("warning");
        !(label.is_empty() || said || advice) && label.len() <= LABEL_BYTES
    }

    pub(super) fn write(&self, output: &mut Output) {
        let mut row = String::new();
        let head = shorten(self.head, HEAD_CHARS);
        if let Some(first) = self.places.first().filter(|_| self.short) {
            row.push_str(first.text);
            row.push_str(": ");
        }
        row.push_str(&head);
        let mut places = self.places.iter().skip(usize::from(self.short)).peekable();
        while let Some(place) = places.next() {
            row.push(' ');
            row.push_str(place.text);
            let goes_on = places.peek().is_some_and(|next| next.label == place.label);
            if !goes_on && self.is_news(place.label) {
                row.push_str(" (");
                row.push_str(place.label);
                row.push(')');
            }
        }
        if self.more_places > 0 {
            // Writing to a `String` cannot fail.
            let _ = write!(row, " +{}", self.more_places);
        }
        if let Some(lint) = self.lint {
            row.push_str(" [");
            row.push_str(lint);
            row.push(']');
        }
        output.summary(&row, self.lines);
        for line in &self.further {
            output.fact(&shorten(line, LINE_CHARS));
        }
        for note in &self.notes {
            let row = format!("{} {} {}", note.text, note.place, note.source);
            output.fact(&shorten(row.trim_end(), LINE_CHARS));
        }
    }
}

impl<'a> Note<'a> {
    /// Takes the line of source that the place names: `12 | fn f() {`.
    pub(super) fn shows(&mut self, body: &'a str) {
        let defines = self.text.ends_with(" here");
        if !defines || self.place.is_empty() || !self.source.is_empty() {
            return;
        }
        let Some((number, source)) = body.split_once('|') else {
            return;
        };
        let line = self.place.rsplit(':').nth(1);
        if line == Some(number.trim_end()) {
            self.source = source.trim();
        }
    }
}
