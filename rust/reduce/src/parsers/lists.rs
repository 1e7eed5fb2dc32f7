//! Lists: files, packages, matches, tables.

pub(crate) mod grid;
pub(crate) mod install;
pub(crate) mod listing;
pub(crate) mod process;
pub(crate) mod search;
pub(crate) mod tally;
