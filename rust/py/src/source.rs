//! Python strings as sources of text, without encoding what is only cut.

use std::borrow::Cow;

use ethos_registry_core::text::Source;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::text::slice;
use crate::utf8::encoded;

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
