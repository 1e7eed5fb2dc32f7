//! Shortens the outputs of tools to what an agent needs.
//!
//! An output is read once into spans. Formats, which are data, give each line a kind; grammars group lines; one ranker and
//! one budget choose them; the result is written from spans in order. So the text never grows, nothing is reworded,
//! reordered or shown twice, each line is shown or counted, and the same text gives the same result.

mod binary;
mod candidate;
mod cells;
mod classify;
mod fit;
mod folds;
mod format;
mod gap;
mod grammar;
mod kinds;
pub mod ledger;
mod lexicon;
mod location;
mod lossless;
mod piece;
mod policy;
mod rank;
mod read;
mod render;
mod row;
mod sample;
mod segment;
mod source;
mod template;
mod terminal;
mod values;
mod words;

use ethos_registry_core::text::Source;
pub use format::{
    Format, FormatError, REGISTERED, built_in_formats, register, registered, unregister,
};
pub use piece::{Piece, join};
pub use policy::{Level, Policy};

/// A first line with one of these prefixes reports an exit code; it is not output of the command.
const EXIT_LINES: [&str; 2] = ["Command exited with code ", "Command was killed"];

/// Terminal output is not reduced up to this length.
const WHOLE_CHARS: usize = 1_023;

/// The kind of tool whose results are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A tool that runs command lines; the command and the content decide the formats.
    Terminal,
    /// A tool that reads files; a read without a range is shortened.
    ReadFile,
    /// Any tool: the first and the last lines are kept.
    HeadTail,
    /// Any tool: repeats are folded, unusual lines and problems are kept.
    Generic,
    /// A tool that lists tickets as JSON.
    KanbanList,
}

impl Kind {
    /// Every kind, in the order in which messages list them.
    pub const ALL: [Self; 5] = [
        Self::Terminal,
        Self::ReadFile,
        Self::HeadTail,
        Self::Generic,
        Self::KanbanList,
    ];

    /// The public name of this kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::ReadFile => "read_file",
            Self::HeadTail => "head_tail",
            Self::Generic => "generic",
            Self::KanbanList => "kanban_list",
        }
    }

    /// Text of at most this many characters is not reduced.
    #[must_use]
    pub fn whole_chars(self) -> usize {
        match self {
            Self::Terminal | Self::Generic => WHOLE_CHARS,
            Self::ReadFile => crate::kinds::read_file::WHOLE_CHARS,
            Self::HeadTail => crate::kinds::head_tail::WHOLE_CHARS,
            Self::KanbanList => crate::kinds::kanban::WHOLE_CHARS,
        }
    }

    /// The kind with exactly this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What is known about the call that returned text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The command line, if one was run.
    pub command: Option<&'a str>,
    /// Whether the call requested a range of lines, which is then kept.
    pub ranged: bool,
    /// Whether the call succeeded.
    pub ok: bool,
    /// The exit code of the command, if the tool reports it.
    pub exit_code: Option<i64>,
    /// The most characters of the reduced text that will be sent.
    pub budget_chars: usize,
    /// How much is kept; without a policy, outputs are reduced by the rules of their strategy.
    pub policy: Option<Policy>,
}

impl<'a> Request<'a> {
    /// What is known of command output without a call: no budget and no policy.
    #[must_use]
    pub fn of_output(command: Option<&'a str>, exit_code: Option<i64>) -> Self {
        Self {
            command,
            ranged: false,
            ok: exit_code == Some(0),
            exit_code,
            budget_chars: usize::MAX,
            policy: None,
        }
    }

    /// The target length of the policy.
    fn target_chars(&self) -> Option<usize> {
        let policy = self.policy?;
        Some(policy.target_chars.min(self.budget_chars))
    }

    /// The target length unless only verdicts are kept.
    fn facts_chars(&self) -> Option<usize> {
        let is_facts = self.policy?.level == Level::Facts;
        self.target_chars().filter(|_| is_facts)
    }

    /// Whether the policy keeps all of `source`.
    fn keeps_all<S: Source + ?Sized>(&self, source: &S) -> Result<bool, S::Error> {
        let Some((policy, target_chars)) = self.policy.zip(self.target_chars()) else {
            return Ok(false);
        };
        if policy.level == Level::Lossless {
            return Ok(true);
        }
        let fits =
            policy.level == Level::Facts && source.characters(0, source.end())? <= target_chars;
        Ok(fits)
    }
}

