//! Logs, tracebacks and the tasks of runners.

pub(crate) mod ansible;
pub(crate) mod bazel;
pub(crate) mod buildkit;
pub(crate) mod log;
pub(crate) mod sessions;
pub(crate) mod stamped;
pub(crate) mod strace;
pub(crate) mod tasks;
pub(crate) mod traceback;
