//! Text without terminal control sequences.

use std::borrow::Cow;

use ethos_registry_core::clean;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::call;
use crate::text::plain;
use crate::utf8::encoded;

/// `text` without terminal escape sequences: CSI (7 and 8 bit), OSC, DCS, SOS, PM and APC, ended or
/// not, character sets and single shifts; the same object when there is none.
///
/// A lone surrogate becomes U+FFFD if something is removed.
#[pyfunction]
pub(crate) fn without_escapes(text: Bound<'_, PyString>) -> PyResult<Bound<'_, PyString>> {
    call::checked(|| {
        let utf8 = encoded(&plain(&text)?)?;
        let cleaned = clean::without_escapes(&utf8);
        if cleaned.len() == utf8.len() {
            return Ok(text);
        }
        Ok(PyString::new(text.py(), &cleaned))
    })
}

/// `text` as a terminal displays it: without escape sequences, backspaces and carriage returns
/// applied; the same object when there are none.
///
/// The reducers of kind `terminal` and `generic` read text like this. A lone surrogate becomes U+FFFD
/// if something is removed.
#[pyfunction]
pub(crate) fn as_displayed(text: Bound<'_, PyString>) -> PyResult<Bound<'_, PyString>> {
    call::checked(|| {
        let utf8 = encoded(&plain(&text)?)?;
        match clean::terminal(&utf8) {
            Cow::Borrowed(_) => Ok(text),
            Cow::Owned(cleaned) => Ok(PyString::new(text.py(), &cleaned)),
        }
    })
}
