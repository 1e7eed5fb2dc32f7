//! Python strings without lone surrogates, which no UTF-8 holds.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::text::{is_ascii, joined, slice};
use crate::utf8::encoded;

/// How many characters are encoded at a time to look for surrogates: memory stays small.
const CHUNK_CHARS: usize = 1 << 16;
/// From here on a faster encoder is worth looking up.
const LOOKED_UP_CHARS: usize = 1 << 10;

/// Whether `text` holds no surrogate: whether a strict encoder takes it.
///
/// UTF-8 is found at once, UTF-32 takes longer to find and is several times faster then.
fn is_clean(text: &Bound<'_, PyString>) -> PyResult<bool> {
    if text.len()? <= LOOKED_UP_CHARS {
        return Ok(text.encode_utf8().is_ok());
    }
    let py = text.py();
    Ok(text
        .call_method1(intern!(py, "encode"), (intern!(py, "utf-32-le"),))
        .is_ok())
}

/// `text` with each lone surrogate replaced by one U+FFFD; the same object when it holds none.
pub(crate) fn without_surrogates<'py>(
    text: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyString>> {
    let py = text.py();
    if is_ascii(text)? {
        return Ok(text.clone());
    }
    let chars = text.len()?;
    let chunks = (0..chars).step_by(CHUNK_CHARS);
    let mut clean = true;
    for start in chunks.clone() {
        clean = clean && is_clean(&slice(text, start, start + CHUNK_CHARS)?)?;
    }
    if clean {
        return Ok(text.clone());
    }
    let replaced = chunks.map(|start| {
        let chunk = slice(text, start, start + CHUNK_CHARS)?;
        Ok(PyString::new(py, &encoded(&chunk)?))
    });
    joined(py, replaced.collect::<PyResult<_>>()?)
}
