//! Python strings as sources of text, without encoding what is only cut.

use std::borrow::Cow;

use ethos_registry_core::text::{Source, replace_surrogates};
use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySlice, PyString};

/// How many characters are encoded at a time to look for surrogates: memory stays small.
const CHUNK_CHARS: usize = 1 << 16;
/// From here on a faster encoder is worth looking up.
const LOOKED_UP_CHARS: usize = 1 << 10;

/// A `str` whose characters are counted by Python itself; windows are taken from small slices.
///
/// A lone surrogate reads as U+FFFD.
pub(crate) struct PyText<'py> {
    text: Bound<'py, PyString>,
    chars: usize,
}

impl<'py> PyText<'py> {
    pub(crate) fn new(text: &Bound<'py, PyString>) -> PyResult<Self> {
        Ok(Self {
            chars: text.len()?,
            text: text.clone(),
        })
    }

    fn find(&self, method: &Bound<'py, PyString>, span: (usize, usize)) -> PyResult<Option<usize>> {
        let found = self.text.call_method1(method, ("\n", span.0, span.1))?;
        let found: isize = found.extract()?;
        Ok(usize::try_from(found).ok())
    }
}

impl Source for PyText<'_> {
    type Error = PyErr;

    fn end(&self) -> usize {
        self.chars
    }

    fn characters(&self, start: usize, end: usize) -> PyResult<usize> {
        Ok(end.saturating_sub(start))
    }

    fn position(&self, characters: usize) -> PyResult<Option<usize>> {
        Ok((characters < self.chars).then_some(characters))
    }

    fn newlines(&self, start: usize, end: usize) -> PyResult<usize> {
        let py = self.text.py();
        self.text
            .call_method1(intern!(py, "count"), ("\n", start, end))?
            .extract()
    }

    fn first_newline(&self, start: usize, end: usize) -> PyResult<Option<usize>> {
        self.find(intern!(self.text.py(), "find"), (start, end))
    }

    fn last_newline(&self, start: usize, end: usize) -> PyResult<Option<usize>> {
        self.find(intern!(self.text.py(), "rfind"), (start, end))
    }

    fn window(&self, start: usize, end: usize) -> PyResult<(usize, Cow<'_, str>)> {
        let start = start.min(self.chars);
        let window = slice(&self.text, start, end.min(self.chars))?;
        Ok((start, Cow::Owned(encoded(&window)?)))
    }

    fn width(&self, text: &str) -> usize {
        text.chars().count()
    }
}

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
pub(crate) fn slice<'py>(
    text: &Bound<'py, PyString>,
    start: usize,
    end: usize,
) -> PyResult<Bound<'py, PyString>> {
    let bound = |at: usize| isize::try_from(at).unwrap_or(isize::MAX);
    let part = text.get_item(PySlice::new(text.py(), bound(start), bound(end), 1))?;
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

/// The UTF-8 of `text` in memory of its own, each lone surrogate replaced by one U+FFFD.
///
/// `PyString::to_str` would leave a second copy of the text in the object for as long as it lives.
pub(crate) fn encoded(text: &Bound<'_, PyString>) -> PyResult<String> {
    let py = text.py();
    let bytes = text
        .call_method1(
            intern!(py, "encode"),
            (intern!(py, "utf-8"), intern!(py, "surrogatepass")),
        )?
        .cast_into::<PyBytes>()?;
    replace_surrogates(bytes.as_bytes().to_vec())
        .ok_or_else(|| PyUnicodeDecodeError::new_err("`str.encode` did not give UTF-8"))
}

/// What `work` gives for the UTF-8 of `text`, read where the encoder wrote it if that met no surrogate.
pub(crate) fn with_utf8<T>(
    text: &Bound<'_, PyString>,
    work: impl FnOnce(&str) -> T,
) -> PyResult<T> {
    if let Ok(bytes) = text.encode_utf8()
        && let Ok(utf8) = str::from_utf8(bytes.as_bytes())
    {
        return Ok(work(utf8));
    }
    Ok(work(&encoded(text)?))
}

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
