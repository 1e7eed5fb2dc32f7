//! Credentials out of Python inputs.

use std::borrow::Cow;
use std::collections::TryReserveError;

use ethos_registry_core::redact as core;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

use crate::call;
use crate::text::{is_ascii, plain, slice};
use crate::utf8::encoded;

/// `text` with `[redacted: github token]` and the like for each credential that identifies itself
/// by its shape, and `[redacted: secret]` for each value of `known`; the same object if it has none.
///
/// Shapes are prefixes that vendors publish, PEM private keys, JSON Web Tokens, bearer tokens,
/// passwords in URLs, and random values that are assigned to the name of a secret. Hashes, UUIDs
/// and base64 stay. Escape sequences, backspaces and invisible characters within a credential do
/// not hide it.
#[pyfunction]
#[pyo3(signature = (text, known=None))]
pub(crate) fn redact<'py>(
    text: Bound<'py, PyString>,
    known: Option<&Bound<'py, KnownSecrets>>,
) -> PyResult<Bound<'py, PyString>> {
    call::checked(|| redacted(text, known))
}

/// The same for other functions of this crate.
pub(crate) fn redacted<'py>(
    text: Bound<'py, PyString>,
    known: Option<&Bound<'py, KnownSecrets>>,
) -> PyResult<Bound<'py, PyString>> {
    let known = known.and_then(|known| known.get().known.as_ref());
    changed(text, |text| core::redact(text, known))
}

/// Finds known secret values literally. Values of fewer than 8 bytes are not searched for.
#[pyclass(module = "ethos_registry._core", frozen)]
pub(crate) struct KnownSecrets {
    known: Option<core::Known>,
}

#[pymethods]
impl KnownSecrets {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over")]
    fn new(values: Vec<String>) -> PyResult<Self> {
        call::checked(|| {
            Ok(Self {
                known: core::Known::new(values.iter().map(String::as_str)),
            })
        })
    }

    /// The bytes of the longest value; 0 if there is none to search for.
    #[getter]
    fn longest_bytes(&self) -> usize {
        self.known.as_ref().map_or(0, core::Known::longest_bytes)
    }

    /// `text` with `[redacted: secret]` for each value as it is written; the same object if it has
    /// none.
    fn redact<'py>(&self, text: Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        match &self.known {
            None => Ok(text),
            Some(known) => call::checked(|| changed(text, |text| known.redact(text))),
        }
    }

    /// The start of a stream: `text` without its values, and the rest that must wait for the next
    /// piece, because it may be the start of a value.
    fn redact_start<'py>(
        &self,
        text: Bound<'py, PyString>,
    ) -> PyResult<(Bound<'py, PyString>, Bound<'py, PyString>)> {
        call::checked(|| {
            let py = text.py();
            let Some(known) = &self.known else {
                return Ok((text, PyString::new(py, "")));
            };
            let utf8 = encoded(&plain(&text)?)?;
            let started = call::released(py, utf8.len(), || known.redact_start(&utf8));
            Ok(match started.map_err(|_| no_memory())? {
                None => (text, PyString::new(py, "")),
                Some((ready, rest)) => (PyString::new(py, &ready), PyString::new(py, rest)),
            })
        })
    }

    // Values never show in a repr, a message or a pickle.
    fn __repr__(&self) -> String {
        format!("KnownSecrets(longest_bytes={})", self.longest_bytes())
    }
}

/// Text that is not ASCII is looked at in pieces of this many characters, so that one without a
/// credential is never encoded whole.
const PIECE_CHARS: usize = 1 << 16;
/// How much of the next piece belongs to a piece: a credential is found whole in one of them.
const OVERLAP_CHARS: usize = 1 << 13;

fn changed(
    text: Bound<'_, PyString>,
    change: impl Fn(&str) -> Result<Option<String>, TryReserveError> + Sync,
) -> PyResult<Bound<'_, PyString>> {
    let py = text.py();
    let plain = plain(&text)?;
    let backed;
    let utf8: Cow<'_, str> = if is_ascii(&plain)? {
        backed = PyBackedStr::try_from(plain)?;
        Cow::Borrowed(&backed)
    } else if has_none(&plain, &change)? {
        return Ok(text);
    } else {
        Cow::Owned(encoded(&plain)?)
    };
    let changed = call::released(py, utf8.len(), || change(&utf8)).map_err(|_| no_memory())?;
    Ok(changed.map_or(text, |changed| PyString::new(py, &changed)))
}

/// Whether no piece of a long text has a credential; `false` for a short one.
fn has_none(
    text: &Bound<'_, PyString>,
    change: impl Fn(&str) -> Result<Option<String>, TryReserveError> + Sync,
) -> PyResult<bool> {
    let chars = text.len()?;
    if chars <= PIECE_CHARS {
        return Ok(false);
    }
    for start in (0..chars).step_by(PIECE_CHARS) {
        let piece = encoded(&slice(text, start, start + PIECE_CHARS + OVERLAP_CHARS)?)?;
        if change(&piece).map_err(|_| no_memory())?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn no_memory() -> PyErr {
    PyMemoryError::new_err("not enough memory to redact the text")
}
