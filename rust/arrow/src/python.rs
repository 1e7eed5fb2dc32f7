//! Columns out of Python objects and into capsules: the Arrow `PyCapsule` interface.

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::abi::ArrowArrayStream;
use crate::chunks::{Chunks, Column};
use crate::error::Error;
use crate::large_texts::LargeTexts;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

const STREAM_METHOD: &str = "__arrow_c_stream__";
const ARRAY_METHOD: &str = "__arrow_c_array__";

/// Whether an object offers a column.
///
/// # Errors
/// What looking at its attributes raises.
pub fn is_column(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr(STREAM_METHOD)? || object.hasattr(ARRAY_METHOD)?)
}

/// The chunks that an object offers, as a stream or as one array. `name` is its name in messages.
///
/// # Errors
/// `TypeError` for an object that offers none or another type, `ValueError` for one that was
/// consumed or is malformed, and what its methods raise.
pub fn chunks<C: Column>(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Chunks<C>> {
    let chunks = if object.hasattr(STREAM_METHOD)? {
        let stream = object.call_method0(STREAM_METHOD)?;
        let stream = pointer::<ArrowArrayStream>(&stream, STREAM, name)?;
        // SAFETY: a capsule of this name holds a stream of the Arrow C interface, which lives as
        // long as the capsule: until the end of this block.
        unsafe { Chunks::from_stream(stream) }
    } else if object.hasattr(ARRAY_METHOD)? {
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            pair(&object.call_method0(ARRAY_METHOD)?, name)?;
        let places = (
            pointer(&schema, SCHEMA, name)?,
            pointer(&array, ARRAY, name)?,
        );
        // SAFETY: capsules of these names hold a schema and its array of the Arrow C interface,
        // which live as long as the capsules: until the end of this block.
        unsafe { Chunks::from_array(places.0, places.1) }
    } else {
        let kind = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "`{name}` must offer `{STREAM_METHOD}` or `{ARRAY_METHOD}`, as a column of pyarrow, Polars or DuckDB does, got `{kind}`"
        )));
    };
    chunks.map_err(|error| raised(name, &error))
}

/// The exception for an error in the column of that name.
#[must_use]
pub fn raised(name: &str, error: &Error) -> PyErr {
    let message = format!("`{name}`: {error}");
    match error {
        Error::NoTexts(_) | Error::NoIntegers(_) => PyTypeError::new_err(message),
        Error::NoMemory => PyMemoryError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// The capsules of a schema and its array.
///
/// # Errors
/// No memory for the capsules.
pub fn array_capsules<'py>(
    py: Python<'py>,
    texts: &Arc<LargeTexts>,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    Ok((
        PyCapsule::new_with_value(py, LargeTexts::schema(), SCHEMA)?,
        PyCapsule::new_with_value(py, texts.array(), ARRAY)?,
    ))
}

/// The capsule of a stream.
///
/// # Errors
/// No memory for the capsule.
pub fn stream_capsule<'py>(
    py: Python<'py>,
    texts: &Arc<LargeTexts>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, texts.stream(), STREAM)
}

/// What an object offers as one array; `name` is its name in messages.
fn pair<'py>(
    given: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    given.extract().map_err(|error: PyErr| {
        PyTypeError::new_err(format!(
            "`{name}`: `{ARRAY_METHOD}` must give a pair of capsules: {error}"
        ))
    })
}

fn pointer<T>(object: &Bound<'_, PyAny>, title: &CStr, name: &str) -> PyResult<NonNull<T>> {
    let checked = || {
        let capsule = object.cast::<PyCapsule>()?;
        Ok::<_, PyErr>(capsule.pointer_checked(Some(title))?.cast::<T>())
    };
    let pointer = checked().map_err(|error| {
        PyTypeError::new_err(format!("`{name}` gives no capsule {title:?}: {error}"))
    })?;
    if pointer.is_aligned() {
        Ok(pointer)
    } else {
        Err(PyValueError::new_err(format!(
            "`{name}` gives a capsule with an unaligned struct"
        )))
    }
}
