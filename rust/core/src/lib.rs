//! The pure core of `ethos-registry`: text in, text out.
//!
//! No Python, no `unsafe`, no I/O, no clock and no panic path.

pub mod command;
pub mod reduce;
pub mod text;
pub mod trim;
