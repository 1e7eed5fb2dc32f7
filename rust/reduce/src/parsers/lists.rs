//! Lists: files, packages, matches, tables.

pub(crate) mod disassembly;
pub(crate) mod grid;
pub(crate) mod import_time;
pub(crate) mod install;
pub(crate) mod listing;
pub(crate) mod manual;
pub(crate) mod process;
pub(crate) mod rsync;
pub(crate) mod search;
pub(crate) mod tally;
pub(crate) mod terraform;
