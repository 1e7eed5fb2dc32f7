//! Objects of JSON that say a message, a line and a path.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::store::Found;

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
const COLUMN_KEYS: [&str; 6] = [
    "column",
    "col",
    "character",
    "Column",
    "col_offset",
    "startColumn",
];
/// What names the rule that a finding breaks; several of them may stand in one object.
pub(super) const CODE_KEYS: [&str; 11] = [
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
];
/// Objects in which the place of a finding may stand, one in another.
const PLACE_KEYS: [&str; 10] = [
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
/// What jest writes above the reason why the tests of a file did not run.
const NOT_RUN: &str = "● Test suite failed to run";

/// Whether a member says how a run ended: `numFailedTests`, a rating, that it was no success.
pub(super) fn is_verdict(key: &str, value: &Value) -> bool {
    let is_total = key.starts_with("num") && key.ends_with("Tests") || key.ends_with("TestSuites");
    let is_count = is_total || key.ends_with("Count");
    is_count && value.as_u64().is_some_and(|count| count > 0)
        || key == "score" && value.is_number()
        || key == "success" && value == &Value::Bool(false)
}

/// The file of an object that holds the results of its tests, as jest and vitest write them.
pub(super) fn tested_file(object: &Map<String, Value>) -> Option<&str> {
    object.get("assertionResults")?;
    string(object, &["name"])
}

/// A test with its first failure, or a file whose tests could not be loaded.
pub(super) fn failed_test(object: &Map<String, Value>, path: &str) -> Option<Found> {
    let (name, message) = if let Some(failures) = object.get("failureMessages") {
        let name = string(object, &["fullName", "title"])?;
        (name, failures.as_array()?.first()?.as_str()?)
    } else {
        let results = object.get("assertionResults")?.as_array()?;
        let message = string(object, &["message"]).filter(|message| !message.is_empty())?;
        if string(object, &["status"]) != Some("failed") || !results.is_empty() {
            return None;
        }
        ("", message)
    };
    let mut lines = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && *line != NOT_RUN);
    let first = lines.next()?;
    let told = lines
        .by_ref()
        .take_while(|line| !line.starts_with("at "))
        .filter(|line| line.starts_with("Expected") || line.starts_with("Received"))
        .take(2);
    let mut text = vec![name, first];
    text.extend(told);
    let frame = message
        .lines()
        .filter_map(|line| line.trim().strip_prefix("at "))
        .map(|frame| frame.rsplit(['(', ' ']).next().unwrap_or(frame))
        .map(|place| place.trim_end_matches(')'))
        .find(|place| place.contains('/') && !place.contains("node_modules"))
        .filter(|place| !place.starts_with("node:"));
    Some(Found {
        place: frame.unwrap_or(path).to_owned(),
        path: path.to_owned(),
        message: crate::clean::without_escapes(text.join(" ").trim()).into_owned(),
    })
}

pub(super) fn found(object: &Map<String, Value>, path: &str) -> Option<Found> {
    let message = said(object)?;
    let (place_object, path) = place(object, path);
    let line = number(place_object, &LINE_KEYS)?;
    let mut place = line.to_string();
    if let Some(column) = number(place_object, &COLUMN_KEYS) {
        place = format!("{place}:{column}");
    }
    // An identifier of the message says no more than the message where the rule is named.
    let named = |key: &str| key == "messageId" && object.contains_key("ruleId");
    let codes = CODE_KEYS.iter().filter(|key| !named(key));
    let codes = codes.filter_map(|key| match object.get(*key)? {
        Value::String(code) => Some(Cow::from(code)),
        Value::Number(code) => Some(code.to_string().into()),
        Value::Object(code) => string(code, &["code", "value", "name"]).map(Cow::from),
        _ => None,
    });
    let severity = string(object, &["severity", "type", "level", "issue_severity"]);
    let mut words: Vec<Cow<'_, str>> = severity.map(Cow::from).into_iter().chain(codes).collect();
    words.push(message.into());
    Some(Found {
        place,
        path: path.to_owned(),
        message: words.join(" ").replace('\n', " "),
    })
}

/// The message of an object, which may be a text in an object of its own.
fn said(object: &Map<String, Value>) -> Option<&str> {
    let text = || string(object.get("message")?.as_object()?, &["text"]);
    string(object, &MESSAGE_KEYS).or_else(text)
}

/// The object that says the line of a finding, and the path if it stands on the way to it.
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
        // A path may stand in an object of its own, beside that of the place.
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

fn number(object: &Map<String, Value>, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| object.get(*key)?.as_u64())
}
