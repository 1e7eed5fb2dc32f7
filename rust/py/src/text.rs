//! What Python states of a `str` and makes of it.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySequence, PyString};

/// `text` as a plain `str`, so that no method of a subclass is called in its name.
pub(crate) fn plain<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
    if text.is_exact_instance_of::<PyString>() {
        return Ok(text.clone());
    }
    joined(text.py(), vec![text.clone()])
}

/// Whether `text` is ASCII, which Python knows without looking at the characters.
pub(crate) fn is_ascii(text: &Bound<'_, PyString>) -> PyResult<bool> {
    text.call_method0(intern!(text.py(), "isascii"))?.extract()
}

/// The characters of `text` between two positions.
///
/// Not with `PySlice::new`: in PyO3 0.29 it never releases the integers of its bounds.
pub(crate) fn slice<'py>(
    text: &Bound<'py, PyString>,
    start: usize,
    end: usize,
) -> PyResult<Bound<'py, PyString>> {
    let part = text.cast::<PySequence>()?.get_slice(start, end)?;
    Ok(part.cast_into::<PyString>()?)
}

/// `parts` as one `str`.
pub(crate) fn joined<'py>(
    py: Python<'py>,
    parts: Vec<Bound<'py, PyString>>,
) -> PyResult<Bound<'py, PyString>> {
    let parts = PyList::new(py, parts)?;
    let joined = intern!(py, "").call_method1(intern!(py, "join"), (parts,))?;
    Ok(joined.cast_into::<PyString>()?)
}
