//! Reads a JSON document item by item, so that no more than one of them is built at a time.

use serde_json::{Map, Value};

use super::{PATH_KEYS, Read, string};

/// Reads all findings of a list or an object; `None` when the text is not one.
pub(super) fn document(text: &str) -> Option<Read> {
    let mut read = Read::default();
    let rest = match text.strip_prefix('{') {
        Some(fields) => object(fields, &mut read)?,
        None => list(text.strip_prefix('[')?, "", &mut read)?,
    };
    rest.is_empty().then_some(read)
}

/// Reads the fields of an object; what follows it. Items of a list leave an empty list.
fn object<'t>(text: &'t str, read: &mut Read) -> Option<&'t str> {
    let mut object = Map::new();
    let mut rest = text.trim_start();
    while !rest.starts_with('}') {
        let (key, after) = value(rest)?;
        rest = after.strip_prefix(':')?.trim_start();
        let path = string(&object, &PATH_KEYS).unwrap_or_default();
        let (plain, after) = match rest.strip_prefix('[') {
            Some(items) => (Value::Array(Vec::new()), list(items, path, read)?),
            None => value(rest)?,
        };
        object.insert(key.as_str()?.to_owned(), plain);
        rest = next(after, '}')?;
    }
    read.walk(&Value::Object(object));
    Some(rest.strip_prefix('}')?.trim_start())
}

/// Reads the items of a list, below a file; what follows it.
fn list<'t>(text: &'t str, path: &str, read: &mut Read) -> Option<&'t str> {
    let mut rest = text.trim_start();
    while !rest.starts_with(']') {
        let (item, after) = value(rest)?;
        read.walk_below(&item, path);
        rest = next(after, ']')?;
    }
    Some(rest.strip_prefix(']')?.trim_start())
}

/// What follows the comma after an item; the end itself after the last one.
fn next(text: &str, end: char) -> Option<&str> {
    match text.strip_prefix(',') {
        Some(rest) => Some(rest.trim_start()).filter(|rest| !rest.starts_with(end)),
        None => Some(text).filter(|text| text.starts_with(end)),
    }
}

/// The value with which an output begins, and what follows it.
fn value(text: &str) -> Option<(Value, &str)> {
    // A stream takes the first value and leaves what follows.
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_item_by_item_and_counts_stay() {
        let text = r#"{"file":"a.py","items":[{"message":"odd","line":3},{"message":"even","line":4}],
            "errorCount":2,"rate":1.5,"ok":false,"none":null,"low":-1,"by":{"kind":{"warnCount":7}}}"#;
        let read = document(text).unwrap_or_default();
        let found: Vec<_> = read
            .found
            .findings()
            .map(|found| (found.path, found.place, found.message))
            .collect();
        assert_eq!(found, [("a.py", "3", "odd"), ("a.py", "4", "even")]);
        assert_eq!(
            read.counts,
            ["a.py \"errorCount\":2", "a.py \"warnCount\":7"]
        );
    }

    #[test]
    fn half_a_document_is_none() {
        for text in ["[{\"message\":\"x\",\"line\":1}", "[] x", "7", ""] {
            assert!(document(text).is_none(), "{text}");
        }
    }
}
