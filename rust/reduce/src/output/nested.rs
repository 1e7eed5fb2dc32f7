//! How a part of an output is reduced as an output of its own.

use super::Output;
use crate::input::Input;

/// How a part is reduced as an output of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nested {
    /// Writes what the first family that knows the input makes of it, but for the runner of that name.
    pub(crate) reduce: fn(&Input<'_>, &'static str, &mut Output) -> Option<Told>,
    /// The name of the first family that knows the input.
    pub(crate) family: fn(&Input<'_>) -> Option<&'static str>,
}

/// A part was written.
pub(crate) struct Told {
    /// Whether it was about a failure.
    pub(crate) failure: bool,
}
