//! Rows made from several lines: names under their folder, repeated lines, reports.

pub(crate) mod fold;
pub(crate) mod names;
pub(crate) mod report;
pub(crate) mod unknown;
