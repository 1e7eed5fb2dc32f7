//! Faults of JSON inputs that a parser lets pass.

use ethos_registry_core::json_text::first_fault;
use pyo3::prelude::*;

/// What is wrong with `text`, which a parser took for JSON: `(reason, line, column)`, both counted
/// from 1 in characters; `None` for nothing.
///
/// A key that appears twice in one object, however it is spelt; more than 128 levels; a number with a
/// fraction or an exponent that is larger than every float. `text` holds no lone surrogate.
#[pyfunction]
pub(crate) fn json_fault(text: &str) -> Option<(String, usize, usize)> {
    first_fault(text).map(|at| (at.fault.to_string(), at.line, at.column))
}
