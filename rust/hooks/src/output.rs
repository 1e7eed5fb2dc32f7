//! One output of a tool, shortened.

use ethos_registry_core::command::{CommandLine, program};
use ethos_registry_reduce::{Kind, Level, Policy, Request, reduce_named};

use crate::data::is_data;
use crate::rewrite::{is_ours, quoted};
use crate::{Archived, Host, Saved, Settings};

/// A replacement must be shorter than the original by this many characters.
const LEAST_GAIN_CHARS: usize = 150;
/// A shorter target leaves no room for facts.
const LEAST_TARGET_CHARS: usize = 500;

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
        }
    }

    /// The shortened text, with a note where all of it is; `None` if the original stays.
    pub(crate) fn shortened(&self, settings: Settings<'_>, host: &dyn Host) -> Option<String> {
        if let Source::Command(line) = self.source
            && is_ours(line)
        {
            return None;
        }
        // The note is added after the gain is known, as nothing may be saved without one.
        let note_chars = self.note("00000000", settings).chars().count();
        let least_gain = LEAST_GAIN_CHARS + note_chars;
        let most_chars = self.host_chars.checked_sub(least_gain)?;
        let target_chars = most_chars.min(settings.target_chars);
        if target_chars < LEAST_TARGET_CHARS || is_data(self.text) {
            return None;
        }
        let (mut reduced, is_lossless) = self.reduced(target_chars)?;
        if reduced.chars().count() > most_chars {
            return None;
        }
        if is_lossless || matches!(self.source, Source::File) {
            return Some(reduced);
        }
        let id = match self.path {
            Some(_) => Archived::Id(String::new()),
            None => host.save(&self.saved()),
        };
        match id {
            Archived::Failed => return None,
            Archived::Unwanted => {}
            Archived::Id(id) => {
                if !reduced.ends_with('\n') {
                    reduced.push('\n');
                }
                reduced.push_str(&self.note(&id, settings));
            }
        }
        Some(reduced)
    }

    /// The output as it is saved.
    fn saved(&self) -> Saved<'a> {
        let Source::Command(line) = self.source else {
            return self.saved_as("");
        };
        let words = CommandLine::read(line).and_then(|line| line.producer());
        let name = words.as_deref().and_then(program).unwrap_or_default();
        self.saved_as(name)
    }

    fn saved_as(&self, program: &str) -> Saved<'a> {
        Saved {
            program: program.to_owned(),
            exit_code: self.exit_code,
            text: self.text,
        }
    }

    fn note(&self, id: &str, settings: Settings<'_>) -> String {
        match self.path {
            Some(path) => format!("[all of it: {path}]\n"),
            None => format!("[all of it: {} recall {id}]\n", quoted(settings.program)),
        }
    }

    /// The reduced text, and whether nothing is left out.
    fn reduced(&self, target_chars: usize) -> Option<(String, bool)> {
        let (kind, command) = match self.source {
            Source::File => return Some((first_lines(self.text, target_chars)?, false)),
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
        let (reduced, format) = reduce_named(kind, &request, self.text)?;
        Some((reduced, format.is_none()))
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
