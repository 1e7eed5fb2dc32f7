//! This process confined, for Python.

use std::path::PathBuf;

use ethos_registry_filesystem::confine::{Confinement, probe};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::call::checked;

/// Confine this process, and all that it starts, for good: Landlock for files, seccomp for sockets
/// and the system calls that go around it.
///
/// For a process with one thread that is about to become another program. `read` may be read and
/// executed, `write` written too; without `network` no socket can be made. An `OSError` if the
/// kernel cannot do it: the process must not go on.
#[pyfunction]
pub(crate) fn confine_process(
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    network: bool,
) -> PyResult<()> {
    checked(|| {
        Confinement {
            read,
            write,
            network,
        }
        .enter()
        .map_err(|error| PyOSError::new_err(error.to_string()))
    })
}

/// What keeps `confine_process` from working here; `None` if nothing does.
#[pyfunction]
pub(crate) fn confinement_problem() -> PyResult<Option<String>> {
    checked(|| Ok(probe().err().map(|error| error.to_string())))
}