/// Whether a kind reads the text as a whole, so that it is better to encode a source that is not UTF-8 once.
#[must_use]
pub fn reads_all(kind: Kind) -> bool {
    matches!(kind, Kind::Terminal | Kind::Generic | Kind::KanbanList)
}

/// The pieces of the reduced `source`, the result of a tool of `kind`; `None` when it is not shortened.
///
/// Kinds that read the text as a whole need [`reduce`].
///
/// # Errors
/// Errors of the source.
pub fn pieces<S: Source + ?Sized>(
    kind: Kind,
    request: &Request<'_>,
    source: &S,
) -> Result<Option<Vec<Piece>>, S::Error> {
    let end = source.end();
    let reduced = match kind {
        _ if request.keeps_all(source)? => None,
        Kind::HeadTail => match request.facts_chars() {
            Some(target_chars) => crate::kinds::head_tail::reduce_within(source, target_chars)?,
            None => crate::kinds::head_tail::reduce(source, 0, end)?,
        },
        Kind::ReadFile if request.ok && !request.ranged => match request.facts_chars() {
            Some(target_chars) => crate::kinds::read_file::reduce_within(source, target_chars)?,
            None => crate::kinds::read_file::reduce(source)?,
        },
        Kind::KanbanList if request.ok => crate::kinds::kanban::reduce(source)?,
        Kind::ReadFile | Kind::KanbanList | Kind::Terminal | Kind::Generic => None,
    };
    let Some(pieces) = reduced else {
        return Ok(None);
    };
    let shorter = characters(source, &pieces)? < source.characters(0, end)?;
    Ok(shorter.then_some(pieces))
}

/// The reduced `text`, the result of a tool of `kind`; `None` when it is not shortened.
#[must_use]
pub fn reduce(kind: Kind, request: &Request<'_>, text: &str) -> Option<String> {
    reduce_named(kind, request, text).map(|(reduced, _)| reduced)
}

/// Like [`reduce`], with the name of the first format that was found. Text that was only cleaned has none.
#[must_use]
pub fn reduce_named(
    kind: Kind,
    request: &Request<'_>,
    text: &str,
) -> Option<(String, Option<&'static str>)> {
    if is_whole(kind, text) {
        return None;
    }
    let command = match kind {
        Kind::Terminal => request.command,
        Kind::Generic => None,
        Kind::HeadTail | Kind::ReadFile | Kind::KanbanList => {
            let Ok(pieces) = pieces(kind, request, text);
            return Some((join(text, &pieces?)?, None));
        }
    };
    let (exit_line, output) = if request.ok {
        ("", text)
    } else {
        text.split_at_checked(output_start(text))?
    };
    let target_chars = request.target_chars().unwrap_or(request.budget_chars);
    let target_chars = target_chars.saturating_sub(exit_line.len());
    let (mut reduced, format) = terminal::reduce(output, command, target_chars, request.policy)?;
    if !exit_line.is_empty() {
        reduced.try_reserve_exact(exit_line.len()).ok()?;
        reduced.insert_str(0, exit_line);
    }
    Some((reduced, format))
}

/// The names of all formats, and the one of outputs without a known format.
pub fn format_names() -> impl Iterator<Item = &'static str> {
    built_in_formats()
        .map(|(name, _)| name)
        .chain([terminal::GENERIC])
}

/// The name of the first registered format that is found in `text`, the terminal output of `command`.
#[must_use]
pub fn registered_name(text: &str, command: Option<&str>) -> Option<String> {
    terminal::registered_name(text, command)
}

/// Whether `text` is too short to be reduced.
fn is_whole(kind: Kind, text: &str) -> bool {
    // A character has at most four bytes, so most text needs no counting.
    let whole_chars = kind.whole_chars();
    text.len() <= whole_chars
        || (text.len() <= whole_chars.saturating_mul(4) && text.chars().count() <= whole_chars)
}

/// The offset of the output after a line that reports the exit code, if there is one.
fn output_start(text: &str) -> usize {
    if !EXIT_LINES
        .iter()
        .any(|beginning| text.starts_with(beginning))
    {
        return 0;
    }
    memchr::memchr(b'\n', text.as_bytes()).map_or(text.len(), |newline| newline + 1)
}

fn characters<S: Source + ?Sized>(source: &S, pieces: &[Piece]) -> Result<usize, S::Error> {
    pieces.iter().try_fold(0_usize, |sum, piece| {
        let characters = match piece {
            Piece::Source { start, end } => source.characters(*start, *end)?,
            Piece::Text(text) => text.chars().count(),
        };
        Ok(sum.saturating_add(characters))
    })
}
