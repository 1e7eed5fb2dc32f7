//! Claude Code.

use serde_json::{Value, json};

use super::{CLAUDE_PREVIEW_CHARS, file_source, is_true, rewritten_input, shorten_blocks, text};
use crate::output::{Output, Source};
use crate::{Host, Settings};

/// Claude Code shows longer results of MCP tools as a preview.
const MCP_CHARS: usize = 50_000;
/// How much of an output must be found in the file.
const SAME_CHARS: usize = 40;

pub(super) fn answer(payload: &Value, settings: Settings<'_>, host: &dyn Host) -> Option<Value> {
    let (tool, input) = (text(payload, "tool_name")?, payload.get("tool_input")?);
    let event = text(payload, "hook_event_name")?;
    if event == "PreToolUse" {
        let is_plain = tool == "Bash" && !is_true(input, "run_in_background");
        if !is_plain || host.has_command_rules(text(payload, "cwd")?) {
            return None;
        }
        let input = rewritten_input(input, settings)?;
        return Some(
            json!({"hookSpecificOutput": {"hookEventName": event, "updatedInput": input}}),
        );
    }
    if event != "PostToolUse" {
        return None;
    }
    let mut response = payload.get("tool_response")?.clone();
    match tool {
        "Bash" => claude_command(&mut response, text(input, "command")?, settings, host)?,
        "Read" => {
            let file = response.get_mut("file")?;
            let content = text(file, "content")?;
            let output = Output::whole(file_source(input)?, content, None);
            let shown = output.shortened(settings, host)?;
            *file.get_mut("content")? = shown.into();
        }
        "Grep" => {
            let output = Output::whole(Source::Search, text(&response, "content")?, None);
            let shown = output.shortened(settings, host)?;
            *response.get_mut("content")? = shown.into();
        }
        _ if tool.starts_with("mcp__") => {
            shorten_blocks(&mut response, MCP_CHARS, settings, host)?;
        }
        _ => return None,
    }
    Some(json!({"hookSpecificOutput": {"hookEventName": event, "updatedToolOutput": response}}))
}

/// Claude Code reports only commands that succeeded, with both outputs merged.
fn claude_command(
    response: &mut Value,
    line: &str,
    settings: Settings<'_>,
    host: &dyn Host,
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
        let whole = host.read(path)?;
        let beginning: String = stdout.chars().take(SAME_CHARS).collect();
        if beginning.is_empty() || !whole.starts_with(&beginning) {
            return None;
        }
        let output = Output {
            host_chars: CLAUDE_PREVIEW_CHARS,
            path: Some(path),
            ..Output::whole(Source::Command(line), &whole, exit_code)
        };
        output.shortened(settings, host)?
    } else {
        Output::whole(Source::Command(line), stdout, exit_code).shortened(settings, host)?
    };
    let fields = response.as_object_mut()?;
    fields.insert("stdout".to_owned(), shown.into());
    // With them the text would be shown as a preview of the file.
    fields.remove("persistedOutputPath");
    fields.remove("persistedOutputSize");
    Some(())
}
