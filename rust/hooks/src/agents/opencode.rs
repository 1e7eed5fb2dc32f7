//! `OpenCode`, whose plugin sends what it is called with.

use serde_json::{Value, json};

use super::{file_source, is_true, shorten_blocks, text};
use crate::Task;
use crate::output::{Output, Source};

pub(super) fn answer(payload: &Value, task: &Task<'_>) -> Option<Value> {
    let call = payload.get("input")?;
    let (tool, input) = (text(call, "tool")?, call.get("args")?);
    let output = payload.get("output")?;
    if let Some(content) = output.get("content") {
        if is_true(output, "isError") {
            return None;
        }
        let mut content = content.clone();
        shorten_blocks(&mut content, usize::MAX, None, task)?;
        return Some(json!({"content": content}));
    }
    let metadata = output.get("metadata")?;
    // What is left out is in a file whose notice no version documents.
    if is_true(metadata, "truncated") {
        return None;
    }
    let printed = text(output, "output")?;
    let shown = match tool {
        "bash" => {
            let exit_code = metadata.get("exit")?.as_i64()?;
            let source = Source::Command(text(input, "command")?);
            let output = Output::whole(source, printed, Some(exit_code));
            let shown = output.shortened(task)?;
            // The agent does not show the exit code.
            format!("[exit code {exit_code}]\n{shown}")
        }
        "read" => Output::whole(file_source(input)?, printed, None).shortened(task)?,
        "grep" => Output::whole(Source::Search, printed, None).shortened(task)?,
        _ => return None,
    };
    Some(json!({"output": shown}))
}
