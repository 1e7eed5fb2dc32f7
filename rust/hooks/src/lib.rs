//! Answers the hooks of coding agents: the result of a tool in, a shortened one out.
//!
//! An agent starts the hook with a JSON payload for each tool call. [`answer`] decides; in every doubt it has no answer, and
//! the agent continues with the original. The same payload, settings and files give the same bytes. Files are only reached
//! through [`Host`]; [`Machine`] is the one that reads and writes them.

mod agents;
mod archive;
mod data;
mod machine;
mod output;
mod rewrite;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use data::is_data;
pub use machine::Machine;

/// Larger payloads have no answer.
pub const MAX_PAYLOAD_BYTES: usize = 64 * 1024 * 1024;
/// The default of [`Settings::target_chars`].
pub const TARGET_CHARS: usize = 16_000;

/// A coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// `OpenCode`.
    OpenCode,
    /// Pi.
    Pi,
    /// Visual Studio Code.
    VsCode,
}

impl Agent {
    /// Every agent, by name.
    pub const ALL: [Self; 8] = [
        Self::Claude,
        Self::Codex,
        Self::Copilot,
        Self::Cursor,
        Self::Gemini,
        Self::OpenCode,
        Self::Pi,
        Self::VsCode,
    ];

    /// The word after `ethos-registry hook`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
            Self::VsCode => "vscode",
        }
    }

    /// The agent with exactly this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }
}

/// What the user chose.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The path of `ethos-registry`, for the commands in answers.
    pub program: &'a str,
    /// Outputs of at most this many characters stay as they are.
    pub target_chars: usize,
}

/// The files that an answer needs.
pub trait Host {
    /// The text of a file in which the agent saved an output.
    fn read(&self, path: &str) -> Option<String>;

    /// Saves an output for `recall`; its id.
    fn save(&self, output: &Saved<'_>) -> Archived;

    /// Whether a settings file of Claude Code for `folder` may deny commands, or ask for approval.
    fn has_command_rules(&self, folder: &str) -> bool;
}

/// An output to save.
#[derive(Clone, Debug)]
pub struct Saved<'a> {
    /// The program that printed it; arguments may hold secrets and are not saved.
    pub program: String,
    /// The exit code, if it is known.
    pub exit_code: Option<i64>,
    /// All of it.
    pub text: &'a str,
}

/// What became of an output to save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Archived {
    /// Saved under an id.
    Id(String),
    /// The user wants no outputs to be saved.
    Unwanted,
    /// It could not be saved.
    Failed,
}

/// What the hook prints for `payload`, one line of JSON; `None` to print nothing, and the original stays.
#[must_use]
pub fn answer(
    agent: Agent,
    payload: &[u8],
    settings: Settings<'_>,
    host: &dyn Host,
) -> Option<String> {
    if payload.len() > MAX_PAYLOAD_BYTES {
        return None;
    }
    // Nothing that is changed here is used after a panic.
    let answer = catch_unwind(AssertUnwindSafe(|| {
        let payload = serde_json::from_slice(payload).ok()?;
        agents::answer(agent, &payload, settings, host)
    }));
    answer.ok()?.map(|answer| answer.to_string())
}
