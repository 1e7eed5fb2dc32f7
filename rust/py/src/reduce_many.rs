//! Many inputs reduced in one crossing, without the GIL.

use ethos_registry_reduce::{self as reduce, Kind, Policy, Request};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

use crate::call;
use crate::reducer::{NativeReducer, assemble, policy};
use crate::source::PyText;
use crate::text::{is_ascii, plain};
use crate::utf8::encoded;

/// About this much text is taken out of Python at a time, so that copies stay few.
const CHUNK_BYTES: usize = 16 * 1024 * 1024;

/// An input out of Python's reach: borrowed when it is ASCII, an encoded copy when it is not.
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

/// How long reduced text may be.
#[derive(Clone, Copy)]
struct Length {
    budget_chars: usize,
    policy: Option<Policy>,
}

struct Job {
    /// The place of the text among all.
    index: usize,
    text: Detached,
    command: Option<String>,
    exit_code: Option<i64>,
}

/// Each of `texts` reduced by `reducer`, in their order; the same object where it stays as it is.
///
/// `commands` and `exit_codes` have one item for each input, `None` where it is not known; without
/// them nothing is known. A reduced text has at most `budget_chars` characters where its rows can be
/// cut to that. With a `level`, what fits in `target_chars` stays whole. A list of another length and
/// an unknown level raise `ValueError`.
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
#[pyfunction]
#[pyo3(signature = (reducer, texts, commands=None, exit_codes=None, budget_chars=None, target_chars=None, level=None) -> "list[str]")]
pub(crate) fn reduce_many<'py>(
    py: Python<'py>,
    reducer: &Bound<'py, NativeReducer>,
    texts: Vec<Bound<'py, PyString>>,
    commands: Option<Vec<Option<Bound<'py, PyString>>>>,
    exit_codes: Option<Vec<Option<i64>>>,
    budget_chars: Option<usize>,
    target_chars: Option<usize>,
    level: Option<&str>,
) -> PyResult<Vec<Bound<'py, PyString>>> {
    same_length("commands", commands.as_ref().map(Vec::len), texts.len())?;
    same_length("exit_codes", exit_codes.as_ref().map(Vec::len), texts.len())?;
    let commands = commands.unwrap_or_default();
    let exit_codes = exit_codes.unwrap_or_default();
    let kind = call::checked(|| Ok(reducer.get().core_kind()))?;
    let length = Length {
        budget_chars: budget_chars.unwrap_or(usize::MAX),
        policy: policy(target_chars, level)?,
    };
    let mut shorter: Vec<Option<Bound<'py, PyString>>> = vec![None; texts.len()];
    let mut jobs: Vec<Job> = Vec::new();
    let mut bytes = 0;
    for (index, text) in texts.iter().enumerate() {
        let exit_code = exit_codes.get(index).copied().flatten();
        let plain_text = plain(text)?;
        let is_ascii = is_ascii(&plain_text)?;
        if is_ascii || reduce::reads_all(kind) {
            let text = if is_ascii {
                Detached::Ascii(PyBackedStr::try_from(plain_text)?)
            } else {
                Detached::Encoded(encoded(&plain_text)?)
            };
            bytes += text.as_str().len();
            let command = commands.get(index).and_then(Option::as_ref);
            let command = command.map(|command| encoded(&plain(command)?));
            jobs.push(Job {
                index,
                text,
                command: command.transpose()?,
                exit_code,
            });
        } else {
            // Little of it is looked at: that is sooner done than it is encoded.
            let cut = cut(kind, &plain_text, exit_code, length);
            if let Some(place) = shorter.get_mut(index) {
                *place = cut;
            }
        }
        if bytes >= CHUNK_BYTES || index + 1 == texts.len() {
            let made = call::released(py, bytes, || run(kind, &jobs, length));
            for (job, made) in jobs.drain(..).zip(made) {
                if let (Some(place), Some(made)) = (shorter.get_mut(job.index), made) {
                    *place = Some(PyString::new(py, &made));
                }
            }
            bytes = 0;
        }
    }
    let pairs = texts.into_iter().zip(shorter);
    Ok(pairs
        .map(|(text, shorter)| shorter.unwrap_or(text))
        .collect())
}

/// `text`, which is not ASCII, reduced by a kind that does not read all of it.
fn cut<'py>(
    kind: Kind,
    text: &Bound<'py, PyString>,
    exit_code: Option<i64>,
    length: Length,
) -> Option<Bound<'py, PyString>> {
    let request = request(kind, None, exit_code, length);
    let made = call::attempted(|| {
        let pieces = reduce::pieces(kind, &request, &PyText::new(text)?)?;
        let made = pieces.map(|pieces| assemble(text, &pieces, usize::MAX));
        made.transpose()
    });
    made.map(|made| made.text)
}

fn run(kind: Kind, jobs: &[Job], length: Length) -> Vec<Option<String>> {
    let reduced = jobs.iter().map(|job| {
        let (text, command) = (job.text.as_str(), job.command.as_deref());
        reduced(kind, text, command, job.exit_code, length)
    });
    reduced.collect()
}

/// `text` reduced; `None` when it stays as it is, as after a panic.
fn reduced(
    kind: Kind,
    text: &str,
    command: Option<&str>,
    exit_code: Option<i64>,
    length: Length,
) -> Option<String> {
    let request = request(kind, command, exit_code, length);
    call::caught(|| reduce::reduce(kind, &request, text)).unwrap_or_default()
}

/// What is known of an input without a call.
fn request(
    kind: Kind,
    command: Option<&str>,
    exit_code: Option<i64>,
    length: Length,
) -> Request<'_> {
    Request {
        ok: kind != Kind::Terminal || exit_code == Some(0),
        budget_chars: length.budget_chars,
        policy: length.policy,
        ..Request::of_output(command, exit_code)
    }
}

fn same_length(name: &str, length: Option<usize>, inputs: usize) -> PyResult<()> {
    match length {
        Some(length) if length != inputs => Err(PyValueError::new_err(format!(
            "`{name}` has {length} items for {inputs} strings: pass one for each, `None` if it is not known"
        ))),
        _ => Ok(()),
    }
}
