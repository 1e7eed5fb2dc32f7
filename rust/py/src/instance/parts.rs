//! What objects and lists of either kind hold.

use std::borrow::Cow;

use jsonschema::json::{Array, Object};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::Value;

use super::distinct::Distinct;
use super::{Instance, Key, Place, effort};

/// The fields of an object.
pub(crate) enum Fields<'a> {
    Object(Bound<'a, PyDict>),
    Value(&'a serde_json::Map<String, Value>),
}

/// Names and values, one by one.
pub(crate) enum Members<'a> {
    Object(<Bound<'a, PyDict> as IntoIterator>::IntoIter),
    Value(serde_json::map::Iter<'a>),
}

/// A name, read where it is.
pub(crate) enum Name<'a> {
    Object(Bound<'a, PyAny>),
    Value(&'a str),
}

impl<'a> Object<'a, Instance> for Fields<'a> {
    type Node = Place<'a>;
    type MemberName = Name<'a>;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        match self {
            Self::Object(fields) => fields.len(),
            Self::Value(fields) => fields.len(),
        }
    }

    fn get(&self, key: &Key) -> Option<Place<'a>> {
        if !effort::look(0) {
            return None;
        }
        match self {
            Self::Object(fields) => {
                let py = fields.py();
                let name = key
                    .object
                    .get_or_init(py, || PyString::intern(py, &key.text).unbind());
                fields.get_item(name).ok().flatten().map(Place::Object)
            }
            Self::Value(fields) => fields.get(&key.text).map(Place::Value),
        }
    }

    fn members(&self) -> Members<'a> {
        match self {
            Self::Object(fields) => Members::Object(fields.iter()),
            Self::Value(fields) => Members::Value(fields.iter()),
        }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Name<'a>, Place<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if !effort::look(0) {
            return None;
        }
        match self {
            Self::Object(fields) => fields
                .next()
                .map(|(key, value)| (Name::Object(key), Place::Object(value))),
            Self::Value(fields) => fields
                .next()
                .map(|(key, value)| (Name::Value(key), Place::Value(value))),
        }
    }
}

impl AsRef<str> for Name<'_> {
    fn as_ref(&self) -> &str {
        let name = match self {
            Self::Object(name) => name
                .cast_exact::<PyString>()
                .map_or("", |name| name.to_str().unwrap_or_default()),
            Self::Value(name) => name,
        };
        effort::look(effort::NAME);
        effort::compare(name);
        name
    }
}

impl<'a> From<Name<'a>> for Cow<'a, str> {
    fn from(name: Name<'a>) -> Self {
        match name {
            Name::Object(_) => Cow::Owned(name.as_ref().to_owned()),
            Name::Value(name) => Cow::Borrowed(name),
        }
    }
}

/// The items of a list.
pub(crate) enum Items<'a> {
    Object(Bound<'a, PyList>),
    Value(&'a [Value]),
}

/// Items, one by one.
pub(crate) enum Elements<'a> {
    Object(<Bound<'a, PyList> as IntoIterator>::IntoIter),
    Value(std::slice::Iter<'a, Value>),
}

impl<'a> Array<'a, Instance> for Items<'a> {
    type Node = Place<'a>;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        let items = match self {
            Self::Object(items) => items.len(),
            Self::Value(items) => items.len(),
        };
        // The library marks as many items as evaluated.
        if effort::look(items / effort::MARKS) {
            return items;
        }
        0
    }

    fn elements(&self) -> Elements<'a> {
        match self {
            Self::Object(items) => Elements::Object(items.iter()),
            Self::Value(items) => Elements::Value(items.iter()),
        }
    }

    fn is_unique(&self) -> bool {
        let mut seen = Distinct::default();
        self.elements().all(|item| seen.insert(&item.copied()))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Place<'a>;

    fn next(&mut self) -> Option<Place<'a>> {
        if !effort::look(0) {
            return None;
        }
        match self {
            Self::Object(items) => items.next().map(Place::Object),
            Self::Value(items) => items.next().map(Place::Value),
        }
    }
}
