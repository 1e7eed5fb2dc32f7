//! How much work a schema can be: references may lead to one and the same place on exponentially
//! many ways, and the library follows each when it validates and when it states why.

use std::collections::HashMap;
use std::ptr;

use serde_json::{Map, Value};

use super::children;
use super::stack::Chains;

/// How often a schema may visit a place of the value on average.
const VISITS: usize = 4;
/// What is allowed whatever the sizes, and what is not.
const FREE_VISITS: usize = 4096;
const MAX_VISITS: usize = 1 << 20;
/// How many references may follow each other.
const MAX_REFERENCES: usize = 2048;

/// Whether `schema` refers to anything.
pub(super) fn refers(schema: &Value) -> bool {
    let mut pending = vec![schema];
    while let Some(schema) = pending.pop() {
        if let Value::Object(fields) = schema
            && fields.keys().any(|name| is_reference(name))
        {
            return true;
        }
        pending.extend(children(schema));
    }
    false
}

fn is_reference(name: &str) -> bool {
    matches!(name, "$ref" | "$dynamicRef" | "$recursiveRef")
}

/// Whether to look for all reasons why `value` does not match `schema` takes little.
pub(super) fn is_small(schema: &Value, value: &Value, chains: Chains) -> bool {
    let linear = chains.longest().saturating_mul(VISITS * places(value));
    let mut left = linear.saturating_add(FREE_VISITS).min(MAX_VISITS);
    let mut pending = vec![(schema, value)];
    while let Some((at, value)) = pending.pop() {
        let Value::Object(fields) = at else { continue };
        let before = pending.len();
        if !follow(fields, schema, value, &mut pending, before + left) {
            return false;
        }
        left = left.saturating_sub(pending.len() - before);
        if left == 0 {
            return false;
        }
    }
    true
}

fn places(value: &Value) -> usize {
    let mut pending = vec![value];
    let mut places = 0;
    while let Some(value) = pending.pop() {
        places += 1;
        pending.extend(children(value));
    }
    places
}

/// Adds where the keywords of one schema lead; whether that is known and not more than `most`.
fn follow<'a>(
    fields: &'a Map<String, Value>,
    root: &'a Value,
    value: &'a Value,
    pending: &mut Vec<(&'a Value, &'a Value)>,
    most: usize,
) -> bool {
    for (keyword, inner) in fields {
        match keyword.as_str() {
            "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "dependencies" => {
                pending.extend(children(inner).map(|schema| (schema, value)));
            }
            "if" | "then" | "else" | "not" => pending.push((inner, value)),
            "properties" => {
                if let (Value::Object(inner), Value::Object(value)) = (inner, value) {
                    let both = inner
                        .iter()
                        .filter_map(|(name, schema)| value.get(name).map(|value| (schema, value)));
                    pending.extend(both);
                }
            }
            "patternProperties" => {
                for schema in children(inner) {
                    pending.extend(children(value).map(|value| (schema, value)));
                    if pending.len() > most {
                        return false;
                    }
                }
            }
            "items" | "prefixItems" if inner.is_array() => {
                pending.extend(children(inner).zip(children(value)));
            }
            "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains" => {
                pending.extend(children(value).map(|value| (inner, value)));
            }
            "$ref" => match inner.as_str().and_then(|to| to.strip_prefix('#')) {
                Some(pointer) => match root.pointer(pointer) {
                    Some(schema) => pending.push((schema, value)),
                    None => return false,
                },
                None => return false,
            },
            "$dynamicRef" | "$recursiveRef" => return false,
            _ => {}
        }
    }
    true
}

/// Whether few schemas look at one place of a value, however deep it is.
pub(super) fn is_bounded(schema: &Value) -> bool {
    let mut ways = Ways::of(schema);
    ways.through(schema, 0) <= MAX_VISITS
}

/// How many schemas each schema leads to on the way to one place.
///
/// A reference back to a schema that is being counted is one: the library remembers its result.
struct Ways<'a> {
    counted: HashMap<*const Value, usize>,
    documents: Vec<&'a Value>,
    anchors: HashMap<&'a str, Vec<&'a Value>>,
}

impl<'a> Ways<'a> {
    fn of(root: &'a Value) -> Self {
        let mut documents = vec![root];
        let mut anchors: HashMap<&str, Vec<&Value>> = HashMap::new();
        let mut pending = vec![root];
        while let Some(schema) = pending.pop() {
            if schema.get("$id").is_some() {
                documents.push(schema);
            }
            for name in ["$anchor", "$dynamicAnchor"] {
                if let Some(anchor) = schema.get(name).and_then(Value::as_str) {
                    anchors.entry(anchor).or_default().push(schema);
                }
            }
            pending.extend(children(schema));
        }
        Self {
            counted: HashMap::new(),
            documents,
            anchors,
        }
    }

    fn through(&mut self, schema: &'a Value, references: usize) -> usize {
        let Value::Object(fields) = schema else {
            return 1;
        };
        if references > MAX_REFERENCES {
            return usize::MAX;
        }
        let key = ptr::from_ref(schema);
        if let Some(ways) = self.counted.get(&key) {
            return *ways;
        }
        self.counted.insert(key, 1);
        let mut ways: usize = 1;
        let mut widest = 0;
        for (keyword, inner) in fields {
            match keyword.as_str() {
                // Each of these looks at another place.
                "properties" | "prefixItems" => {
                    widest = self.widest(inner, references).max(widest);
                }
                "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "dependencies"
                | "patternProperties" => {
                    for schema in children(inner) {
                        ways = ways.saturating_add(self.through(schema, references));
                    }
                }
                "items" if inner.is_array() => {
                    widest = self.widest(inner, references).max(widest);
                }
                "if"
                | "then"
                | "else"
                | "not"
                | "propertyNames"
                | "items"
                | "additionalItems"
                | "additionalProperties"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "contains" => ways = ways.saturating_add(self.through(inner, references)),
                name if is_reference(name) => {
                    let targets = inner.as_str().map(|to| self.targets(to));
                    let counts = targets.into_iter().flatten();
                    let most = counts
                        .map(|target| self.through(target, references + 1))
                        .max();
                    ways = ways.saturating_add(most.unwrap_or(0));
                }
                _ => {}
            }
        }
        ways = ways.saturating_add(widest);
        self.counted.insert(key, ways);
        ways
    }

    fn widest(&mut self, schemas: &'a Value, references: usize) -> usize {
        let counts = children(schemas).map(|schema| self.through(schema, references));
        counts.max().unwrap_or(0)
    }

    /// What a reference may lead to, in whichever document it is.
    fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.anchors.get(fragment).cloned().unwrap_or_default();
        }
        let pointer = decoded(fragment);
        let named = |schema: &&&Value| match schema.get("$id").and_then(Value::as_str) {
            Some(name) => name.trim_end_matches('#').ends_with(document),
            None => document.is_empty(),
        };
        let documents = self.documents.iter().filter(named);
        documents
            .filter_map(|schema| schema.pointer(&pointer))
            .collect()
    }
}

/// A fragment without its percent signs.
fn decoded(fragment: &str) -> String {
    let mut parts = fragment.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        match (code, part.get(2..)) {
            (Some(byte), Some(rest)) => {
                bytes.push(byte);
                bytes.extend_from_slice(rest.as_bytes());
            }
            _ => bytes.extend_from_slice(part.as_bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
