//! One output of a tool, shortened.

use ethos_registry_core::command::{CommandLine, program};
use ethos_registry_core::redact::redact;
use ethos_registry_reduce::ledger::{Ledger, line_hash};
use ethos_registry_reduce::{Kind, Level, Policy, Request, reduce_named};

use crate::data::is_data;
use crate::rewrite::{is_ours, quoted};
use crate::{Archived, Saved, Sizes, Task};

/// A replacement must be shorter than the original by this many characters.
const LEAST_GAIN_CHARS: usize = 150;
/// A shorter target leaves no room for facts.
const LEAST_TARGET_CHARS: usize = 500;

/// The format of a file that is cut at its end: the file itself has the rest.
const FILE: &str = "file";

/// What a tool did.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// It ran this command line.
    Command(&'a str),
    /// It read a file without a range.
    File,
    /// It searched files.
    Search,
    /// Anything else.
    Other,
}

/// The output of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output<'a> {
    pub(crate) source: Source<'a>,
    /// All of it.
    pub(crate) text: &'a str,
    /// How many characters of it the agent would show.
    pub(crate) host_chars: usize,
    /// The exit code, if the agent reports it.
    pub(crate) exit_code: Option<i64>,
    /// The file in which the agent saved all of it.
    pub(crate) path: Option<&'a str>,
    /// What its reader was shown before.
    pub(crate) ledger: Option<&'a Ledger>,
}

/// An output for the model.
struct Reduced {
    text: String,
    /// The format that reduced it.
    format: &'static str,
    /// The id of the saved output; empty if it is not saved.
    handle: String,
}

impl<'a> Output<'a> {
    /// An output that the agent shows whole.
    pub(crate) fn whole(source: Source<'a>, text: &'a str, exit_code: Option<i64>) -> Self {
        Self {
            source,
            text,
            host_chars: text.chars().count(),
            exit_code,
            path: None,
            ledger: None,
        }
    }

    /// The output as the model is to see it; `None` if the original stays.
    pub(crate) fn shortened(&self, task: &Task<'_>) -> Option<String> {
        if let Source::Command(line) = self.source
            && is_ours(line)
        {
            return None;
        }
        let reduced = self.reduced_with_note(task);
        let format = reduced.as_ref().map_or("", |reduced| reduced.format);
        let reduced_chars = reduced.as_ref().map(|reduced| reduced.text.chars().count());
        let reduced_chars = reduced_chars.unwrap_or(self.host_chars);
        let folded = self.folded(reduced.as_ref(), task);
        let sent = folded.or(reduced);
        let shown = sent.as_ref().map_or(self.text, |sent| &sent.text);
        task.note(Sizes {
            program: self.program(),
            format,
            raw: self.text.chars().count(),
            host: self.host_chars,
            reduced: reduced_chars,
            sent: sent
                .as_ref()
                .map_or(self.host_chars, |sent| sent.text.chars().count()),
            handle: sent
                .as_ref()
                .map_or_else(String::new, |sent| sent.handle.clone()),
            hash: line_hash(0, shown.trim_end()),
        });
        sent.map(|sent| sent.text)
    }

    /// The shortened text, with a note where all of it is.
    fn reduced_with_note(&self, task: &Task<'_>) -> Option<Reduced> {
        // The note is added after the gain is known, as nothing may be saved without one.
        let note_chars = self.note("00000000", task).chars().count();
        let least_gain = LEAST_GAIN_CHARS + note_chars;
        let most_chars = self.host_chars.checked_sub(least_gain)?;
        let target_chars = most_chars.min(task.settings.target_chars);
        let is_short = self.text.chars().count() <= task.settings.target_chars;
        if is_short || target_chars < LEAST_TARGET_CHARS || is_data(self.text) {
            return None;
        }
        let (mut text, format) = self.reduced(target_chars)?;
        if text.chars().count() > most_chars {
            return None;
        }
        let mut handle = String::new();
        if let Some(format) = format
            && format != FILE
        {
            let id = match self.path {
                Some(_) => Archived::Id(String::new()),
                None => task.host.save(&self.saved()),
            };
            match id {
                Archived::Failed => return None,
                Archived::Unwanted => {}
                Archived::Id(id) => {
                    if !text.ends_with('\n') {
                        text.push('\n');
                    }
                    text.push_str(&self.note(&id, task));
                    handle = id;
                }
            }
        }
        let format = format.unwrap_or_default();
        Some(Reduced {
            text,
            format,
            handle,
        })
    }

