//! Answers the hooks of coding agents: the result of a tool in, a shortened one out.
//!
//! An agent starts the hook with a JSON payload for each tool call. [`answer`] decides; in every doubt it has no answer, and
//! the agent continues with the original. The same payload, settings and files give the same bytes. Files are only reached
//! through [`Host`]; [`Machine`] is the one that reads and writes them.

mod agents;
mod archive;
mod data;
mod files;
mod machine;
mod output;
mod rewrite;
mod session;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ethos_registry_reduce::ledger::Ledger;
use serde_json::{Value, json};

pub use archive::{Archive, ArchiveError, SavedOutput, is_id};
pub use data::is_data;
pub use machine::{Machine, measured, note_recall};

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
    /// Whether to measure only: every answer is then recorded and not given.
    pub is_shadow: bool,
}

/// The files that an answer needs.
pub trait Host {
    /// The text of a file in which the agent saved an output.
    fn read(&self, path: &str) -> Option<String>;

    /// Saves an output for `recall`; its id.
    fn save(&self, output: &Saved<'_>) -> Archived;

    /// Whether a settings file of Claude Code for `folder` may deny commands, or ask for approval.
    fn has_command_rules(&self, folder: &str) -> bool;

    /// What the model of a session was shown and has in its context; `None` where that is not known.
    fn ledger(&self, session: &Session<'_>) -> Option<Ledger>;

    /// Records results as they reached the model.
    fn record(&self, session: &Session<'_>, delivered: &[Delivered]);

    /// Records that the model may have lost its context.
    fn forget(&self, session: &Session<'_>);

    /// Records what was measured, for `gain`.
    fn measure(&self, row: &Value);
}

/// A session of an agent, and the prompt of its user that is being answered.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    /// The agent's name.
    pub agent: &'static str,
    /// The agent's id of the session.
    pub id: &'a str,
    /// The agent's id of the prompt.
    pub prompt: &'a str,
    /// The path of the agent's transcript.
    pub transcript: &'a str,
}

/// A result of a tool as it reached the model.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// What printed it, as references name it.
    pub label: String,
    /// All of it.
    pub text: String,
}

/// How long an output was, in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) program: String,
    pub(crate) format: &'static str,
    pub(crate) raw: usize,
    pub(crate) host: usize,
    /// After the reducers, before the ledger.
    pub(crate) reduced: usize,
    pub(crate) sent: usize,
    pub(crate) handle: String,
    /// Identifies the text that was sent.
    pub(crate) hash: u64,
}

/// What one answer needs.
pub(crate) struct Task<'a> {
    pub(crate) settings: Settings<'a>,
    pub(crate) host: &'a dyn Host,
    sizes: RefCell<Vec<Sizes>>,
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
    let task = Task {
        settings,
        host,
        sizes: RefCell::new(Vec::new()),
    };
    // Nothing that is changed here is used after a panic.
    let answer = catch_unwind(AssertUnwindSafe(|| {
        let payload = serde_json::from_slice(payload).ok()?;
        let answer = agents::answer(agent, &payload, &task);
        task.measure(agent, &payload, answer.is_some());
        answer
    }));
    answer
        .ok()?
        .filter(|_| !settings.is_shadow)
        .map(|answer| answer.to_string())
}

impl Task<'_> {
    fn note(&self, sizes: Sizes) {
        self.sizes.borrow_mut().push(sizes);
    }

    /// Records the sizes of the outputs of one call.
    fn measure(&self, agent: Agent, payload: &Value, is_answered: bool) {
        let first = |names: &[&str]| {
            let found = names
                .iter()
                .find_map(|name| payload.pointer(name)?.as_str());
            found.unwrap_or_default().to_owned()
        };
        for (part, sizes) in self.sizes.borrow().iter().enumerate() {
            self.host.measure(&json!({
                "agent": agent.name(),
                "session": first(&["/session_id", "/sessionId", "/input/sessionID"]),
                "tool": first(&["/tool_name", "/toolName", "/input/tool"]),
                "call": first(&["/tool_use_id", "/toolCallId", "/input/callID"]),
                "part": part,
                "program": sizes.program,
                "format": sizes.format,
                "raw_chars": sizes.raw,
                "host_chars": sizes.host,
                "reduced_chars": if is_answered { sizes.reduced } else { sizes.host },
                "sent_chars": if is_answered { sizes.sent } else { sizes.host },
                "handle": sizes.handle,
                "hash": format!("{:x}", sizes.hash),
                "shadow": self.settings.is_shadow,
            }));
        }
    }
}
