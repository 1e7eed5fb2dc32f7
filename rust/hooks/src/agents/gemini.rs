//! Gemini CLI.

use serde_json::{Value, json};

use super::{file_source, text};
use crate::output::{Output, Source};
use crate::rewrite::quoted;
use crate::{Archived, Saved, Task};

/// Gemini CLI shows this many characters of the output of a command.
const SHOWN_CHARS: usize = 40_000;

/// Gemini CLI replaces a result only by that of another call, here of `recall`.
pub(super) fn answer(payload: &Value, task: &Task<'_>) -> Option<Value> {
    let event = text(payload, "hook_event_name")?;
    if event != "AfterTool" || payload.get("original_request_name").is_some() {
        return None;
    }
    let (tool, input) = (text(payload, "tool_name")?, payload.get("tool_input")?);
    let content = payload.get("tool_response")?.get("llmContent")?;
    let (shown, exit_code) = match tool {
        "run_shell_command" => {
            let content = content.as_str()?;
            let inner = trusted(content)?.strip_prefix("Output: ")?;
            let (inner, _) = inner.rsplit_once("\nProcess Group PGID: ")?;
            let (printed, exit_code) = match inner.rsplit_once("\nExit Code: ") {
                Some((printed, code)) if !code.contains('\n') => (printed, code.parse().ok()?),
                _ => (inner, 0),
            };
            let source = Source::Command(text(input, "command")?);
            let output = Output::whole(source, printed, Some(exit_code));
            let host_chars = output.host_chars.min(SHOWN_CHARS);
            let shown = Output {
                host_chars,
                ..output
            }
            .shortened(task)?;
            (shown, exit_code)
        }
        "read_file" => {
            let output = Output::whole(file_source(input)?, content.as_str()?, None);
            (output.shortened(task)?, 0)
        }
        _ if tool.starts_with("mcp_") => {
            let blocks = content.as_array()?.iter();
            let texts = blocks.map(|block| trusted(text(block, "text")?));
            let all = texts.collect::<Option<Vec<_>>>()?.join("\n");
            (Output::whole(Source::Other, &all, None).shortened(task)?, 0)
        }
        _ => return None,
    };
    let saved = Saved {
        program: tool.to_owned(),
        exit_code: Some(exit_code),
        text: &shown,
    };
    let Archived::Id(id) = task.host.save(&saved) else {
        return None;
    };
    let command = format!("{} recall {id} --exit-code", quoted(task.settings.program));
    Some(
        json!({"hookSpecificOutput": {"hookEventName": event, "tailToolCallRequest": {
            "name": "run_shell_command",
            "args": {"command": command},
        }}}),
    )
}

/// What Gemini CLI shows as untrusted; it does the same with what replaces it.
fn trusted(content: &str) -> Option<&str> {
    let content = content.trim().strip_prefix("<untrusted_context>\n")?;
    content.strip_suffix("\n</untrusted_context>")
}
