//! Searching definitions, out of Python bytes.

use std::borrow::Cow;

use ethos_registry_core::tool_search;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::call::{checked, released};
use crate::utf8::encoded;

/// BM25 over the definitions of tools, each `{name, description, parameters}` as JSON bytes.
///
/// Words count by the field that they are in. Never changes; safe from threads.
#[pyclass(module = "ethos_registry._core", frozen)]
pub(crate) struct ToolSearchIndex {
    search: tool_search::ToolSearch,
}

#[pymethods]
impl ToolSearchIndex {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from a list")]
    fn new(py: Python<'_>, definitions: Vec<Bound<'_, PyBytes>>) -> PyResult<Self> {
        checked(|| {
            let texts: Vec<Cow<'_, str>> = definitions
                .iter()
                .map(|text| String::from_utf8_lossy(text.as_bytes()))
                .collect();
            let bytes = texts.iter().map(|text| text.len()).sum();
            let search = released(py, bytes, || {
                tool_search::ToolSearch::new(texts.iter().map(AsRef::as_ref))
            });
            Ok(Self { search })
        })
    }

    fn __len__(&self) -> usize {
        self.search.len()
    }

    /// The positions of the best matches with their scores, at most `limit`, the best first.
    fn find(&self, query: &Bound<'_, PyString>, limit: usize) -> PyResult<Vec<(usize, f64)>> {
        checked(|| {
            let found = self.search.find(&encoded(query)?, limit);
            Ok(found
                .into_iter()
                .map(|found| (found.position, found.score))
                .collect())
        })
    }
}
