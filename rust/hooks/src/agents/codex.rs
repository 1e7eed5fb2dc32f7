//! Codex CLI.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{shorten_blocks, text};
use crate::output::{Output, Source};
use crate::rewrite::rewritten;
use crate::{Host, Settings};

/// How Codex begins an output that it has cut.
const CUT: &str = "Warning: truncated output";
/// Codex does not report the exit code to hooks, and does not show it beside a replaced output.
const STATUS: &str = "[exit code not known here]\n";
/// A line with one of these may name a failure.
const FAILURES: [&str; 16] = [
    "error",
    "fail",
    "panic",
    "traceback",
    "exception",
    "fatal",
    "abort",
    "denied",
    "cannot",
    "not found",
    "warning",
    "assert",
    "segmentation",
    "killed",
    "no such",
    "exit",
];

pub(super) fn answer(payload: &Value, settings: Settings<'_>, host: &dyn Host) -> Option<Value> {
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
            let command = rewritten(settings.program, text(input, "command")?)?;
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
                let shown = Output::whole(source, output, None).shortened(settings, host)?;
                if !has_every_failure(output, &shown) {
                    return None;
                }
                format!("{STATUS}{shown}")
            } else if tool.starts_with("mcp__") {
                let response = payload.get("tool_response")?;
                if response.get("isError")?.as_bool()? {
                    return None;
                }
                let mut content = response.get("content")?.clone();
                shorten_blocks(&mut content, usize::MAX, settings, host)?;
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
    let names_one = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        FAILURES.iter().any(|word| lower.contains(word))
    };
    let shown: HashSet<&str> = shown.lines().map(str::trim).collect();
    output
        .lines()
        .filter(names_one)
        .all(|line| shown.contains(line.trim()))
}
