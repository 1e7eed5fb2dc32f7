//! What several programs gave one after the other, and parts of outputs.

pub(crate) mod part;
pub(crate) mod several;
