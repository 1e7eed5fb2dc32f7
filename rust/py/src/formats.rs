//! Formats of outputs: registered for the process, listed, checked.

use ethos_registry_reduce::{self as reduce, Format, FormatError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call;

fn raised(error: &FormatError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The name and the commands of a format, the text of a `format.toml`.
///
/// Raises `ValueError` with one line that names the key, the value and the reason.
#[pyfunction]
#[pyo3(signature = (text) -> "tuple[str, list[str]]")]
pub(crate) fn check_format(text: &str) -> PyResult<(String, Vec<String>)> {
    call::checked(|| {
        let format = Format::read(text).map_err(|error| raised(&error))?;
        format.check().map_err(|error| raised(&error))?;
        Ok((format.name().to_owned(), format.commands()))
    })
}

/// Register a format, the text of a `format.toml`, for the whole process; its name and commands.
///
/// Raises `ValueError` as `check_format` does, and when the name is taken and `replace` is false.
#[pyfunction]
#[pyo3(signature = (text, replace) -> "tuple[str, list[str]]")]
pub(crate) fn register_format(text: &str, replace: bool) -> PyResult<(String, Vec<String>)> {
    call::checked(|| {
        let format = Format::read(text).map_err(|error| raised(&error))?;
        let known = (format.name().to_owned(), format.commands());
        reduce::register(format, replace).map_err(|error| raised(&error))?;
        Ok(known)
    })
}

/// Remove the registered format of that name; whether there was one.
#[pyfunction]
#[pyo3(signature = (name) -> "bool")]
pub(crate) fn unregister_format(name: &str) -> PyResult<bool> {
    call::checked(|| Ok(reduce::unregister(name)))
}

/// The names and commands of the registered formats, the newest first.
#[pyfunction]
#[pyo3(signature = () -> "list[tuple[str, list[str]]]")]
pub(crate) fn registered_formats() -> PyResult<Vec<(String, Vec<String>)>> {
    call::checked(|| {
        let all = reduce::registered();
        Ok(all
            .iter()
            .map(|format| (format.name().to_owned(), format.commands()))
            .collect())
    })
}

/// The names and the content of the formats of the package.
#[pyfunction]
#[pyo3(signature = () -> "list[tuple[str, str]]")]
pub(crate) fn built_in_formats() -> PyResult<Vec<(&'static str, &'static str)>> {
    call::checked(|| Ok(reduce::built_in_formats().collect()))
}

/// The name of the first registered format that classifies lines of an output of a terminal; `None` without one.
#[pyfunction]
#[pyo3(signature = (text, command=None) -> "str | None")]
pub(crate) fn format_of(text: &str, command: Option<&str>) -> PyResult<Option<String>> {
    call::checked(|| Ok(reduce::registered_name(text, command)))
}
