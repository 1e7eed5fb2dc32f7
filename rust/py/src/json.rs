//! Python values as JSON, in one pass.

use ethos_registry_core::schema::{MAX_DEPTH, Step};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// Longer integers are refused: Python's own limit is 4,300 digits, and showing them takes
/// quadratic time.
const MAX_INTEGER_BITS: usize = 14_000;

/// Why a value is not JSON; the name is in for a schema's keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Something else than a mapping, list, tuple, string, number, boolean or `None`.
    Kind,
    /// A key that is not a string.
    Key,
    /// NaN or an infinity.
    NotFinite,
    /// An integer of more than about 4,200 digits.
    TooLarge,
    /// A lone surrogate.
    Surrogate,
    /// More levels than `MAX_DEPTH`.
    TooDeep,
}

impl Fault {
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Self::Kind => "json",
            Self::Key => "key",
            Self::NotFinite => "finite",
            Self::TooLarge => "large",
            Self::Surrogate => "surrogate",
            Self::TooDeep => "depth",
        }
    }
}

/// Where a value is not JSON, and why.
pub(crate) struct NotJson {
    pub(crate) fault: Fault,
    /// The steps to it, the last one first.
    reversed_path: Vec<Step>,
}

impl NotJson {
    fn at(mut self, step: Step) -> Self {
        self.reversed_path.push(step);
        self
    }

    pub(crate) fn into_path(mut self) -> Vec<Step> {
        self.reversed_path.reverse();
        self.reversed_path
    }
}

impl From<Fault> for NotJson {
    fn from(fault: Fault) -> Self {
        Self {
            fault,
            reversed_path: Vec::new(),
        }
    }
}

/// `value` as JSON; nothing of it is coerced.
pub(crate) fn json(value: &Bound<'_, PyAny>) -> Result<Value, NotJson> {
    nested(value, MAX_DEPTH)
}

fn nested(value: &Bound<'_, PyAny>, depth: usize) -> Result<Value, NotJson> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text_of(text)?));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    // Before the integers: in Python a boolean is one.
    if let Ok(boolean) = value.cast::<PyBool>() {
        return Ok(Value::Bool(boolean.is_true()));
    }
    if let Ok(integer) = value.cast::<PyInt>() {
        return integer_of(integer);
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        let number = Number::from_f64(float.value()).ok_or(Fault::NotFinite)?;
        return Ok(Value::Number(number));
    }
    // From here on it may hold other values.
    let deeper = depth.checked_sub(1).ok_or(Fault::TooDeep);
    if let Ok(fields) = value.cast::<PyDict>() {
        return object(fields.iter().map(Ok), deeper?);
    }
    if let Ok(items) = value.cast::<PyList>() {
        return list(items.iter(), deeper?);
    }
    if let Ok(items) = value.cast::<PyTuple>() {
        return list(items.iter(), deeper?);
    }
    if let Ok(fields) = value.cast::<PyMapping>() {
        let items = fields.items().map_err(|_| Fault::Kind)?;
        return object(items.iter().map(|item| item.extract()), deeper?);
    }
    Err(Fault::Kind.into())
}

fn object<'py>(
    fields: impl Iterator<Item = PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)>>,
    depth: usize,
) -> Result<Value, NotJson> {
    let mut object = Map::new();
    for field in fields {
        let (key, value) = field.map_err(|_| Fault::Kind)?;
        let key = text_of(key.cast::<PyString>().map_err(|_| Fault::Key)?)?;
        match nested(&value, depth) {
            Ok(value) => object.insert(key, value),
            Err(fault) => return Err(fault.at(Step::Key(key))),
        };
    }
    Ok(Value::Object(object))
}

fn list<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
) -> Result<Value, NotJson> {
    let items = items
        .enumerate()
        .map(|(index, item)| nested(&item, depth).map_err(|fault| fault.at(Step::Index(index))));
    Ok(Value::Array(items.collect::<Result<_, _>>()?))
}

fn text_of(text: &Bound<'_, PyString>) -> Result<String, Fault> {
    let text = text.to_cow().map_err(|_| Fault::Surrogate)?;
    Ok(text.into_owned())
}

fn integer_of(integer: &Bound<'_, PyInt>) -> Result<Value, NotJson> {
    if let Ok(small) = integer.extract::<i64>() {
        return Ok(Value::from(small));
    }
    Ok(Value::Number(large(integer).ok_or(Fault::TooLarge)?))
}

/// An integer beyond 64 bits; nothing where it is beyond all measure.
fn large(integer: &Bound<'_, PyInt>) -> Option<Number> {
    let py = integer.py();
    let class = py.get_type::<PyInt>();
    let bits = class
        .call_method1(intern!(py, "bit_length"), (integer,))
        .ok()?;
    if bits.extract::<usize>().ok()? > MAX_INTEGER_BITS {
        return None;
    }
    // Of `int` itself: a subclass may write itself otherwise.
    let digits = class
        .call_method1(intern!(py, "__repr__"), (integer,))
        .ok()?;
    digits.cast::<PyString>().ok()?.to_str().ok()?.parse().ok()
}
