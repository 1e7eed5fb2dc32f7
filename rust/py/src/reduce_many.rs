//! Many texts reduced in one crossing, without the GIL.

use ethos_registry_core::reduce::{self, Kind, Request};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

use crate::call;
use crate::reducer::NativeReducer;
use crate::text::{is_ascii, plain};
use crate::utf8::encoded;

/// About this much text is taken out of Python at a time, so that copies stay few.
const CHUNK_BYTES: usize = 16 * 1024 * 1024;

/// A text out of Python's reach: borrowed when it is ASCII, an encoded copy when it is not.
enum Detached {
    Ascii(PyBackedStr),
    Encoded(String),
}

impl Detached {
    fn as_str(&self) -> &str {
        match self {
            Self::Ascii(text) => text,
            Self::Encoded(text) => text,
        }
    }
}

struct Job {
    text: Detached,
    command: Option<String>,
    exit_code: Option<i64>,
}

/// Each of `texts` reduced by `reducer`, in their order; the same object where it stays as it is.
///
/// `commands` and `exit_codes` have one item for each text, `None` where it is not known; without
/// them nothing is known. A reduced text has at most `budget_chars` characters where its rows can be
/// cut to that. A list of another length raises `ValueError`.
#[pyfunction]
#[pyo3(signature = (reducer, texts, commands=None, exit_codes=None, budget_chars=None) -> "list[str]")]
pub(crate) fn reduce_many<'py>(
    py: Python<'py>,
    reducer: &Bound<'py, NativeReducer>,
    texts: Vec<Bound<'py, PyString>>,
    commands: Option<Vec<Option<Bound<'py, PyString>>>>,
    exit_codes: Option<Vec<Option<i64>>>,
    budget_chars: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyString>>> {
    same_length("commands", commands.as_ref().map(Vec::len), texts.len())?;
    same_length("exit_codes", exit_codes.as_ref().map(Vec::len), texts.len())?;
    let commands = commands.unwrap_or_default();
    let exit_codes = exit_codes.unwrap_or_default();
    let kind = call::checked(|| Ok(reducer.get().core_kind()))?;
    let budget_chars = budget_chars.unwrap_or(usize::MAX);
    let mut shorter = Vec::with_capacity(texts.len());
    let mut jobs: Vec<Job> = Vec::new();
    let mut bytes = 0;
    for (index, text) in texts.iter().enumerate() {
        let text = plain(text)?;
        let text = if is_ascii(&text)? {
            Detached::Ascii(PyBackedStr::try_from(text)?)
        } else {
            Detached::Encoded(encoded(&text)?)
        };
        bytes += text.as_str().len();
        let command = commands.get(index).and_then(Option::as_ref);
        jobs.push(Job {
            text,
            command: command
                .map(|command| encoded(&plain(command)?))
                .transpose()?,
            exit_code: exit_codes.get(index).copied().flatten(),
        });
        if bytes >= CHUNK_BYTES || index + 1 == texts.len() {
            shorter.extend(call::released(py, bytes, || run(kind, &jobs, budget_chars)));
            jobs.clear();
            bytes = 0;
        }
    }
    let pairs = texts.into_iter().zip(shorter);
    Ok(pairs
        .map(|(text, reduced)| reduced.map_or(text, |reduced| PyString::new(py, &reduced)))
        .collect())
}

fn run(kind: Kind, jobs: &[Job], budget_chars: usize) -> Vec<Option<String>> {
    let reduced = jobs.iter().map(|job| {
        let (text, command) = (job.text.as_str(), job.command.as_deref());
        reduced(kind, text, command, job.exit_code, budget_chars)
    });
    reduced.collect()
}

/// `text` reduced; `None` when it stays as it is, as after a panic.
pub(crate) fn reduced(
    kind: Kind,
    text: &str,
    command: Option<&str>,
    exit_code: Option<i64>,
    budget_chars: usize,
) -> Option<String> {
    let request = Request {
        command,
        ranged: false,
        ok: kind != Kind::Terminal || exit_code == Some(0),
        exit_code,
        budget_chars,
    };
    call::caught(|| reduce::reduce(kind, &request, text)).unwrap_or_default()
}

fn same_length(name: &str, length: Option<usize>, texts: usize) -> PyResult<()> {
    match length {
        Some(length) if length != texts => Err(PyValueError::new_err(format!(
            "`{name}` has {length} items for {texts} texts: give one for each, `None` where it is not known"
        ))),
        _ => Ok(()),
    }
}
