//! Python values as the schema library looks at them: in place, nothing copied that is only read.

mod number;
mod parts;

use std::borrow::Cow;

use ethos_registry_core::schema::{Instances, MAX_DEPTH};
use jsonschema::JsonType;
use jsonschema::json::{Json, Node, NodeIdentity, SerdeJson, cmp};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use serde_json::Value;

use self::number::PlaceNumber;
use self::parts::{Fields, Items};
use crate::json::json;

/// Values of two kinds: plain Python objects, and what was turned into JSON because it is not one.
pub(crate) struct Instance;

/// One value.
#[derive(Clone)]
pub(crate) enum Place<'a> {
    /// A plain object: [`plain`] has looked at it and all it holds.
    Object(Bound<'a, PyAny>),
    /// JSON.
    Value(&'a Value),
}

/// `value` to look at in place, and how many levels of lists and dicts it has.
///
/// Nothing where it is nested too deeply or holds anything else than JSON made of `str`, `int` of 64
/// bits, finite `float`, `bool`, `None`, `dict` and `list` themselves: these run no code of their own
/// when they are read.
pub(crate) fn plain<'a>(value: &Bound<'a, PyAny>) -> Option<(Place<'a>, usize)> {
    let depth = levels(value, MAX_DEPTH)?;
    Some((Place::Object(value.clone()), depth))
}

fn levels(value: &Bound<'_, PyAny>, room: usize) -> Option<usize> {
    if let Ok(text) = value.cast_exact::<PyString>() {
        return text.to_str().is_ok().then_some(0);
    }
    if value.is_none() || value.is_exact_instance_of::<PyBool>() {
        return Some(0);
    }
    if let Ok(integer) = value.cast_exact::<PyInt>() {
        return integer.extract::<i64>().is_ok().then_some(0);
    }
    if let Ok(float) = value.cast_exact::<PyFloat>() {
        return float.value().is_finite().then_some(0);
    }
    let room = room.checked_sub(1)?;
    let mut deepest = 0;
    if let Ok(fields) = value.cast_exact::<PyDict>() {
        for (key, value) in fields {
            key.cast_exact::<PyString>().ok()?.to_str().ok()?;
            deepest = deepest.max(levels(&value, room)?);
        }
    } else {
        for item in value.cast_exact::<PyList>().ok()? {
            deepest = deepest.max(levels(&item, room)?);
        }
    }
    Some(deepest + 1)
}

impl Instances for Instance {
    fn of(value: &Value) -> Place<'_> {
        Place::Value(value)
    }
}

impl Json for Instance {
    type Node<'a> = Place<'a>;
    type PreparedKey = Key;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> Key {
        Key {
            text: key.to_owned(),
            object: PyOnceLock::new(),
        }
    }

    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        work: impl FnOnce(Place<'_>) -> T,
    ) -> T {
        SerdeJson::with_string_node(buffer, string, |value| work(Place::Value(value)))
    }
}

/// A name in the schema; its Python object is made when it is first looked up in a dict.
pub(crate) struct Key {
    text: String,
    object: PyOnceLock<Py<PyString>>,
}

impl<'a> Node<'a, Instance> for Place<'a> {
    type Object = Fields<'a>;
    type Array = Items<'a>;
    type Number = PlaceNumber<'a>;

    fn as_object(&self) -> Option<Fields<'a>> {
        match self {
            Self::Object(object) => {
                let fields = object.cast_exact::<PyDict>().ok()?;
                Some(Fields::Object(fields.clone()))
            }
            Self::Value(value) => Node::<SerdeJson>::as_object(value).map(Fields::Value),
        }
    }

    fn as_array(&self) -> Option<Items<'a>> {
        match self {
            Self::Object(object) => {
                let items = object.cast_exact::<PyList>().ok()?;
                Some(Items::Object(items.clone()))
            }
            Self::Value(value) => Node::<SerdeJson>::as_array(value).map(Items::Value),
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Object(object) => {
                let text = object.cast_exact::<PyString>().ok()?.to_str().ok()?;
                Some(Cow::Owned(text.to_owned()))
            }
            Self::Value(value) => Node::<SerdeJson>::as_string(value),
        }
    }

    fn as_number(&self) -> Option<PlaceNumber<'a>> {
        match self {
            Self::Object(object) => {
                if let Ok(integer) = object.cast_exact::<PyInt>() {
                    return integer.extract().ok().map(PlaceNumber::Integer);
                }
                let float = object.cast_exact::<PyFloat>().ok()?;
                Some(PlaceNumber::Float(float.value()))
            }
            Self::Value(value) => Node::<SerdeJson>::as_number(value).map(PlaceNumber::Value),
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Self::Object(object) => Some(object.cast_exact::<PyBool>().ok()?.is_true()),
            Self::Value(value) => Node::<SerdeJson>::as_boolean(value),
        }
    }

    fn is_null(&self) -> bool {
        match self {
            Self::Object(object) => object.is_none(),
            Self::Value(value) => value.is_null(),
        }
    }

    fn is_number(&self) -> bool {
        self.json_type() == JsonType::Number
    }

    fn json_type(&self) -> JsonType {
        match self {
            Self::Object(object) => json_type(object),
            Self::Value(value) => Node::<SerdeJson>::json_type(value),
        }
    }

    fn string_length(&self) -> Option<u64> {
        match self {
            Self::Object(object) => {
                let text = object.cast_exact::<PyString>().ok()?;
                text.len().ok().and_then(|chars| chars.try_into().ok())
            }
            Self::Value(value) => Node::<SerdeJson>::string_length(value),
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match (self, expected) {
            (Self::Object(object), Value::String(expected)) => object
                .cast_exact::<PyString>()
                .is_ok_and(|text| text.to_str().is_ok_and(|text| text == expected)),
            _ => cmp::equal(&self.to_value(), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        match self {
            Self::Object(object) => Cow::Owned(json(object).unwrap_or(Value::Null)),
            Self::Value(value) => Cow::Borrowed(value),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        match self {
            // The arguments hold all they lead to while they are looked at.
            Self::Object(object) => Some(NodeIdentity::new(object.as_ptr() as usize)),
            Self::Value(value) => Node::<SerdeJson>::identity(value),
        }
    }
}

fn json_type(object: &Bound<'_, PyAny>) -> JsonType {
    if object.is_exact_instance_of::<PyString>() {
        JsonType::String
    } else if object.is_exact_instance_of::<PyInt>() || object.is_exact_instance_of::<PyFloat>() {
        JsonType::Number
    } else if object.is_exact_instance_of::<PyBool>() {
        JsonType::Boolean
    } else if object.is_none() {
        JsonType::Null
    } else if object.is_exact_instance_of::<PyList>() {
        JsonType::Array
    } else {
        JsonType::Object
    }
}
