//! Tests that failed, as their runners report them in JSON.

use serde_json::{Map, Value};

use super::object::{COLUMN_KEYS, LINE_KEYS, PATH_KEYS, number, string};
use super::store::Found;
use ethos_registry_core::clean;

/// What jest writes above the reason why the tests of a file did not run.
const NOT_RUN: &str = "● Test suite failed to run";
/// Lines of a message that may contain the expected value; the lines after them are a diff or source.
const TOLD_LINES: usize = 8;

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
    Some(Found {
        place: own_frame(message).unwrap_or(path).to_owned(),
        path: path.to_owned(),
        message: clean::without_escapes(text.join(" ").trim()).into_owned(),
    })
}

/// The place of the first frame of a stack that is in no library.
fn own_frame(stack: &str) -> Option<&str> {
    let places = stack
        .lines()
        .filter_map(|line| line.trim().strip_prefix("at "))
        .map(|frame| frame.rsplit(['(', ' ']).next().unwrap_or(frame))
        .map(|place| place.trim_end_matches(')'));
    places
        .filter(|place| !place.starts_with("node:"))
        .find(|place| place.contains('/') && !place.contains("node_modules"))
}

/// A test or a hook with its error, as mocha writes them: in each list of results that it is of.
pub(super) fn failed_case(object: &Map<String, Value>, path: &str) -> Option<Found> {
    let name = string(object, &["fullTitle"])?;
    let error = object.get("err")?.as_object()?;
    let message = string(error, &["message"]).or_else(|| string(error, &["stack"]))?;
    let frame = string(error, &["stack"]).and_then(own_frame);
    Some(Found {
        place: frame.unwrap_or(path).to_owned(),
        path: path.to_owned(),
        message: format!("{name} {}", told(message)),
    })
}

/// The errors of a test in a browser, each project's last try: `title`, `ok`, and a list of `tests`.
pub(super) fn failed_spec(object: &Map<String, Value>, path: &str) -> Vec<Found> {
    let is_failed = object.get("ok") == Some(&Value::Bool(false));
    let (Some(title), Some(tests)) = (
        string(object, &["title"]).filter(|_| is_failed),
        object.get("tests").and_then(Value::as_array),
    ) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for test in tests.iter().filter_map(Value::as_object) {
        let project = string(test, &["projectName"]).unwrap_or_default();
        let results = test.get("results").and_then(Value::as_array);
        let last = results.and_then(|results| results.last()?.as_object());
        let Some(last) = last.filter(|last| string(last, &["status"]) != Some("passed")) else {
            continue;
        };
        let mut push = |place: &Map<String, Value>, message: &str| {
            all.push(Found {
                place: place_of(place),
                path: string(place, &PATH_KEYS).unwrap_or(path).to_owned(),
                message: format!("[{project}] {title} {}", told(message)),
            });
        };
        let errors = last.get("errors").and_then(Value::as_array);
        let mut errors = errors
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
            .peekable();
        if errors.peek().is_none() {
            push(object, string(last, &["status"]).unwrap_or_default());
        }
        for error in errors {
            let place = error.get("location").and_then(Value::as_object);
            let message = string(error, &["message"]).unwrap_or_default();
            push(place.unwrap_or(object), message);
        }
    }
    all
}

fn place_of(object: &Map<String, Value>) -> String {
    let line = number(object, &LINE_KEYS).map(|line| line.to_string());
    let column = number(object, &COLUMN_KEYS).map(|column| column.to_string());
    let both: Vec<String> = line.into_iter().chain(column).collect();
    both.join(":")
}

/// The first line of a message with the expected and the actual value.
fn told(message: &str) -> String {
    let message = clean::without_escapes(message);
    let mut lines = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let mut text = lines.next().unwrap_or_default().to_owned();
    let announces = text.ends_with(':');
    for (at, line) in lines.take(TOLD_LINES).enumerate() {
        let is_announced = announces && at == 0;
        if is_announced || line.starts_with("Expected") || line.starts_with("Received") {
            text.push(' ');
            text.push_str(line);
        }
    }
    text
}

/// The counts of an object that reports how a run of tests ended.
pub(super) fn totals(object: &Map<String, Value>) -> Option<String> {
    let has = |key: &str| object.contains_key(key);
    let is_it = has("duration") && (has("unexpected") || has("failures") && has("passes"));
    is_it.then(|| {
        let counts = object.iter().filter(|(key, _)| *key != "duration");
        let counts = counts.filter(|(_, value)| value.is_u64());
        let counts = counts.map(|(key, value)| format!("\"{key}\":{value}"));
        counts.collect::<Vec<_>>().join(" ")
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    fn object(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_error_of_a_case_stands_beside_its_whole_title() {
        let case = object(
            r#"{"title":"sinks","fullTitle":"ship sinks","file":"/a/ship.js","err":{"message":"3 == 4","stack":
            "Error: 3 == 4\n    at node:internal/x:1:1\n    at Context.<anonymous> (spec/ship.js:9:7)"}}"#,
        );
        let found = failed_case(&case, "/a/ship.js").unwrap();
        assert_eq!(found.place, "spec/ship.js:9:7");
        assert_eq!(found.message, "ship sinks 3 == 4");
        assert!(failed_case(&object(r#"{"fullTitle":"a","err":{}}"#), "").is_none());
    }

    #[test]
    fn a_failed_test_of_a_browser_tells_its_project_and_every_error_of_its_last_try() {
        let spec = object(
            r#"{"title":"opens","ok":false,"file":"a.ts","line":2,"column":3,"tests":[
            {"projectName":"deck","results":[{"status":"failed","errors":[{"message":"old"}]},{"status":"failed","errors":[
              {"message":"Error: no\n\nExpected: 1\nReceived: 2","location":{"file":"/s/a.ts","line":4,"column":5}}]}]},
            {"projectName":"hold","results":[{"status":"interrupted","errors":[]}]},
            {"projectName":"mast","results":[{"status":"passed","errors":[]}]}]}"#,
        );
        let all = failed_spec(&spec, "");
        let all: Vec<_> = all
            .iter()
            .map(|found| format!("{} {}:{}", found.message, found.path, found.place))
            .collect();
        assert_eq!(
            all,
            [
                "[deck] opens Error: no Expected: 1 Received: 2 /s/a.ts:4:5",
                "[hold] opens interrupted a.ts:2:3",
            ]
        );
    }

    #[test]
    fn totals_of_a_run_leave_its_time_out() {
        let stats = object(r#"{"failures":1,"passes":2,"tests":3,"start":"x","duration":9}"#);
        assert_eq!(
            totals(&stats).unwrap(),
            "\"failures\":1 \"passes\":2 \"tests\":3"
        );
        assert!(totals(&object(r#"{"failures":1}"#)).is_none());
    }
}
