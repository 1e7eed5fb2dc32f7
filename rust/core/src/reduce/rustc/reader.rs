//! Reads what cargo and the Rust compiler print, diagnostic by diagnostic.

use std::fmt::Write as _;

use hashbrown::{HashMap, HashSet};

use super::line::{head, is_advice, is_drawn, is_result, is_source, is_summary, lint, short, step};
use crate::reduce::line::shorten;
use crate::reduce::output::Output;
use crate::reduce::traceback::{Folder, is_library};
use crate::reduce::unknown::{Unknown, is_bar};

const HEAD_CHARS: usize = 300;
/// Longer labels say more than fits beside a place.
const LABEL_BYTES: usize = 72;
const LINE_CHARS: usize = 240;
/// Diagnostics that are told, and places of one.
const KINDS: usize = 2_048;
const PLACES: usize = 1_024;
/// With more warnings than this in all, so many places of each are told, and one of each further file.
const MANY_WARNINGS: usize = 400;
const FIRST_PLACES: usize = 12;
/// Places among which a repeated one is looked for.
const NEAR: usize = 64;
/// Lines that say why linking failed, or notes, that are kept.
const FURTHER: usize = 8;

/// One diagnostic, or several with the same head.
#[derive(Debug, Default)]
struct Diagnostic<'a> {
    /// `error[E0308]: mismatched types`.
    head: &'a str,
    places: Vec<Place<'a>>,
    /// The lint that is named where it is met first.
    lint: Option<&'a str>,
    /// What the linker said.
    further: Vec<&'a str>,
    notes: Vec<Note<'a>>,
    /// How many more there are.
    more_places: usize,
    /// Whether the place stood before the head, in one line.
    short: bool,
    /// How many lines of the source the row shows.
    lines: usize,
}

/// Where a diagnostic stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place<'a> {
    text: &'a str,
    /// What the compiler wrote under the source.
    label: &'a str,
}

/// What a note beside a diagnostic points at.
#[derive(Clone, Copy, Debug)]
struct Note<'a> {
    /// `note: function defined here`.
    text: &'a str,
    place: &'a str,
    /// The line of source there, which names what is defined by it.
    source: &'a str,
}

/// Whether help or a note of the open diagnostic is read: places in it are not its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Aside {
    #[default]
    None,
    Told,
    Dropped,
}

/// A reader of the output of builds; what it does not know it keeps as the family of unknown lines does.
#[derive(Debug, Default)]
pub(in crate::reduce) struct Reader<'a> {
    open: Option<Diagnostic<'a>>,
    aside: Aside,
    diagnostics: Vec<Diagnostic<'a>>,
    kinds: HashMap<&'a str, usize>,
    /// Lines of diagnostics that are too many.
    beyond: usize,
    /// Counts and verdicts, in their order.
    closing: Vec<&'a str>,
    folder: Folder<'a>,
    pub(in crate::reduce) unknown: Unknown<'a>,
    failure: bool,
    /// Whether all notes are kept: the source is so long that they cost nothing.
    notes: bool,
    /// The last step of cargo; written where it ended in an error of the linker.
    step: Option<&'a str>,
}

impl<'a> Reader<'a> {
    /// Keeps the notes of warnings and those without a place of the user too.
    pub(in crate::reduce) fn keep_notes(&mut self) {
        self.notes = true;
    }

    /// Reads a line.
    pub(in crate::reduce) fn line(&mut self, line: &'a str, output: &mut Output) {
        if self.open.is_some() && (self.inside(line) || is_bar(line)) {
            return;
        }
        self.close();
        let body = line.trim_start();
        if body.is_empty() {
            return;
        }
        if body.len() < line.len() && step(body) {
            self.step = Some(body);
            if is_result(body) {
                self.closing.push(body.trim_end());
            }
        } else if let Some(head) = head(line) {
            self.begins(head, None);
        } else if let Some((found, head)) = short(line) {
            self.begins(head, Some(found));
        } else if body.starts_with("--> ") {
            // The head of this place was cut away.
            self.unknown.push(body);
        } else if !is_advice(line) && !is_drawn(line, body) {
            let (folder, unknown) = (&mut self.folder, &mut self.unknown);
            let belongs = folder.line(line, &mut |line| {
                unknown.write(output);
                output.fact(&shorten(line, LINE_CHARS));
            });
            if !belongs {
                self.unknown.push(line);
            }
        }
    }

    /// Writes what was read, and forgets it.
    pub(in crate::reduce) fn write(&mut self, output: &mut Output) {
        self.close();
        if self.failure || self.folder.frames() > 0 {
            output.failed();
        }
        self.folder
            .finish(&mut |line| output.fact(&shorten(line, LINE_CHARS)));
        let warnings = self.diagnostics.iter().filter(|one| !one.is_error());
        let many = warnings.map(|one| one.places.len()).sum::<usize>() > MANY_WARNINGS;
        for diagnostic in &mut self.diagnostics {
            if many && !diagnostic.is_error() {
                diagnostic.tell_first_places();
            }
            diagnostic.write(output);
        }
        output.gap(self.beyond);
        self.unknown.write(output);
        for line in &self.closing {
            output.fact(&shorten(line, HEAD_CHARS));
        }
        *self = Self::default();
    }

