//! Processes confined, for Python.

use std::borrow::Cow;
use std::os::fd::IntoRawFd;
use std::path::PathBuf;

use ethos_registry_filesystem::confine::{
    namespace_filter, prepare, prepare_socket_scope as socket_scope, probe,
};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::call::checked;

/// Prepare the confinement of a process that is about to become another program: Landlock for files,
/// seccomp for sockets and the system calls that go around it.
///
/// `read` may be read and executed, `write` written too; without `network` no socket can be made.
///
/// Returns the descriptor of the Landlock rules, which the caller closes, and the seccomp filter as
/// the kernel reads it. An `OSError` if the kernel cannot do it: the program must not be started.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over")]
pub(crate) fn prepare_confinement(
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    network: bool,
) -> PyResult<(i32, Cow<'static, [u8]>)> {
    checked(|| {
        prepare(&read, &write, network)
            .map(|(rules, filter)| (rules.into_raw_fd(), Cow::Owned(filter)))
            .map_err(PyOSError::new_err)
    })
}

/// Rules for sockets alone, for a command in namespaces that has the network of the host: abstract
/// names of the host are out of its reach.
///
/// Returns their descriptor, which the caller closes; `None` if the kernel has no such rules.
#[pyfunction]
pub(crate) fn prepare_socket_scope() -> PyResult<Option<i32>> {
    checked(|| Ok(socket_scope().ok().map(IntoRawFd::into_raw_fd)))
}

/// What keeps `prepare_confinement` from working here; `None` if nothing does.
#[pyfunction]
pub(crate) fn confinement_problem() -> PyResult<Option<String>> {
    checked(|| Ok(probe().err()))
}

/// The seccomp filter for a command in namespaces of its own, as the kernel reads it.
#[pyfunction]
pub(crate) fn namespace_filter_instructions() -> PyResult<Cow<'static, [u8]>> {
    checked(|| {
        namespace_filter()
            .map(Cow::Owned)
            .map_err(PyOSError::new_err)
    })
}
