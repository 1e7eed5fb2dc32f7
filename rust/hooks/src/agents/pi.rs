//! Pi, whose extension sends the events that it gets.

use serde_json::{Value, json};

use super::{file_source, is_true, shorten_blocks, text};
use crate::Task;
use crate::output::{Output, Source};

pub(super) fn answer(payload: &Value, task: &Task<'_>) -> Option<Value> {
    if text(payload, "type")? != "tool_result" {
        return None;
    }
    let (tool, input) = (text(payload, "toolName")?, payload.get("input")?);
    let is_error = payload.get("isError")?.as_bool()?;
    let structured = payload.get("structuredContent");
    if structured.is_some_and(|structured| is_true(structured, "truncated")) {
        return None;
    }
    let mut content = payload.get("content")?.clone();
    if tool == "bash" {
        let [block] = content.as_array_mut()?.as_mut_slice() else {
            return None;
        };
        let exit_code = structured.and_then(|structured| structured.get("exit_code"));
        let exit_code = exit_code.and_then(Value::as_i64);
        let all = text(block, "text")?;
        // A failure ends in a line with its exit code, or how it was stopped: it stays.
        let (printed, status) = if is_error {
            all.rsplit_once("\n\n")
                .map(|(printed, status)| (printed, Some(status)))?
        } else {
            (all, None)
        };
        if is_error && exit_code.is_none_or(|code| code == 0) {
            return None;
        }
        let source = Source::Command(text(input, "command")?);
        let mut shown = Output::whole(source, printed, exit_code).shortened(task)?;
        if let Some(status) = status {
            shown.push_str("\n\n");
            shown.push_str(status);
        }
        *block.get_mut("text")? = shown.into();
    } else if is_error {
        return None;
    } else if tool == "read" {
        let [block] = content.as_array_mut()?.as_mut_slice() else {
            return None;
        };
        let output = Output::whole(file_source(input)?, text(block, "text")?, None);
        *block.get_mut("text")? = output.shortened(task)?.into();
    } else if matches!(tool, "write" | "edit") {
        return None;
    } else {
        shorten_blocks(&mut content, usize::MAX, None, task)?;
    }
    Some(json!({"content": content}))
}
