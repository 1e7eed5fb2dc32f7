//! Whether two values are one and the same JSON.

use ethos_registry_core::schema::MAX_DEPTH;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString};

use crate::call;

/// More than anything has that is frozen: a definition is one level around a schema.
const MAX_LEVELS: usize = MAX_DEPTH + 2;

/// Whether `left` and `right` are written as the same bytes of JSON.
///
/// Unlike `==`: `1`, `1.0` and `True` are three values, `0.0` and `-0.0` are two, and the order of
/// keys counts. Dicts and lists may be of subclasses, strings and numbers may not: they could be
/// written as anything. Values nested deeper than 130 levels are not the same.
#[pyfunction]
pub(crate) fn same_json(left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>) -> PyResult<bool> {
    call::checked(|| same(left, right, MAX_LEVELS))
}

fn same(left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>, room: usize) -> PyResult<bool> {
    if left.is(right) {
        return Ok(true);
    }
    if let (Ok(left), Ok(right)) = (left.cast::<PyDict>(), right.cast::<PyDict>()) {
        if room == 0 || left.len() != right.len() {
            return Ok(false);
        }
        for ((name, value), (other_name, other)) in left.iter().zip(right.iter()) {
            let has_same_name = name.is(&other_name) || is_same_scalar(&name, &other_name)?;
            if !(has_same_name && same(&value, &other, room - 1)?) {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if let (Ok(left), Ok(right)) = (left.cast::<PyList>(), right.cast::<PyList>()) {
        if room == 0 || left.len() != right.len() {
            return Ok(false);
        }
        for (value, other) in left.iter().zip(right.iter()) {
            if !same(&value, &other, room - 1)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    is_same_scalar(left, right)
}

fn is_same_scalar(left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let (Ok(left), Ok(right)) = (left.cast_exact::<PyFloat>(), right.cast_exact::<PyFloat>()) {
        return Ok(left.value().to_bits() == right.value().to_bits());
    }
    let both_are_text =
        left.is_exact_instance_of::<PyString>() && right.is_exact_instance_of::<PyString>();
    let both_are_integers =
        left.is_exact_instance_of::<PyInt>() && right.is_exact_instance_of::<PyInt>();
    if both_are_text || both_are_integers {
        return left.eq(right);
    }
    Ok(false)
}
