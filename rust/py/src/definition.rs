//! The bytes of tool definitions out of Python values.

use ethos_registry_core::definition::{JsonText, MAX_LEVELS, OutOfMemory, joined};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyBytesMethods, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::call;

/// The value as compact JSON in UTF-8, byte for byte as
/// `json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()` writes it.
///
/// Dicts and lists may be of subclasses; strings and numbers may not, since they could be written
/// as anything. `TypeError` for other values, `ValueError` for a number that JSON does not have, a
/// lone surrogate and more than 136 levels.
#[pyfunction]
pub(crate) fn json_bytes<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = call::checked(|| {
        let mut json = JsonText::default();
        write(&mut json, value, MAX_LEVELS)?;
        Ok(json.into_bytes())
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// The JSON array of items that are JSON already.
#[pyfunction]
#[pyo3(signature = (items: "list[bytes]"))]
pub(crate) fn join_json<'py>(
    py: Python<'py>,
    items: &Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = call::checked(|| {
        let items = items
            .iter()
            .map(|item| Ok(item.cast_into::<PyBytes>()?))
            .collect::<PyResult<Vec<_>>>()?;
        let parts: Vec<&[u8]> = items.iter().map(PyBytesMethods::as_bytes).collect();
        joined(&parts).map_err(memory_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

fn write(json: &mut JsonText, value: &Bound<'_, PyAny>, room: usize) -> PyResult<()> {
    if let Ok(text) = value.cast_exact::<PyString>() {
        return json.string(text.to_str()?).map_err(memory_error);
    }
    if let Ok(object) = value.cast::<PyDict>() {
        let room = inner(room)?;
        raw(json, "{")?;
        for (index, (name, item)) in object.iter().enumerate() {
            let Ok(name) = name.cast_exact::<PyString>() else {
                return Err(PyTypeError::new_err("the keys of an object are strings"));
            };
            if index > 0 {
                raw(json, ",")?;
            }
            json.string(name.to_str()?).map_err(memory_error)?;
            raw(json, ":")?;
            write(json, &item, room)?;
        }
        return raw(json, "}");
    }
    if let Ok(list) = value.cast::<PyList>() {
        let room = inner(room)?;
        raw(json, "[")?;
        for (index, item) in list.iter().enumerate() {
            if index > 0 {
                raw(json, ",")?;
            }
            write(json, &item, room)?;
        }
        return raw(json, "]");
    }
    if value.is_none() {
        return raw(json, "null");
    }
    if let Ok(flag) = value.cast_exact::<PyBool>() {
        return raw(json, if flag.is_true() { "true" } else { "false" });
    }
    if value.is_exact_instance_of::<PyInt>() {
        return raw(json, value.repr()?.to_str()?);
    }
    if let Ok(number) = value.cast_exact::<PyFloat>() {
        if !number.value().is_finite() {
            return Err(PyValueError::new_err("JSON has no infinity and no NaN"));
        }
        return raw(json, value.repr()?.to_str()?);
    }
    let kind = value.get_type();
    Err(PyTypeError::new_err(format!(
        "a {} is not a JSON value",
        kind.name()?
    )))
}

fn inner(room: usize) -> PyResult<usize> {
    room.checked_sub(1)
        .ok_or_else(|| PyValueError::new_err("the value is nested too deeply"))
}

fn raw(json: &mut JsonText, text: &str) -> PyResult<()> {
    json.raw(text).map_err(memory_error)
}

fn memory_error(error: OutOfMemory) -> PyErr {
    PyMemoryError::new_err(error.to_string())
}
