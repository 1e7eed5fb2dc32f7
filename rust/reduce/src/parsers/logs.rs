//! Logs, tracebacks and the tasks of runners.

pub(crate) mod ansible;
pub(crate) mod buildkit;
pub(crate) mod log;
pub(crate) mod sessions;
pub(crate) mod stamped;
pub(crate) mod tasks;
pub(crate) mod traceback;
