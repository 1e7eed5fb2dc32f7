//! Rows of many lines: names under their folder, lines that repeat, reports.

pub(crate) mod fold;
pub(crate) mod names;
pub(crate) mod report;
pub(crate) mod unknown;
