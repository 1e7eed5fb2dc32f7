//! The saved outputs of commands.

use ethos_registry_hooks::{self as hooks, Archive, ArchiveError};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call;

/// The id, the command, the exit code, the time in seconds since the epoch and the size in bytes.
type Facts = (String, String, i64, f64, u64);

/// The folder of whole outputs, for `run`, hooks and `show` alike: `$ETHOS_REGISTRY_OUTPUTS`, else
/// the one where programs of this system keep their state.
///
/// The newest 200 are kept, for 7 days, up to 1 GiB in all; every method removes the rest. Only the
/// owner may read them. A folder that other users own or may write to raises `OSError`, as does one
/// that cannot be used, and links in it are not followed.
#[pyclass(frozen, module = "ethos_registry._core")]
pub(crate) struct OutputArchive(Archive);

#[pymethods]
impl OutputArchive {
    #[new]
    fn new() -> PyResult<Self> {
        Ok(Self(Archive::of_environment().map_err(error)?))
    }

    /// The folder.
    #[getter]
    fn folder(&self) -> String {
        self.0.folder().display().to_string()
    }

    /// Save an output; its id, which depends on the command, the exit code and the content only.
    fn save(
        &self,
        py: Python<'_>,
        command: &str,
        exit_code: i64,
        started: f64,
        content: &[u8],
    ) -> PyResult<String> {
        let save = || self.0.save(command, exit_code, started, content);
        call::released(py, content.len(), save).map_err(error)
    }

    /// The content of an output; `None` if no output has this id.
    fn read<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let content = self.0.read(id).map_err(error)?;
        Ok(content.map(|content| PyBytes::new(py, &content)))
    }

    /// The rows that hooks and recalls measured, each a line of JSON, the oldest first.
    #[allow(
        clippy::unused_self,
        reason = "all of it belongs to the archive in Python"
    )]
    fn measured(&self) -> Vec<String> {
        hooks::measured()
    }

    /// Add a row to what was measured: that `chars` characters of an output were asked for again.
    #[allow(
        clippy::unused_self,
        reason = "all of it belongs to the archive in Python"
    )]
    fn note_recall(&self, id: &str, chars: usize) {
        hooks::note_recall(id, chars);
    }

    /// Id, command, exit code, time in seconds since the epoch and size in bytes of each output, the
    /// newest first.
    fn all(&self) -> PyResult<Vec<Facts>> {
        let saved = self.0.all().map_err(error)?.into_iter();
        let facts = saved.map(|each| {
            (
                each.id,
                each.command,
                each.exit_code,
                each.started,
                each.size_bytes,
            )
        });
        Ok(facts.collect())
    }
}

fn error(error: ArchiveError) -> PyErr {
    match error.path {
        Some(path) => PyOSError::new_err((error.code, error.reason, path)),
        None => PyOSError::new_err((error.code, error.reason)),
    }
}
