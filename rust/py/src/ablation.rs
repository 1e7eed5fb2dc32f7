//! What a family of reducers earns: the same input reduced without it.

use ethos_registry_reduce::{self as reduce, Kind, Request};
use pyo3::prelude::*;

use crate::call;

/// The names of the families of reducers, for measurements.
#[pyfunction]
pub(crate) fn reducer_families() -> Vec<&'static str> {
    reduce::family_names().collect()
}

/// `text` reduced without the families named in `left_out`, the family that did it and the names of the families
/// that the result depends on, for measurements. The text is `None` if it stays as it is.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "an argument from Python is owned"
)]
#[pyo3(signature = (left_out, text, command=None, exit_code=None))]
pub(crate) fn reduce_without(
    left_out: Vec<String>,
    text: &str,
    command: Option<&str>,
    exit_code: Option<i64>,
) -> PyResult<(Option<String>, Option<&'static str>, Vec<&'static str>)> {
    let request = Request::of_output(command, exit_code);
    let reduced = || reduce::reduce_without(&left_out, Kind::Terminal, &request, text);
    let (made, consulted) = call::caught(reduced)?;
    let (reduced, family) = made.map_or((None, None), |(text, family)| (Some(text), family));
    Ok((reduced, family, consulted))
}
