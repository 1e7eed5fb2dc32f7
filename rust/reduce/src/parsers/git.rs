//! Git.

pub(crate) mod diff;
pub(crate) mod git_action;
pub(crate) mod git_blame;
pub(crate) mod git_log;
pub(crate) mod git_status;
