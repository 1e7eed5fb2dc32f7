//! Python values as the schema library looks at them: in place, nothing copied that is only read.

mod distinct;
pub(crate) mod effort;
mod number;
mod parts;

use std::borrow::Cow;

use ethos_registry_core::schema::{Instances, MAX_DEPTH};
use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson, cmp};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use serde_json::Value;

use self::number::PlaceNumber;
use self::parts::{Fields, Items, Name};
use crate::json::json;

impl Place<'_> {
    /// A copy as JSON.
    fn copied(&self) -> Value {
        let value = match self {
            Self::Object(object) => json(object).unwrap_or(Value::Null),
            Self::Value(value) => (*value).clone(),
        };
        effort::look(effort::COPY * effort::places(&value));
        value
    }
}

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

/// `value` to look at in place, how many levels of lists and dicts it has, and how many places.
///
/// Nothing where it is nested too deeply or holds anything else than JSON made of `str`, `int` of 64
/// bits, finite `float`, `bool`, `None`, `dict` and `list` themselves: these run no code of their own
/// when they are read.
pub(crate) fn plain<'a>(value: &Bound<'a, PyAny>) -> Option<(Place<'a>, usize, usize)> {
    let mut places = 0;
    let depth = levels(value, MAX_DEPTH, &mut places)?;
    Some((Place::Object(value.clone()), depth, places))
}

fn levels(value: &Bound<'_, PyAny>, room: usize, places: &mut usize) -> Option<usize> {
    *places += 1;
    if let Ok(text) = value.cast_exact::<PyString>() {
        *places += effort::of_text(text.to_str().ok()?);
        return Some(0);
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
            *places += effort::of_text(key.cast_exact::<PyString>().ok()?.to_str().ok()?);
            deepest = deepest.max(levels(&value, room, places)?);
        }
    } else {
        for item in value.cast_exact::<PyList>().ok()? {
            deepest = deepest.max(levels(&item, room, places)?);
        }
    }
    Some(deepest + 1)
}

impl Instances for Instance {
    fn of(value: &Value) -> Place<'_> {
        Place::Value(value)
    }

    fn left() -> usize {
        effort::left()
    }

    fn set_left(left: usize) {
        effort::set_left(left);
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
        if !effort::look(0) {
            return None;
        }
        match self {
            Self::Object(object) => {
                let fields = object.cast_exact::<PyDict>().ok()?;
                Some(Fields::Object(fields.clone()))
            }
            Self::Value(value) => Node::<SerdeJson>::as_object(value).map(Fields::Value),
        }
    }

    fn as_array(&self) -> Option<Items<'a>> {
        if !effort::look(0) {
            return None;
        }
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
                effort::compare(text).then(|| Cow::Owned(text.to_owned()))
            }
            Self::Value(value) => {
                let text = value.as_str()?;
                effort::compare(text).then_some(Cow::Borrowed(text))
            }
        }
    }

    fn as_number(&self) -> Option<PlaceNumber<'a>> {
        if !effort::look(0) {
            return None;
        }
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
        if !effort::look(0) {
            return None;
        }
        match self {
            Self::Object(object) => Some(object.cast_exact::<PyBool>().ok()?.is_true()),
            Self::Value(value) => Node::<SerdeJson>::as_boolean(value),
        }
    }

    fn is_null(&self) -> bool {
        effort::look(0)
            && match self {
                Self::Object(object) => object.is_none(),
                Self::Value(value) => value.is_null(),
            }
    }

    fn is_number(&self) -> bool {
        self.json_type() == JsonType::Number
    }

    fn json_type(&self) -> JsonType {
        if !effort::look(0) {
            return JsonType::Null;
        }
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
            Self::Value(value) => {
                effort::look(effort::of_text(value.as_str()?));
                Node::<SerdeJson>::string_length(value)
            }
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match (self, expected) {
            (Self::Object(object), Value::String(expected)) => {
                effort::look(0)
                    && object
                        .cast_exact::<PyString>()
                        .is_ok_and(|text| text.to_str().is_ok_and(|text| text == expected))
            }
            (Self::Value(Value::String(text)), Value::String(expected)) => {
                effort::look(0) && text == expected
            }
            (_, Value::Array(expected)) => self.as_array().is_some_and(|items| {
                let mut both = items.elements().zip(expected);
                items.len() == expected.len() && both.all(|(item, one)| item.equals_value(one))
            }),
            (_, Value::Object(expected)) => self.as_object().is_some_and(|fields| {
                let is_same = |(name, value): (Name<'a>, Self)| {
                    let one = expected.get(name.as_ref());
                    one.is_some_and(|one| value.equals_value(one))
                };
                fields.len() == expected.len() && fields.members().all(is_same)
            }),
            (_, Value::Number(expected)) => self.as_number().is_some_and(|number| {
                effort::look(effort::NUMBERS) && cmp::equal_numbers(&number, expected)
            }),
            (_, Value::Bool(expected)) => self.as_boolean() == Some(*expected),
            (_, Value::Null) => self.is_null(),
            _ => false,
        }
    }

    /// For the library's errors alone, which it copies: of what is in them only names are read.
    fn to_value(&self) -> Cow<'a, Value> {
        effort::look(effort::REPORT);
        match self {
            Self::Value(name @ Value::String(text)) if effort::look(effort::of_text(text)) => {
                Cow::Borrowed(name)
            }
            _ => Cow::Owned(Value::Null),
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
