//! The pipeline for terminal output: clean, recognise, reduce, check.

pub(crate) mod ablation;
pub(crate) mod asked;
pub(crate) mod binary;
pub(crate) mod cut_mark;
pub(crate) mod route;
pub(crate) mod sketch;
pub(crate) mod terminal;
