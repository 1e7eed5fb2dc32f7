//! `ethos-registry hook AGENT [TARGET_CHARS]`: one answer to one payload. Always exits with 0: other codes block calls in some
//! agents.

use std::env;
use std::io::{Read as _, Write as _, stdin, stdout};
use std::panic;
use std::process::ExitCode;

use ethos_registry_hooks::{Agent, MAX_PAYLOAD_BYTES, Machine, Settings, TARGET_CHARS, answer};

/// With `0`, hooks change nothing.
const SWITCH: &str = "ETHOS_REGISTRY_HOOK";

/// Whether `words` name an agent, not a command such as `install`.
pub(crate) fn is_call(words: &[&str]) -> bool {
    words
        .first()
        .is_some_and(|name| Agent::from_name(name).is_some())
}

pub(crate) fn run(words: &[&str]) -> ExitCode {
    // After a panic nothing is printed: its message would be shown to the user, or to the model.
    panic::set_hook(Box::new(|_| {}));
    if let Some(answer) = answered(words) {
        let mut out = stdout().lock();
        let _ = out.write_all(answer.as_bytes()).and_then(|()| out.flush());
    }
    ExitCode::SUCCESS
}

fn answered(words: &[&str]) -> Option<String> {
    let agent = Agent::from_name(words.first()?)?;
    let target_chars = match words.get(1) {
        Some(number) => number.parse().ok()?,
        None => TARGET_CHARS,
    };
    let mut payload = Vec::new();
    let limit = u64::try_from(MAX_PAYLOAD_BYTES).ok()? + 1;
    stdin().lock().take(limit).read_to_end(&mut payload).ok()?;
    if env::var_os(SWITCH).is_some_and(|value| value == "0") {
        return None;
    }
    let program = env::args_os().next().map(std::path::PathBuf::from);
    let program = program.filter(|path| path.is_absolute());
    let program = program.or_else(|| env::current_exe().ok())?;
    let settings = Settings {
        program: program.to_str()?,
        target_chars,
    };
    answer(agent, &payload, settings, &Machine)
}
