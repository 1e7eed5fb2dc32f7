//! Inputs without what only a terminal understands.

use ethos_registry_core::clean;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::call;
use crate::text::plain;
use crate::utf8::encoded;

/// `text` without terminal escape sequences: CSI (7 and 8 bit), OSC, DCS, SOS, PM and APC, ended or
/// not, character sets and single shifts; the same object when there is none.
///
/// It is the first step of the reducers of kind `terminal` and `generic`. A lone surrogate becomes
/// U+FFFD where something is taken out.
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
