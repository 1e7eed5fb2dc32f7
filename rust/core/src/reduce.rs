//! Which family of output a text belongs to, and the guards that hold for every family.
//!
//! Whatever a family does: the text never grows, a text of unknown shape stays as it is or is cut
//! by lines, the same text gives the same text, and reducing twice is reducing once.

mod git_status;
mod head_tail;
mod kanban;
mod read_file;

use crate::command::{git_subcommand, last_command};
use crate::text::Source;

/// A first line that begins like this says how a command ended; it is not output of the command.
const EXIT_LINES: [&str; 2] = ["Command exited with code ", "Command was killed"];
/// How many characters of a text are looked at to find such a line.
const EXIT_LINE_WINDOW_CHARS: usize = 64;

/// Whose results are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A tool that runs command lines; the command decides the family.
    Terminal,
    /// A tool that reads files; a read that names no range is shortened.
    ReadFile,
    /// Any tool: the first and the last lines.
    HeadTail,
    /// A tool that lists tickets as JSON.
    KanbanList,
}

impl Kind {
    /// Every kind, in the order in which messages name them.
    pub const ALL: [Self; 4] = [
        Self::Terminal,
        Self::ReadFile,
        Self::HeadTail,
        Self::KanbanList,
    ];

    /// The name by which programs ask for this kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::ReadFile => "read_file",
            Self::HeadTail => "head_tail",
            Self::KanbanList => "kanban_list",
        }
    }

    /// Texts of at most this many characters stay as they are, whatever they hold.
    #[must_use]
    pub fn whole_chars(self) -> usize {
        match self {
            Self::Terminal => git_status::WHOLE_CHARS,
            Self::ReadFile => read_file::WHOLE_CHARS,
            Self::HeadTail => head_tail::WHOLE_CHARS,
            Self::KanbanList => kanban::WHOLE_CHARS,
        }
    }

    /// The kind of that exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a call says about the text that it gave.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The command line that was run, if one was.
    pub command: Option<&'a str>,
    /// Whether the call asked for a range of lines: what was asked for is honoured.
    pub ranged: bool,
    /// Whether the call succeeded.
    pub ok: bool,
}

/// What is done to one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    family: Family,
    exit_line: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Unchanged,
    HeadTail,
    ReadFile,
    GitStatus,
    Kanban,
}

/// A part of a reduced text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// What stands between two positions of the source.
    Source {
        /// Where it begins.
        start: usize,
        /// Where it ends.
        end: usize,
    },
    /// Text that does not stand in the source as it is.
    Text(String),
}

impl Plan {
    /// What is done to the result of a call that a tool of `kind` answered.
    #[must_use]
    pub fn new(kind: Kind, request: &Request<'_>) -> Self {
        let family = match kind {
            Kind::HeadTail => Family::HeadTail,
            Kind::ReadFile if request.ok && !request.ranged => Family::ReadFile,
            Kind::KanbanList if request.ok => Family::Kanban,
            Kind::ReadFile | Kind::KanbanList => Family::Unchanged,
            Kind::Terminal => request.command.map_or(Family::HeadTail, route),
        };
        Self {
            family,
            exit_line: kind == Kind::Terminal && !request.ok,
        }
    }

    /// Whether the family reads the text as a whole, so that a source that is not UTF-8 is better
    /// encoded once.
    #[must_use]
    pub fn reads_all(self) -> bool {
        matches!(self.family, Family::GitStatus | Family::Kanban)
    }

