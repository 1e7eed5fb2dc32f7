//! Divides output of several programs into parts.

pub(crate) mod part;
pub(crate) mod several;
