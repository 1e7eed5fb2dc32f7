//! Reads what cargo and the Rust compiler print, diagnostic by diagnostic.

use hashbrown::HashMap;

use super::line::{head, is_advice, is_drawn, is_result, is_source, is_summary, lint, short, step};
use crate::reduce::line::shorten;
use crate::reduce::output::Output;
use crate::reduce::traceback::{Folder, is_library};
use crate::reduce::unknown::{Unknown, is_bar};

const HEAD_CHARS: usize = 300;
/// Longer labels say more than fits beside a place.
const LABEL_BYTES: usize = 72;
const LINE_CHARS: usize = 240;
/// Different heads that are told apart.
const KINDS: usize = 4_096;
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
    /// What the linker said, or notes.
    further: Vec<&'a str>,
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

/// A reader of the output of builds; what it does not know it keeps as the family of unknown lines does.
#[derive(Debug, Default)]
pub(in crate::reduce) struct Reader<'a> {
    open: Option<Diagnostic<'a>>,
    /// Whether help or a note of the open diagnostic is read: places in it are not its own.
    aside: bool,
    diagnostics: Vec<Diagnostic<'a>>,
    kinds: HashMap<&'a str, usize>,
    /// Counts and verdicts, in their order.
    closing: Vec<&'a str>,
    folder: Folder<'a>,
    pub(in crate::reduce) unknown: Unknown<'a>,
    failure: bool,
    /// Whether notes and their places are kept: the source is so long that they cost nothing.
    notes: bool,
    /// The last step of cargo; written where it ended in an error of the linker.
    step: Option<&'a str>,
}

impl<'a> Reader<'a> {
    /// Keeps notes and their places too.
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
        if let Some(head) = head(line) {
            self.begins(head, None);
        } else if body.len() < line.len() && step(body) {
            self.step = Some(body);
            if is_result(body) {
                self.closing.push(body.trim_end());
            }
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
        for diagnostic in &self.diagnostics {
            diagnostic.write(output);
        }
        self.unknown.write(output);
        for line in &self.closing {
            output.fact(&shorten(line, HEAD_CHARS));
        }
        *self = Self::default();
    }

    fn begins(&mut self, head: &'a str, place: Option<&'a str>) {
        self.failure |= head.starts_with("error");
        self.aside = false;
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
            self.aside = true;
            if self.notes && line.starts_with("note: ") && open.further.len() < FURTHER {
                open.further.push(line);
            }
            return !open.places.is_empty();
        }
        if let Some(text) = body.strip_prefix("--> ") {
            // A second place is left of a diagnostic whose head was cut away.
            if self.aside && self.notes && open.further.len() < FURTHER && !is_library(text) {
                open.further.push(body);
            } else if !self.aside {
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
        if !self.aside && body.starts_with('|') {
            let label = body.rsplit_once('^').map_or("", |(_, label)| label.trim());
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
        let Some(open) = self.open.take() else {
            return;
        };
        let known = self
            .kinds
            .get(open.head)
            .and_then(|at| self.diagnostics.get_mut(*at));
        match known {
            Some(same) if same.further.is_empty() && open.further.is_empty() => {
                same.lines += open.lines;
                same.lint = same.lint.or(open.lint);
                for place in open.places {
                    if !same
                        .places
                        .iter()
                        .rev()
                        .take(NEAR)
                        .any(|known| known.text == place.text)
                    {
                        same.places.push(place);
                    }
                }
            }
            _ => {
                if self.kinds.len() < KINDS {
                    self.kinds.insert(open.head, self.diagnostics.len());
                }
                self.diagnostics.push(open);
            }
        }
    }
}

impl<'a> Diagnostic<'a> {
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

    /// Whether a label says what the head does not.
    fn is_news(&self, label: &str) -> bool {
        let (_, tail) = label.split_once(' ').unwrap_or(("", label));
        let said = self.head.contains(label) || self.head.contains(tail);
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
        for place in self.places.iter().skip(usize::from(self.short)) {
            row.push(' ');
            row.push_str(place.text);
            if self.is_news(place.label) {
                row.push_str(" (");
                row.push_str(place.label);
                row.push(')');
            }
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
    }
}
