//! How many reasons there could be: references may lead to one and the same place on
//! exponentially many ways, and the library follows each when it states why.

use serde_json::{Map, Value};

use super::children;
use super::stack::Chains;

/// How often a schema may visit a place of the value on average.
const VISITS: usize = 4;
/// What is allowed whatever the sizes, and what is not.
const FREE_VISITS: usize = 4096;
const MAX_VISITS: usize = 1 << 20;

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
        if !follow(fields, schema, value, &mut pending) {
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

/// Adds where the keywords of one schema lead; whether that is known.
fn follow<'a>(
    fields: &'a Map<String, Value>,
    root: &'a Value,
    value: &'a Value,
    pending: &mut Vec<(&'a Value, &'a Value)>,
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
