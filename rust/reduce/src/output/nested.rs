//! How a part of an output is reduced like a separate output.

use super::Output;
use crate::input::Input;

/// Functions that reduce a part of an output like a separate output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nested {
    /// Writes the reduction by the first family that recognises the input, except the runner with this name.
    pub(crate) reduce: fn(&Input<'_>, &'static str, &mut Output) -> Option<Told>,
    /// The name of the first family that recognises the input.
    pub(crate) family: fn(&Input<'_>) -> Option<&'static str>,
}

/// The result of writing a part.
pub(crate) struct Told {
    /// Whether the part reports a failure.
    pub(crate) failure: bool,
}
