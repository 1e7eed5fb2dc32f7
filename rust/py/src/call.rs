//! The one choke point between Python and native work.
//!
//! A Rust panic would reach Python as a `BaseException` that escapes `except Exception` and tears
//! task groups down; here it becomes a value before it crosses.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// From this size on the GIL is released while native code works: below it, handing it over costs
/// more than the work.
const RELEASE_BYTES: usize = 256 * 1024;

/// Native code panicked; what it was doing is lost and nothing else is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

impl From<Panicked> for PyErr {
    fn from(Panicked: Panicked) -> Self {
        PyRuntimeError::new_err("the native core failed on this input; the input is unchanged")
    }
}

/// What `work` gives, or that it panicked.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    // Nothing that `work` changes is looked at after a panic: it owns or only reads its inputs.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}

/// What `work` gives; a panic becomes a `RuntimeError`.
pub(crate) fn checked<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    caught(work)?
}

/// What `work` gives; nothing when it fails in any way.
pub(crate) fn attempted<T>(work: impl FnOnce() -> PyResult<Option<T>>) -> Option<T> {
    caught(work).ok()?.ok()?
}

/// What `work` gives, worked on without the GIL when it is over `bytes` large enough for that.
pub(crate) fn released<T: Send>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> T {
    if bytes > RELEASE_BYTES {
        py.detach(work)
    } else {
        work()
    }
}
