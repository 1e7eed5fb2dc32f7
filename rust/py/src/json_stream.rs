//! JSON text that arrives in pieces.

use ethos_registry_core::json_stream::{JsonStream, State};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::call::checked;
use crate::utf8::encoded;

/// Collects JSON text that arrives in pieces and knows after each piece whether it is whole.
///
/// Every byte is scanned once. Invalid is what no further text can mend: a syntax error, a duplicate key, more than
/// 128 levels, or a number larger than every float.
#[pyclass(name = "JsonStream", module = "ethos_registry._core")]
pub(crate) struct PyJsonStream {
    stream: JsonStream,
}

#[pymethods]
impl PyJsonStream {
    #[new]
    fn new() -> Self {
        Self {
            stream: JsonStream::new(),
        }
    }

    /// Append a piece. A lone surrogate becomes U+FFFD; the two halves of a pair must come in one piece.
    fn push(&mut self, piece: &Bound<'_, PyString>) -> PyResult<()> {
        checked(|| {
            match piece.to_str() {
                Ok(text) => self.stream.push(text),
                Err(_) => self.stream.push(&encoded(piece)?),
            }
            Ok(())
        })
    }

    /// Whether there is nothing but white space so far.
    fn is_blank(&self) -> bool {
        self.stream.state() == State::Blank
    }

    /// Whether the text is one whole JSON object.
    fn is_object(&self) -> bool {
        self.stream.state() == State::Object
    }

    /// Whether the text is one whole JSON value that is not an object.
    fn is_other_value(&self) -> bool {
        self.stream.state() == State::OtherValue
    }

    /// Whether the text is not JSON, whatever follows.
    fn is_invalid(&self) -> bool {
        self.stream.state() == State::Invalid
    }

    /// How many bytes of UTF-8 have come.
    fn length(&self) -> usize {
        self.stream.length()
    }

    /// The text so far; each escape of a lone surrogate is that of U+FFFD.
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.stream.text())
    }

    /// The longest valid value that the text has so far, as JSON text; `None` while no value has started.
    ///
    /// An open string keeps what it has, open containers are closed; a key without a value, an unfinished number or
    /// an unfinished literal is left out.
    fn partial(&self) -> Option<String> {
        self.stream.partial()
    }
}
