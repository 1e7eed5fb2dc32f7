//! What each agent sends and expects.

mod claude;
mod codex;
mod copilot;
mod editors;
mod gemini;
mod opencode;
mod pi;

use ethos_registry_reduce::ledger::Ledger;
use serde_json::Value;

use crate::output::{Output, Source};
use crate::rewrite::rewritten;
use crate::{Agent, Task};

/// What Claude Code shows of an output that it saved in a file, in characters.
const CLAUDE_PREVIEW_CHARS: usize = 2_244;
/// Arguments that request a part of a file.
const RANGES: [&str; 9] = [
    "offset",
    "limit",
    "pages",
    "view_range",
    "start_line",
    "end_line",
    "lineStart",
    "lineEnd",
    "line_range",
];

pub(crate) fn answer(agent: Agent, payload: &Value, task: &Task<'_>) -> Option<Value> {
    match agent {
        Agent::Claude => claude::answer(payload, task),
        Agent::Codex => codex::answer(payload, task),
        Agent::Copilot => copilot::answer(payload, task),
        Agent::Cursor => editors::cursor(payload, task),
        Agent::Gemini => gemini::answer(payload, task),
        Agent::OpenCode => opencode::answer(payload, task),
        Agent::Pi => pi::answer(payload, task),
        Agent::VsCode => editors::vscode(payload, task),
    }
}

/// All fields of the arguments, with the command run by this program.
fn rewritten_input(input: &Value, task: &Task<'_>) -> Option<Value> {
    let command = rewritten(task.settings.program, text(input, "command")?)?;
    let mut input = input.clone();
    *input.get_mut("command")? = command.into();
    Some(input)
}

/// Shortens the text blocks of a result; `None` if nothing changes, or one is not text.
fn shorten_blocks(
    content: &mut Value,
    most_host_chars: usize,
    ledger: Option<&Ledger>,
    task: &Task<'_>,
) -> Option<()> {
    let blocks = content.as_array_mut()?;
    let chars = |block: &Value| Some(text(block, "text")?.chars().count());
    let all_chars = blocks.iter().map(chars).sum::<Option<usize>>()?;
    let is_preview = all_chars > most_host_chars;
    let mut is_changed = false;
    for block in blocks {
        if text(block, "type") != Some("text") {
            return None;
        }
        let output = Output::whole(Source::Other, text(block, "text")?, None);
        let host_chars = output.host_chars.min(if is_preview {
            CLAUDE_PREVIEW_CHARS
        } else {
            usize::MAX
        });
        let output = Output {
            host_chars,
            ledger,
            ..output
        };
        if let Some(shown) = output.shortened(task) {
            *block.get_mut("text")? = shown.into();
            is_changed = true;
        }
    }
    is_changed.then_some(())
}

/// A file that was read whole; `None` for a part that was requested.
fn file_source<'a>(input: &Value) -> Option<Source<'a>> {
    let is_null = |name: &&str| input.get(*name).is_none_or(Value::is_null);
    RANGES.iter().all(is_null).then_some(Source::File)
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

fn is_true(value: &Value, name: &str) -> bool {
    value
        .get(name)
        .is_some_and(|value| value != &Value::Bool(false) && !value.is_null())
}
