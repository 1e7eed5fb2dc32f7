//! One module a family of outputs.

pub(crate) mod data;
pub(crate) mod findings;
pub(crate) mod git;
pub(crate) mod lists;
pub(crate) mod logs;
pub(crate) mod tests;
