//! JSON objects with a message, a line and a path.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::store::Found;
use crate::line;

pub(super) const MESSAGE_KEYS: [&str; 7] = [
    "message",
    "text",
    "Text",
    "issue_text",
    "msg",
    "description",
    "error",
];
pub(super) const PATH_KEYS: [&str; 9] = [
    "path",
    "file",
    "filename",
    "filePath",
    "file_path",
    "Filename",
    "fileName",
    "uri",
    "source",
];
pub(super) const LINE_KEYS: [&str; 7] = [
    "line",
    "row",
    "Line",
    "line_number",
    "lineNumber",
    "startLine",
    "start_line",
];
pub(super) const COLUMN_KEYS: [&str; 6] = [
    "column",
    "col",
    "character",
    "Column",
    "col_offset",
    "startColumn",
];
/// What names the rule that a finding breaks; several of them can be in one object.
pub(super) const CODE_KEYS: [&str; 12] = [
    "code",
    "ruleId",
    "rule",
    "message-id",
    "messageId",
    "symbol",
    "test_id",
    "check_name",
    "FromLinter",
    "cop_name",
    "ruleName",
    "option",
];
const SEVERITY_KEYS: [&str; 5] = ["severity", "type", "level", "issue_severity", "kind"];
/// Under this is a path with line and column in one text.
pub(super) const POSITION_KEY: &str = "posn";
/// Objects in which the place of a finding can be, one in another.
const PLACE_KEYS: [&str; 11] = [
    "caret",
    "location",
    "locations",
    "physicalLocation",
    "region",
    "positions",
    "range",
    "start",
    "Pos",
    "begin",
    "lines",
];
/// Whether a member reports how a run ended: `numFailedTests`, a rating, that it was no success.
pub(super) fn is_verdict(key: &str, value: &Value) -> bool {
    let is_total = key.starts_with("num") && key.ends_with("Tests") || key.ends_with("TestSuites");
    let is_count = is_total || key.ends_with("Count");
    is_count && value.as_u64().is_some_and(|count| count > 0)
        || key == "score" && value.is_number()
        || key == "success" && value == &Value::Bool(false)
}

pub(super) fn found(object: &Map<String, Value>, path: &str) -> Option<Found> {
    let message = said(object)?;
    if let Some(position) = string(object, &[POSITION_KEY]).and_then(line::place) {
        return Some(Found {
            place: position.text.get(position.path.len() + 1..)?.to_owned(),
            path: position.path.to_owned(),
            message: message.replace('\n', " "),
        });
    }
    let (place_object, path) = place(object, path);
    let line = number(place_object, &LINE_KEYS)?;
    let mut place = line.to_string();
    if let Some(column) = number(place_object, &COLUMN_KEYS) {
        // Who counts characters of a line counts both from zero: it is no `line:column` of an editor.
        place = if place_object.contains_key("character") {
            format!("line {place} character {column}")
        } else {
            format!("{place}:{column}")
        };
    }
    // An identifier of the message states no more than the message where the rule is named.
    let named = |key: &str| key == "messageId" && object.contains_key("ruleId");
    let codes = CODE_KEYS.iter().filter(|key| !named(key));
    let codes = codes.filter_map(|key| match object.get(*key)? {
        // What is several lines long is source code.
        Value::String(code) if !code.contains('\n') => Some(Cow::from(code)),
        Value::Number(code) => Some(code.to_string().into()),
        Value::Object(code) => string(code, &["code", "value", "name"]).map(Cow::from),
        _ => None,
    });
    let severity = string(object, &SEVERITY_KEYS);
    let mut words: Vec<Cow<'_, str>> = severity.map(Cow::from).into_iter().chain(codes).collect();
    words.push(message.into());
    Some(Found {
        place,
        path: path.to_owned(),
        message: words.join(" ").replace('\n', " "),
    })
}

/// The message of an object; it may be inside a nested object.
fn said(object: &Map<String, Value>) -> Option<&str> {
    let text = || string(object.get("message")?.as_object()?, &["text"]);
    string(object, &MESSAGE_KEYS).or_else(text)
}

/// The object that states the line of a finding, and the path if it is on the way to it.
fn place<'a>(object: &'a Map<String, Value>, path: &'a str) -> (&'a Map<String, Value>, &'a str) {
    let mut inner = object;
    let mut path = path;
    for _ in 0..PLACE_KEYS.len() {
        if number(inner, &LINE_KEYS).is_some() {
            break;
        }
        let next = PLACE_KEYS.iter().find_map(|key| {
            let value = inner.get(*key)?;
            let first = value.as_array().and_then(|values| values.first());
            first.unwrap_or(value).as_object()
        });
        let Some(next) = next else {
            break;
        };
        // A path can be in an object of its own, beside that of the place.
        let named = next.get("artifactLocation").and_then(Value::as_object);
        let named = named.and_then(|named| string(named, &PATH_KEYS));
        path = string(next, &PATH_KEYS).or(named).unwrap_or(path);
        inner = next;
    }
    (inner, path)
}

pub(super) fn string<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| object.get(*key)?.as_str())
}

pub(super) fn number(object: &Map<String, Value>, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| object.get(*key)?.as_u64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<String> {
        let object = serde_json::from_str::<Map<String, Value>>(text).ok()?;
        let found = found(&object, "")?;
        Some(format!("{}:{} {}", found.path, found.place, found.message))
    }

    #[test]
    fn the_caret_of_a_compiler_is_the_place_and_its_option_the_code() {
        let text = r#"{"kind":"warning","option":"-Wfog","message":"fog","locations":[
            {"start":{"line":2,"column":1,"file":"a.c"},"caret":{"line":2,"column":5,"file":"a.c"}}]}"#;
        assert_eq!(told(text).as_deref(), Some("a.c:2:5 warning -Wfog fog"));
    }

    #[test]
    fn a_place_that_counts_from_nought_is_told_in_its_own_words() {
        let text = r#"{"file":"a.py","severity":"error","message":"fog","rule":"noFog",
            "range":{"start":{"line":36,"character":4},"end":{"line":36,"character":9}}}"#;
        assert_eq!(
            told(text).as_deref(),
            Some(":line 36 character 4 error noFog fog")
        );
    }

    #[test]
    fn source_code_is_no_code_of_a_rule() {
        let text =
            r#"{"code":"1 fog()\n2 sea()\n","test_id":"B1","issue_text":"fog","line_number":1}"#;
        assert_eq!(told(text).as_deref(), Some(":1 B1 fog"));
    }

    #[test]
    fn a_position_in_one_text_is_a_path_and_a_place() {
        let text = r#"{"posn":"/a/b.go:9:20","message":"no fog"}"#;
        assert_eq!(told(text).as_deref(), Some("/a/b.go:9:20 no fog"));
    }
}
