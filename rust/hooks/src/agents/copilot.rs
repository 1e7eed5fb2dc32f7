//! Copilot CLI.

use serde_json::{Value, json};

use super::{file_source, text};
use crate::Task;
use crate::output::{Output, Source};

/// How Copilot CLI begins the preview of an output that it saved in a file of `FILE`.
const PREVIEW: &str = "Output too large to read at once";
const FILE: &str = "-copilot-tool-output-";
/// How much of the preview must be found in a file.
const SAME_CHARS: usize = 40;

pub(super) fn answer(payload: &Value, task: &Task<'_>) -> Option<Value> {
    let tool = text(payload, "toolName")?;
    // Older versions send the arguments as a string.
    let parsed;
    let input = match payload.get("toolArgs")? {
        Value::String(arguments) => {
            parsed = serde_json::from_str(arguments).ok()?;
            &parsed
        }
        arguments => arguments,
    };
    let mut result = payload.get("toolResult")?.clone();
    let output = text(&result, "textResultForLlm")?;
    if text(&result, "resultType") != Some("success") {
        return None;
    }
    let shown = match tool {
        "bash" | "powershell" => copilot_command(output, text(input, "command")?, task)?,
        "view" => Output::whole(file_source(input)?, output, None).shortened(task)?,
        "grep" | "rg" => Output::whole(Source::Search, output, None).shortened(task)?,
        // Tools of MCP servers are named after their server: `server-tool`.
        _ if tool.contains('-') => Output::whole(Source::Other, output, None).shortened(task)?,
        _ => return None,
    };
    *result.get_mut("textResultForLlm")? = shown.into();
    Some(json!({"modifiedResult": result}))
}

fn copilot_command(output: &str, line: &str, task: &Task<'_>) -> Option<String> {
    // `<shellId: 1 completed with exit code 3>`; without it the command still runs.
    let (printed, status) = output.rsplit_once('\n')?;
    let code = status.strip_prefix("<shellId: ")?.strip_suffix('>')?;
    let exit_code = code
        .rsplit_once(" completed with exit code ")?
        .1
        .parse()
        .ok()?;
    let mut shown = if printed.starts_with(PREVIEW) {
        let path = printed.lines().next()?.split_once("Saved to: ")?.1;
        let preview = printed.trim_end();
        let (end, _) = preview.char_indices().nth_back(SAME_CHARS)?;
        let end = preview.get(end..);
        let whole = task.host.read(path).filter(|_| path.contains(FILE))?;
        // A program could print such a line itself, to have another file shown.
        if !end.is_some_and(|end| whole.contains(end)) {
            return None;
        }
        let output = Output {
            host_chars: printed.chars().count(),
            path: Some(path),
            ..Output::whole(Source::Command(line), &whole, Some(exit_code))
        };
        output.shortened(task)?
    } else {
        Output::whole(Source::Command(line), printed, Some(exit_code)).shortened(task)?
    };
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown.push_str(status);
    Some(shown)
}