    /// The text with references to what the reader was shown before, which can be read again as a whole.
    fn folded(&self, reduced: Option<&Reduced>, task: &Task<'_>) -> Option<Reduced> {
        let ledger = self.ledger?;
        let is_diff = matches!(self.source, Source::Command(line) if line.contains("diff"));
        if is_diff || self.path.is_some() || is_data(self.text) {
            return None;
        }
        let text = reduced.map_or(self.text, |reduced| &reduced.text);
        let program = quoted(task.settings.program);
        let fold = |id: &str| ledger.fold(text, &format!("{program} show {id}"));
        let (first, folds) = fold("00000000")?;
        // Lines after a reference would get other numbers.
        let is_numbered = matches!(self.source, Source::File);
        let last = first.lines().count().checked_sub(1)?;
        if is_numbered && !matches!(folds.as_slice(), [fold] if fold.at == last) {
            return None;
        }
        // A saved output has no credentials: what has some would not be there as a whole.
        if redact(self.text, None).ok()?.is_some() {
            return None;
        }
        let Archived::Id(handle) = task.host.save(&self.saved()) else {
            return None;
        };
        Some(Reduced {
            text: fold(&handle)?.0,
            format: reduced.map_or("", |reduced| reduced.format),
            handle,
        })
    }

    /// The program that printed it.
    pub(crate) fn program(&self) -> String {
        match self.source {
            Source::Command(line) => {
                let words = CommandLine::read(line).and_then(|line| line.producer());
                let name = words.as_deref().and_then(program).unwrap_or_default();
                name.to_owned()
            }
            _ => String::new(),
        }
    }

    /// The output as it is saved.
    fn saved(&self) -> Saved<'a> {
        Saved {
            program: self.program(),
            exit_code: self.exit_code,
            text: self.text,
        }
    }

    fn note(&self, id: &str, task: &Task<'_>) -> String {
        match self.path {
            Some(path) => format!("[all of it: {path}]\n"),
            None => format!(
                "[all of it: {} recall {id}]\n",
                quoted(task.settings.program)
            ),
        }
    }

    /// The reduced text, and the format that left something out.
    fn reduced(&self, target_chars: usize) -> Option<(String, Option<&'static str>)> {
        let (kind, command) = match self.source {
            Source::File => return Some((first_lines(self.text, target_chars)?, Some(FILE))),
            Source::Command(line) => (Kind::Terminal, Some(line)),
            Source::Search => (Kind::Terminal, Some("rg -n")),
            Source::Other => (Kind::Generic, None),
        };
        let request = Request {
            policy: Some(Policy {
                target_chars,
                level: Level::Facts,
            }),
            // The exit code is not part of the text, so that no first line can state one.
            ok: true,
            ..Request::of_output(command, self.exit_code)
        };
        reduce_named(kind, &request, self.text)
    }
}

/// The first lines of a file, so that the agent's line numbers stay right, and how many are missing.
fn first_lines(text: &str, target_chars: usize) -> Option<String> {
    const NOTE_CHARS: usize = 80;
    let room = target_chars.checked_sub(NOTE_CHARS)?;
    let (end, _) = text.char_indices().nth(room)?;
    let shown = text.get(..=text.get(..end)?.rfind('\n')?)?;
    let missing = text.get(shown.len()..)?.lines().count();
    Some(format!(
        "{shown}[{missing} more lines: read them with a range]\n"
    ))
}
