//! Reads what cargo and the Rust compiler print, diagnostic by diagnostic.

use hashbrown::HashMap;

use super::diagnostic::{Diagnostic, FURTHER, HEAD_CHARS, Note, Place};
use super::line::{head, is_advice, is_drawn, is_result, is_source, is_summary, lint, short, step};
use super::many;
use super::pointer::Pointer;
use crate::line::library::is_library;
use crate::line::shorten;
use crate::output::Output;
use crate::parsers::logs::traceback::Folder;
use crate::rows::unknown::{Unknown, is_bar};

const LINE_CHARS: usize = 240;
/// How many diagnostics are shown, and places of one.
const KINDS: usize = 2_048;
const PLACES: usize = 1_024;
/// With more warnings than this in all, the first places of each are shown.
const MANY_WARNINGS: usize = 400;
/// Places among which a repeated one is looked for.
const NEAR: usize = 64;

/// What represents the header of a diagnostic that was cut off.
const HEADLESS: &str = "-->";

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
pub(crate) struct Reader<'a> {
    open: Option<Diagnostic<'a>>,
    aside: Aside,
    /// Where the open diagnostic points at its source.
    pointer: Pointer,
    diagnostics: Vec<Diagnostic<'a>>,
    kinds: HashMap<&'a str, usize>,
    /// Lines of diagnostics that are too many.
    beyond: usize,
    /// Counts and verdicts, in their order.
    closing: Vec<&'a str>,
    folder: Folder<'a>,
    pub(crate) unknown: Unknown<'a>,
    failure: bool,
    /// Whether all notes are kept: the source is so long that they cost nothing.
    notes: bool,
    /// The last step of cargo; written where it ended in an error of the linker.
    step: Option<&'a str>,
}

impl<'a> Reader<'a> {
    /// Keeps the notes of warnings and those without a place of the user too.
    pub(crate) fn keep_notes(&mut self) {
        self.notes = true;
    }

    /// Reads a line.
    pub(crate) fn line(&mut self, line: &'a str, output: &mut Output) {
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
            self.first(output);
            self.begins(head, None);
        } else if let Some((found, head)) = short(line) {
            self.first(output);
            self.begins(head, Some(found));
        } else if body.starts_with("--> ") {
            // The header of this place was cut off.
            self.headless(body, output);
        } else if self.diagnostics.is_empty()
            && let Some(label) = label_below_source(body)
        {
            // All that was above it was cut off too.
            self.unknown.push(label);
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

    /// Forgets how the build ended well: what it has built states more.
    pub(crate) fn forget_result(&mut self) {
        self.closing.retain(|line| !line.starts_with("Finished "));
    }

    /// Writes what was read, and forgets it.
    pub(crate) fn write(&mut self, output: &mut Output) {
        self.close();
        if self.failure || self.folder.frames() > 0 {
            output.failed();
        }
        self.folder
            .finish(&mut |line| output.fact(&shorten(line, LINE_CHARS)));
        let warnings = self.diagnostics.iter().filter(|one| !one.is_error());
        if warnings.map(|one| one.places.len()).sum::<usize>() > MANY_WARNINGS {
            many::write(&mut self.diagnostics, output);
        } else {
            for diagnostic in &self.diagnostics {
                diagnostic.write(output);
            }
        }
        output.gap(self.beyond);
        self.unknown.write(output);
        for line in &self.closing {
            output.fact(&shorten(line, HEAD_CHARS));
        }
        *self = Self::default();
    }

    /// Writes what is above the first diagnostic: where the output begins in the middle it is of another.
    fn first(&mut self, output: &mut Output) {
        if self.diagnostics.is_empty() {
            self.unknown.write(output);
        }
    }

    /// Reads a place without a header, whose labels follow; the first one is above all other diagnostics.
    fn headless(&mut self, body: &'a str, output: &mut Output) {
        let (head, place) = body.split_at(HEADLESS.len());
        if !self.diagnostics.is_empty() || is_library(place) {
            self.unknown.push(body);
            return;
        }
        self.first(output);
        self.begins(head, Some(place.trim()));
        if let Some(open) = self.open.as_mut() {
            open.short = false;
        }
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
        self.pointer = Pointer::default();
    }

    /// Reads a line under the header of a diagnostic; `false` when it does not belong there.
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
            // A second place is left of a diagnostic whose header was cut off.
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
        if let Some(text) = body.strip_prefix("::: ")
            && self.aside == Aside::None
            && open.places.iter().all(|place| is_library(place.text))
        {
            // What a macro of a library states is about the code that calls it.
            open.places.push(Place {
                text: text.trim_end(),
                label: "",
            });
        }
        if body.starts_with("= ") {
            open.lint = open.lint.or_else(|| lint(body));
            // Why a macro panicked is shown as help.
            if let Some(message) = body.strip_prefix("= help: ")
                && message.starts_with("message: ")
            {
                open.further.push(message.trim_end());
            }
        }
        if open.head.contains("linking with ") {
            open.linker(body);
            return true;
        }
        if let (true, Some(note)) = (self.aside == Aside::Told, open.notes.last_mut()) {
            note.shows(body);
        }
        if self.aside == Aside::None && body.starts_with('|') {
            let place = open.places.first_mut();
            if let Some(found) = place.filter(|found| found.label.is_empty()) {
                found.label = self.pointer.label(body);
            }
        }
        // Without a place it is cargo that speaks: what follows is shown of its own.
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

/// What a line below source states of it, with the symbols that point there: `^^^ not found in this scope`.
fn label_below_source(body: &str) -> Option<&str> {
    let below = body.strip_prefix('|')?;
    let label = below.get(below.find('^')?..)?;
    let says = label.trim_start_matches(['^', '-', '|', ' ']);
    (!says.is_empty()).then(|| label.trim_end())
}
