//! Media types by content, for Python.

use ethos_registry_core::media_type::sniff;
use pyo3::prelude::*;

use crate::call::checked;

/// The media type that the first bytes of `data` show, `text/plain` for UTF-8 without a known
/// signature; `None` for anything else.
#[pyfunction]
pub(crate) fn sniff_media_type(data: &[u8]) -> PyResult<Option<&'static str>> {
    checked(|| Ok(sniff(data)))
}
