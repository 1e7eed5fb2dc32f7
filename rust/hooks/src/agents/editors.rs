//! Editors, which cannot replace the output of a command.

use serde_json::{Value, json};

use super::{is_true, rewritten_input, text};
use crate::Task;

/// Cursor cannot replace the output of a command; a rewritten one is asked for, never allowed.
pub(super) fn cursor(payload: &Value, task: &Task<'_>) -> Option<Value> {
    if text(payload, "tool_name")? != "Shell" {
        return None;
    }
    let input = rewritten_input(payload.get("tool_input")?, task)?;
    Some(json!({"permission": "ask", "updated_input": input}))
}

/// Visual Studio Code reads the format of Claude Code and cannot replace outputs.
pub(super) fn vscode(payload: &Value, task: &Task<'_>) -> Option<Value> {
    let event = text(payload, "hook_event_name")?;
    let tool = text(payload, "tool_name")?.to_ascii_lowercase();
    let is_shell = ["bash", "shell", "terminal"]
        .iter()
        .any(|name| tool.contains(name));
    let is_call = event == "PreToolUse" && is_shell;
    // Claude Code reads the same files, and its rules would not match a rewritten command.
    if !is_call || task.host.has_command_rules(text(payload, "cwd")?) {
        return None;
    }
    let input = payload.get("tool_input")?;
    if is_true(input, "isBackground") {
        return None;
    }
    let input = rewritten_input(input, task)?;
    Some(json!({"hookSpecificOutput": {"hookEventName": event, "updatedInput": input}}))
}