    /// The reduced text in pieces, or `None` when the text stays as it is.
    ///
    /// # Errors
    /// What the source reports.
    pub fn reduce<S: Source + ?Sized>(self, source: &S) -> Result<Option<Vec<Piece>>, S::Error> {
        let end = source.end();
        let start = if self.exit_line {
            output_start(source)?
        } else {
            0
        };
        let reduced = match self.family {
            Family::Unchanged => None,
            Family::HeadTail => head_tail::reduce(source, start, end)?,
            Family::ReadFile => read_file::reduce(source)?,
            Family::GitStatus => git_status::reduce(source, start)?,
            Family::Kanban => kanban::reduce(source)?,
        };
        let Some(mut pieces) = reduced else {
            return Ok(None);
        };
        if start > 0 {
            pieces.insert(
                0,
                Piece::Source {
                    start: 0,
                    end: start,
                },
            );
        }
        let shorter = characters(source, &pieces)? < source.characters(0, end)?;
        Ok(shorter.then_some(pieces))
    }
}

/// The family of output that a command line gives.
fn route(command_line: &str) -> Family {
    let Some(words) = last_command(command_line) else {
        return Family::HeadTail;
    };
    match git_subcommand(&words) {
        Some("status") => Family::GitStatus,
        _ => Family::HeadTail,
    }
}

/// Where the output begins after the line that says how the command ended, if there is one.
fn output_start<S: Source + ?Sized>(source: &S) -> Result<usize, S::Error> {
    let (_, window) = source.window(0, source.end().min(EXIT_LINE_WINDOW_CHARS))?;
    if !EXIT_LINES
        .iter()
        .any(|beginning| window.starts_with(beginning))
    {
        return Ok(0);
    }
    let newline = source.first_newline(0, source.end())?;
    Ok(newline.map_or(source.end(), |newline| newline.saturating_add(1)))
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

/// The text of `pieces` of `text`; `None` when there is no memory for it.
#[must_use]
pub fn join(text: &str, pieces: &[Piece]) -> Option<String> {
    let parts = || {
        pieces.iter().filter_map(|piece| match piece {
            Piece::Source { start, end } => text.get(*start..*end),
            Piece::Text(text) => Some(text.as_str()),
        })
    };
    let mut joined = String::new();
    joined.try_reserve_exact(parts().map(str::len).sum()).ok()?;
    joined.extend(parts());
    Some(joined)
}

/// `text` reduced by `plan`, or `None` when it stays as it is.
#[must_use]
pub fn reduce(plan: Plan, text: &str) -> Option<String> {
    let Ok(pieces) = plan.reduce(text);
    join(text, &pieces?)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    fn family(command: &str) -> Family {
        let request = Request {
            command: Some(command),
            ranged: false,
            ok: true,
        };
        Plan::new(Kind::Terminal, &request).family
    }

    #[test]
    fn only_a_command_that_is_git_status_is_git_status() {
        assert_eq!(
            family("cd x && git -C y --no-pager status -sb"),
            Family::GitStatus
        );
        for other in [
            "git status | head",
            "echo 'git status'",
            "cat git status",
            "git stash",
            "",
        ] {
            assert_eq!(family(other), Family::HeadTail, "{other}");
        }
    }

    #[test]
    fn a_range_that_was_asked_for_is_honoured() {
        let ranged = Request {
            command: None,
            ranged: true,
            ok: true,
        };
        assert_eq!(Plan::new(Kind::ReadFile, &ranged).family, Family::Unchanged);
    }

    #[test]
    fn the_line_that_says_how_a_command_ended_stays_first() {
        let output = format!(
            "Command exited with code -9.\n{}",
            "x".repeat(150).repeat(2) + "\n"
        );
        let text = output.clone() + &"a line of output\n".repeat(1_000);
        let plan = |ok| {
            Plan::new(
                Kind::Terminal,
                &Request {
                    command: None,
                    ranged: false,
                    ok,
                },
            )
        };
        let reduced = reduce(plan(false), &text).unwrap();
        assert!(reduced.starts_with("Command exited with code -9.\n"));
        assert!(reduced.contains("[reduced from 1001 lines / 17301 chars to head+tail]"));
        assert!(
            reduce(plan(true), &text)
                .unwrap()
                .contains("[reduced from 1002 lines")
        );
        assert_eq!(reduce(plan(false), &reduced), None);
    }
}
