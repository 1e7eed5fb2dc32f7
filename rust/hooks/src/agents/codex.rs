//! Codex CLI.

use std::collections::HashSet;

use ethos_registry_reduce::ledger::states_failure;
use serde_json::{Value, json};

use super::{is_true, shorten_blocks, text};
use crate::Task;
use crate::output::{Output, Source};
use crate::rewrite::rewritten;

/// How Codex begins an output that it has cut.
const CUT: &str = "Warning: truncated output";
/// Codex does not report the exit code to hooks, and does not show it beside a replaced output.
const STATUS: &str = "[exit code not known here]\n";
pub(super) fn answer(payload: &Value, task: &Task<'_>) -> Option<Value> {
    let (tool, input) = (text(payload, "tool_name")?, payload.get("tool_input")?);
    // In code mode a program of the model reads the result, and fails if it is replaced.
    let is_code_mode = text(payload, "tool_use_id")?.starts_with("exec-");
    match text(payload, "hook_event_name")? {
        // Rewriting needs an approval, which is only given where nothing is asked for anyway.
        event @ "PreToolUse"
            if tool == "Bash"
                && is_code_mode
                && text(payload, "permission_mode") == Some("bypassPermissions") =>
        {
            let command = rewritten(task.settings.program, text(input, "command")?)?;
            Some(json!({"hookSpecificOutput": {
                "hookEventName": event,
                "permissionDecision": "allow",
                "updatedInput": {"command": command},
            }}))
        }
        "PostToolUse" if !is_code_mode => {
            let reason = if tool == "Bash" {
                let output = text(payload, "tool_response")?;
                if output.starts_with(CUT) {
                    return None;
                }
                let source = Source::Command(text(input, "command")?);
                let shown = Output::whole(source, output, None).shortened(task)?;
                if !has_every_failure(output, &shown) {
                    return None;
                }
                format!("{STATUS}{shown}")
            } else if tool.starts_with("mcp__") {
                let response = payload.get("tool_response")?;
                // Servers may leave the flag out.
                if is_true(response, "isError") {
                    return None;
                }
                let mut content = response.get("content")?.clone();
                shorten_blocks(&mut content, usize::MAX, None, task)?;
                let texts = content.as_array()?.iter().map(|block| text(block, "text"));
                texts.collect::<Option<Vec<_>>>()?.join("\n")
            } else {
                return None;
            };
            Some(json!({"decision": "block", "reason": reason}))
        }
        _ => None,
    }
}

fn has_every_failure(output: &str, shown: &str) -> bool {
    let shown: HashSet<&str> = shown.lines().map(str::trim).collect();
    output
        .lines()
        .filter(|line| states_failure(line))
        .all(|line| shown.contains(line.trim()))
}
