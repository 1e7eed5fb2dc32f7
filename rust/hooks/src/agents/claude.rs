//! Claude Code.

use ethos_registry_reduce::ledger::{Ledger, line_hash};
use serde_json::{Value, json};

use super::{CLAUDE_PREVIEW_CHARS, file_source, is_true, rewritten_input, shorten_blocks, text};
use crate::output::{Output, Source};
use crate::rewrite::is_ours;
use crate::{Agent, Delivered, Session, Task};

/// Claude Code shows longer results of MCP tools as a preview.
const MCP_CHARS: usize = 50_000;
/// How much of an output must be found in the file.
const SAME_CHARS: usize = 40;

/// Events after which the model may have lost its context.
const ENDS: [&str; 3] = ["PreCompact", "PostCompact", "SessionStart"];

pub(super) fn answer(payload: &Value, task: &Task<'_>) -> Option<Value> {
    let event = text(payload, "hook_event_name")?;
    let session = session(payload);
    if ENDS.contains(&event) {
        task.host.forget(&session?);
        return None;
    }
    if event == "PostToolBatch" {
        return after_batch(payload, &session?, task);
    }
    let (tool, input) = (text(payload, "tool_name")?, payload.get("tool_input")?);
    if event == "PreToolUse" {
        let is_plain = tool == "Bash" && !is_true(input, "run_in_background");
        if !is_plain || task.host.has_command_rules(text(payload, "cwd")?) {
            return None;
        }
        let input = rewritten_input(input, task)?;
        return Some(
            json!({"hookSpecificOutput": {"hookEventName": event, "updatedInput": input}}),
        );
    }
    if event != "PostToolUse" {
        return None;
    }
    let ledger = session.and_then(|session| task.host.ledger(&session));
    let ledger = ledger.as_ref();
    let mut response = payload.get("tool_response")?.clone();
    match tool {
        "Bash" => claude_command(&mut response, text(input, "command")?, ledger, task)?,
        "Read" => {
            let file = response.get_mut("file")?;
            let content = text(file, "content")?;
            let output = Output {
                ledger,
                ..Output::whole(file_source(input)?, content, None)
            };
            let shown = output.shortened(task)?;
            *file.get_mut("content")? = shown.into();
        }
        "Grep" => {
            let output = Output {
                ledger,
                ..Output::whole(Source::Search, text(&response, "content")?, None)
            };
            let shown = output.shortened(task)?;
            *response.get_mut("content")? = shown.into();
        }
        _ if tool.starts_with("mcp__") => {
            shorten_blocks(&mut response, MCP_CHARS, ledger, task)?;
        }
        _ => return None,
    }
    Some(json!({"hookSpecificOutput": {"hookEventName": event, "updatedToolOutput": response}}))
}

/// The session of the main agent. A subagent has another context, of whose end nothing is reported.
fn session(payload: &Value) -> Option<Session<'_>> {
    let is_main = payload.get("agent_id").is_none_or(Value::is_null);
    is_main.then_some(Session {
        agent: Agent::Claude.name(),
        id: text(payload, "session_id")?,
        prompt: text(payload, "prompt_id").unwrap_or_default(),
        transcript: text(payload, "transcript_path")?,
    })
}

/// Records what the model gets of the calls that ran together.
fn after_batch(payload: &Value, session: &Session<'_>, task: &Task<'_>) -> Option<Value> {
    let mut delivered = Vec::new();
    let mut is_recall = false;
    for call in payload.get("tool_calls")?.as_array()? {
        let Some(tool) = text(call, "tool_name") else {
            continue;
        };
        let argument = |name| text(call.get("tool_input")?, name);
        let command = argument("command").filter(|_| tool == "Bash");
        is_recall = is_recall || command.is_some_and(is_ours);
        let path = argument("file_path").and_then(|path| path.rsplit(['/', '\\']).next());
        let label = command.map_or_else(
            || path.unwrap_or(tool).to_owned(),
            |line| Output::whole(Source::Command(line), "", None).program(),
        );
        for (part, shown) in texts(call).into_iter().enumerate() {
            let shown = match tool {
                "Read" => without_numbers(shown).unwrap_or_else(|| shown.to_owned()),
                _ => shown.to_owned(),
            };
            task.host.measure(&json!({
                "agent": session.agent,
                "session": session.id,
                "delivered": text(call, "tool_use_id"),
                "part": part,
                "tool": tool,
                "program": label,
                "chars": shown.chars().count(),
                "hash": format!("{:x}", line_hash(0, shown.trim_end())),
            }));
            delivered.push(Delivered {
                label: label.split_whitespace().collect::<Vec<_>>().join(" "),
                text: shown,
            });
        }
    }
    // Who asks for an output again missed something: everything is shown again.
    if is_recall {
        task.host.forget(session);
    } else if !session.prompt.is_empty() {
        task.host.record(session, &delivered);
    }
    None
}

/// The text of a result, or of each block of a result of an MCP tool; none if a block is not text.
fn texts(call: &Value) -> Vec<&str> {
    match call.get("tool_response") {
        Some(Value::String(shown)) => vec![shown],
        Some(Value::Array(blocks)) => {
            let blocks = blocks.iter().map(|block| text(block, "text"));
            blocks.collect::<Option<_>>().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The lines of a file, each shown by Claude Code with its number.
fn without_numbers(shown: &str) -> Option<String> {
    let content = shown.split('\n').map(|line| {
        let content = line
            .trim_start()
            .trim_start_matches(|digit: char| digit.is_ascii_digit());
        content.strip_prefix(['\t', '→'])
    });
    Some(content.collect::<Option<Vec<_>>>()?.join("\n"))
}

/// Claude Code reports only commands that succeeded, with both outputs merged.
fn claude_command(
    response: &mut Value,
    line: &str,
    ledger: Option<&Ledger>,
    task: &Task<'_>,
) -> Option<()> {
    let is_final = response.get("backgroundTaskId").is_none()
        && !is_true(response, "interrupted")
        && !is_true(response, "isImage");
    let stdout = text(response, "stdout").filter(|_| is_final)?;
    let is_zero = response
        .get("returnCodeInterpretation")
        .is_none_or(Value::is_null);
    let exit_code = is_zero.then_some(0);
    let path = text(response, "persistedOutputPath");
    let shown = if let Some(path) = path {
        let whole = task.host.read(path)?;
        let beginning: String = stdout.chars().take(SAME_CHARS).collect();
        if beginning.is_empty() || !whole.starts_with(&beginning) {
            return None;
        }
        let output = Output {
            host_chars: CLAUDE_PREVIEW_CHARS,
            path: Some(path),
            ..Output::whole(Source::Command(line), &whole, exit_code)
        };
        output.shortened(task)?
    } else {
        let output = Output::whole(Source::Command(line), stdout, exit_code);
        Output { ledger, ..output }.shortened(task)?
    };
    let fields = response.as_object_mut()?;
    fields.insert("stdout".to_owned(), shown.into());
    // With them the text would be shown as a preview of the file.
    fields.remove("persistedOutputPath");
    fields.remove("persistedOutputSize");
    Some(())
}
