//! Answers to the hooks of coding agents.

use ethos_registry_hooks::{self as hooks, Agent, Machine, Settings, TARGET_CHARS};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call;

/// What `ethos-registry hook AGENT` prints for the JSON in `payload`; `None` if the original stays.
///
/// `program` is the path of `ethos-registry` for the commands in an answer. Outputs of at most
/// `target_chars` characters, by default 16,000, stay as they are. With `is_shadow` there is no
/// answer, and what it would have saved is recorded. An unknown agent raises `ValueError`, a payload
/// never raises.
#[pyfunction]
#[pyo3(signature = (agent, payload, program, target_chars=None, *, is_shadow=false))]
pub(crate) fn hook_answer(
    py: Python<'_>,
    agent: &str,
    payload: &[u8],
    program: &str,
    target_chars: Option<usize>,
    is_shadow: bool,
) -> PyResult<Option<String>> {
    let Some(agent) = Agent::from_name(agent) else {
        let names = Agent::ALL.map(Agent::name).join(", ");
        return Err(PyValueError::new_err(format!(
            "unknown agent: `{agent}`; known are {names}"
        )));
    };
    let settings = Settings {
        program,
        target_chars: target_chars.unwrap_or(TARGET_CHARS),
        is_shadow,
    };
    Ok(call::released(py, payload.len(), || {
        hooks::answer(agent, payload, settings, &Machine)
    }))
}

/// Whether `text` is for programs: JSON, JSON lines, XML, base64, or text with NUL characters.
///
/// A lone surrogate makes it no such text.
#[pyfunction]
pub(crate) fn is_data(text: &Bound<'_, pyo3::types::PyString>) -> bool {
    text.to_str().is_ok_and(hooks::is_data)
}