    fn begins(&mut self, head: &'a str, place: Option<&'a str>) {
        self.failure |= head.starts_with("error");
        self.aside = Aside::None;
        if place.is_none() && is_summary(head) {
            if head.starts_with("error")
                || head.contains(" generated ")
                || head.contains(" emitted")
            {
                self.closing.push(head);
            }
            return;
        }
        let mut diagnostic = Diagnostic {
            head,
            short: place.is_some(),
            lines: 1,
            ..Diagnostic::default()
        };
        if let Some(text) = place {
            diagnostic.places.push(Place { text, label: "" });
        }
        if head.contains("linking with ") {
            diagnostic.further.extend(self.step);
        }
        self.open = Some(diagnostic);
    }

    /// Reads a line under the head of a diagnostic; `false` when it does not belong there.
    fn inside(&mut self, line: &'a str) -> bool {
        let Some(open) = self.open.as_mut() else {
            return false;
        };
        let body = line.trim_start();
        if body.is_empty() || open.short {
            return false;
        }
        if line.starts_with("help: ") || line.starts_with("note: ") || line.starts_with("help:") {
            let note = line.starts_with("note: ") && open.head.starts_with("error");
            let told = (note || self.notes) && open.notes.len() < FURTHER;
            self.aside = if told { Aside::Told } else { Aside::Dropped };
            if told {
                open.notes.push(Note {
                    text: line.trim_end(),
                    place: "",
                    source: "",
                });
            }
            return !open.places.is_empty();
        }
        if let Some(text) = body.strip_prefix("--> ") {
            // A second place is left of a diagnostic whose head was cut away.
            if self.aside == Aside::Told && !is_library(text) {
                open.noted_at(text.trim_end());
            } else if self.aside == Aside::None {
                open.lines += 1;
                open.places.push(Place {
                    text: text.trim_end(),
                    label: "",
                });
            }
            return true;
        }
        if body.starts_with("= ") {
            open.lint = open.lint.or_else(|| lint(body));
        }
        if open.head.contains("linking with ") {
            open.linker(body);
            return true;
        }
        if let (true, Some(note)) = (self.aside == Aside::Told, open.notes.last_mut()) {
            note.shows(body);
        }
        if self.aside == Aside::None && body.starts_with('|') {
            let label = body.rsplit_once('^').map_or("", |(_, label)| label);
            let label = label.trim_start_matches(['-', ' ']).trim_end();
            if let Some(found) = open
                .places
                .first_mut()
                .filter(|found| found.label.is_empty())
            {
                found.label = label;
            }
        }
        // Without a place it is cargo that speaks: what follows is told of its own.
        !open.places.is_empty() && (line.starts_with(' ') || is_source(line))
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else {
            return;
        };
        open.notes
            .retain(|note| !note.place.is_empty() || self.notes && note.text.starts_with("note: "));
        let full = self.diagnostics.len() >= KINDS;
        let known = self
            .kinds
            .get(open.head)
            .and_then(|at| self.diagnostics.get_mut(*at));
        match known {
            Some(same) if same.further.is_empty() && open.further.is_empty() => {
                same.lines += open.lines;
                same.lint = same.lint.or(open.lint);
                for note in open.notes {
                    let known = same.notes.iter().any(|known| known.place == note.place);
                    if !known && same.notes.len() < FURTHER {
                        same.notes.push(note);
                    }
                }
                for place in open.places {
                    if !same
                        .places
                        .iter()
                        .rev()
                        .take(NEAR)
                        .any(|known| known.text == place.text)
                    {
                        if same.places.len() < PLACES {
                            same.places.push(place);
                        } else {
                            same.more_places += 1;
                        }
                    }
                }
            }
            _ if full => self.beyond += open.lines,
            _ => {
                self.kinds.insert(open.head, self.diagnostics.len());
                self.diagnostics.push(open);
            }
        }
    }
}

impl<'a> Diagnostic<'a> {
    fn is_error(&self) -> bool {
        self.head.starts_with("error")
    }

    /// Leaves places out, of each file all but the first.
    fn tell_first_places(&mut self) {
        let all = self.places.len();
        let mut files = HashSet::new();
        let mut kept = 0;
        self.places.retain(|place| {
            let path = place.text.split(':').next().unwrap_or_default();
            let tells = files.insert(path) || kept < FIRST_PLACES;
            kept += usize::from(tells);
            tells
        });
        self.more_places += all - self.places.len();
    }

    /// Keeps what tells why linking failed, not the command line of the linker.
    fn linker(&mut self, line: &'a str) {
        let line = line.strip_prefix("= note: ").unwrap_or(line).trim_end();
        let telling = ["ld: ", "undefined ", "cannot find ", "error: ", "ld.lld"]
            .iter()
            .any(|word| line.contains(word));
        let command = line.starts_with('"') || line.contains("\"-m64\"");
        if telling && !command && self.further.len() < FURTHER {
            self.further.push(line);
        }
    }

    /// The place of the last note; each further one of it is a note of its own.
    fn noted_at(&mut self, place: &'a str) {
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

    /// Whether a label says what the head does not.
    fn is_news(&self, label: &str) -> bool {
        let (_, tail) = label.split_once(' ').unwrap_or(("", label));
        let mut quoted = label.split('`').skip(1).step_by(2).peekable();
        let said = self.head.contains(label)
            || self.head.contains(tail)
            || quoted.peek().is_some() && quoted.all(|name| self.head.contains(name));
        let advice = label.starts_with("help: ") && self.head.starts_with("warning");
        !(label.is_empty() || said || advice) && label.len() <= LABEL_BYTES
    }

    fn write(&self, output: &mut Output) {
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
    fn shows(&mut self, body: &'a str) {
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
