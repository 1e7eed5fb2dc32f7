//! `ethos-registry hook AGENT [TARGET_CHARS]`: one answer to one payload. Always exits with 0: other codes block calls in some
//! agents.

use std::env;
use std::ffi::OsString;
use std::io::{Read as _, Write as _, stdin, stdout};
use std::panic;
use std::process::ExitCode;

use ethos_registry_hooks::{Agent, MAX_PAYLOAD_BYTES, Machine, Settings, TARGET_CHARS, answer};

use crate::python;
use crate::reduce::has_own_formats;

/// With `0`, hooks do nothing; with `shadow` they only measure.
const SWITCH: &str = "ETHOS_REGISTRY_HOOK";

/// Whether `words` name an agent, not a command such as `install`.
pub(crate) fn is_call(words: &[&str]) -> bool {
    words
        .first()
        .is_some_and(|name| Agent::from_name(name).is_some())
}

pub(crate) fn run(words: &[&str], arguments: &[OsString]) -> ExitCode {
    // After a panic nothing is printed: its message would be shown to the user, or to the model.
    panic::set_hook(Box::new(|_| {}));
    if let Some(answer) = answered(words, arguments) {
        let mut out = stdout().lock();
        let _ = out.write_all(&answer).and_then(|()| out.flush());
    }
    ExitCode::SUCCESS
}

fn answered(words: &[&str], arguments: &[OsString]) -> Option<Vec<u8>> {
    let agent = Agent::from_name(words.first()?)?;
    let target_chars = match words.get(1) {
        Some(number) => number.parse().ok()?,
        None => TARGET_CHARS,
    };
    let mut payload = Vec::new();
    let limit = u64::try_from(MAX_PAYLOAD_BYTES).ok()? + 1;
    stdin().lock().take(limit).read_to_end(&mut payload).ok()?;
    let switch = env::var(SWITCH).unwrap_or_default();
    if switch == "0" {
        return None;
    }
    // The Python side loads formats of the user, and of a project if it is trusted.
    if has_own_formats()
        && let Some(answer) = python::answered(arguments, &payload)
    {
        return Some(answer);
    }
    let program = env::args_os().next().map(std::path::PathBuf::from);
    let program = program.filter(|path| path.is_absolute());
    let program = program.or_else(|| env::current_exe().ok())?;
    let settings = Settings {
        program: program.to_str()?,
        target_chars,
        is_shadow: switch == "shadow",
    };
    answer(agent, &payload, settings, &Machine).map(String::into_bytes)
}
