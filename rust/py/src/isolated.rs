//! A tool's own copy of the arguments of its call.

use std::collections::HashMap;

use ethos_registry_core::schema::MAX_DEPTH;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::call;

/// A copy of the dicts and lists in `args`; other values, and levels below 128, are shared.
///
/// Instances of subclasses are shared too. What `args` contains twice, or within itself, is copied
/// once.
#[pyfunction]
pub(crate) fn isolated_arguments<'py>(args: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    call::checked(|| {
        if let Ok(dict) = args.cast_exact::<PyDict>()
            && !dict.iter().any(|(_, item)| is_nested(&item))
        {
            return Ok(dict.copy()?.into_any()); // the usual case
        }
        copied(args, MAX_DEPTH, &mut HashMap::new())
    })
}

fn is_nested(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyDict>() || value.is_exact_instance_of::<PyList>()
}

/// A copy of a dict or list; `seen` has the copies by the addresses of what they are copies of.
fn copied<'py>(
    value: &Bound<'py, PyAny>,
    levels: usize,
    seen: &mut HashMap<usize, Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if levels == 0 || !is_nested(value) {
        return Ok(value.clone());
    }
    let address = value.as_ptr().addr();
    if let Some(known) = seen.get(&address) {
        return Ok(known.clone());
    }
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        let copy = dict.copy()?;
        seen.insert(address, copy.clone().into_any());
        for (key, item) in dict.iter().filter(|(_, item)| is_nested(item)) {
            copy.set_item(key, copied(&item, levels - 1, seen)?)?;
        }
        return Ok(copy.into_any());
    }
    let list = value.cast_exact::<PyList>()?;
    let copy = list.get_slice(0, list.len());
    seen.insert(address, copy.clone().into_any());
    for (index, item) in list.iter().enumerate() {
        if is_nested(&item) {
            copy.set_item(index, copied(&item, levels - 1, seen)?)?;
        }
    }
    Ok(copy.into_any())
}
