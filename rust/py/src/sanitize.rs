//! Untrusted output: sanitised and fenced.

use std::borrow::Cow;
use std::collections::TryReserveError;

use ethos_registry_core::sanitize as core;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

use crate::call;
use crate::surrogates::without_surrogates;
use crate::text::{is_ascii, joined, plain};
use crate::utf8::encoded;

/// What is in the fence when the text could not be made safe.
const NOTICE: &str = "[the output was withheld: it could not be made safe to read]";

/// What the core makes of an input, or nothing when it stays as it is.
type Changed = Result<Option<String>, TryReserveError>;

/// `text` with `[STRIPPED-TEMPLATE-TOKEN]` for each word by which a chat template states who speaks;
/// the same object when it holds none.
///
/// Taken out are: anything between `<|` and `|>` on one line, up to 64 characters; `<|turn>` and
/// `<turn|>`; the bracketed tokens of the known model families, as `[INST]`, `<think>`, `</s>` (which
/// HTML and source code write too); `<<SYS>>`; `Human:` and `Assistant:` after an empty line.
/// Most in any case, with blanks or invisible characters inside, in full-width letters. No token
/// is left in the text that comes back, nor in any beginning of it.
#[pyfunction]
pub(crate) fn sanitize(text: Bound<'_, PyString>) -> PyResult<Bound<'_, PyString>> {
    call::checked(|| changed(text, core::sanitize))
}

/// `text` in a fence: `<untrusted source="…" tool="…">`, the text, `</untrusted>`, on lines of their
/// own.
///
/// Whatever in the text reads as an opening or a closing tag of the fence, in any case and spacing,
/// with invisible characters or look-alikes, and what would be one if the text went on, gets `&lt;`
/// for its first character; lone surrogates become U+FFFD. At most 256 characters of `source` and 64
/// of `tool` are shown, without line breaks, angle brackets, double quotes and template tokens.
/// Template tokens in `text` stay: `sanitize` it first.
#[pyfunction]
pub(crate) fn wrap<'py>(
    text: &Bound<'py, PyString>,
    tool: &Bound<'py, PyString>,
    source: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyString>> {
    call::checked(|| {
        let body = without_surrogates(&plain(text)?)?;
        Fence::new(tool, source)?.around(body)
    })
}

/// `text` without template tokens and without what reads as a fence; the same object when it has
/// neither.
pub(crate) fn without_forgeries(text: Bound<'_, PyString>) -> PyResult<Bound<'_, PyString>> {
    changed(text, |text| {
        let sanitized = core::sanitize(text)?;
        let defused = core::defuse(sanitized.as_deref().unwrap_or(text))?;
        Ok(defused.or(sanitized))
    })
}

/// The fence of one tool and source.
pub(crate) struct Fence<'py> {
    opening: Bound<'py, PyString>,
}

impl<'py> Fence<'py> {
    pub(crate) fn new(
        tool: &Bound<'py, PyString>,
        source: &Bound<'py, PyString>,
    ) -> PyResult<Self> {
        let py = tool.py();
        let (tool, source) = (encoded(&plain(tool)?)?, encoded(&plain(source)?)?);
        let opening = core::opening(&tool, &source).map_err(|_| no_memory())?;
        Ok(Self {
            opening: PyString::new(py, &opening),
        })
    }

    /// `body`, defused, in this fence.
    ///
    /// Output that was defused before a cut is defused again: within an escape sequence the cut can
    /// leave what reads as the start of a tag.
    pub(crate) fn around(&self, body: Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let body = changed(body, core::defuse)?;
        let closing = PyString::new(body.py(), core::CLOSING);
        joined(body.py(), vec![self.opening.clone(), body, closing])
    }

    /// What is sent for an input that could not be made safe.
    pub(crate) fn around_notice(&self) -> PyResult<Bound<'py, PyString>> {
        self.around(PyString::new(self.opening.py(), NOTICE))
    }
}

/// What `change` makes of `text`, or `text` itself, subclass and all, when that is the same.
fn changed(
    text: Bound<'_, PyString>,
    change: impl Fn(&str) -> Changed + Sync,
) -> PyResult<Bound<'_, PyString>> {
    let py = text.py();
    let plain = plain(&text)?;
    let backed;
    let utf8: Cow<'_, str> = if is_ascii(&plain)? {
        backed = PyBackedStr::try_from(plain)?;
        Cow::Borrowed(&backed)
    } else {
        Cow::Owned(encoded(&plain)?)
    };
    let changed = call::released(py, utf8.len(), || change(&utf8)).map_err(|_| no_memory())?;
    Ok(changed.map_or(text, |changed| PyString::new(py, &changed)))
}

fn no_memory() -> PyErr {
    PyMemoryError::new_err("no memory to make the output of a tool safe")
}
