//! Findings of linters and type checkers as JSON: objects that say a message, a line and a path.

mod store;
mod stream;

use serde_json::{Map, Value};

use self::store::{Found, Store};
use super::findings::{Finding, Findings, by_message};
use super::input::Input;
use super::line::shorten;
use super::output::Output;
use super::route::{Family, Match};

pub(super) const FAMILY: Family = Family {
    name: "findings json",
    runs: |input| {
        (super::diagnostics::FAMILY.runs)(input)
            || (super::eslint::FAMILY.runs)(input)
            || matches!(input.program(), "jest" | "vitest")
    },
    recognises,
    reduce,
};

const MESSAGE_KEYS: [&str; 7] = [
    "message",
    "text",
    "Text",
    "issue_text",
    "msg",
    "description",
    "error",
];
const PATH_KEYS: [&str; 9] = [
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
const LINE_KEYS: [&str; 7] = [
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
const CODE_KEYS: [&str; 11] = [
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
const PLACE_KEYS: [&str; 6] = ["location", "range", "start", "Pos", "begin", "lines"];
/// Larger texts are left to the family that reads JSON without building it.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// How many kinds of other lines around the JSON are shown.
const MAX_OTHERS: usize = 20;

fn recognises(input: &Input<'_>) -> Match {
    let text = input.text.trim_start();
    let begins = text.starts_with('{') || text.starts_with('[');
    let end = (4_093..=4_096).find(|end| text.is_char_boundary(*end));
    let head = end.and_then(|end| text.get(..end)).unwrap_or(text);
    let quoted = |keys: &[&str]| keys.iter().any(|key| head.contains(&format!("\"{key}\"")));
    let findings = || quoted(&MESSAGE_KEYS) && quoted(&LINE_KEYS) && quoted(&PATH_KEYS);
    let tests = || quoted(&["numFailedTests"]) && quoted(&["testResults", "snapshot"]);
    if begins && (findings() || tests()) {
        Match::Certain
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if input.text.len() > MAX_BYTES {
        return;
    }
    let whole = stream::document(input.text.trim());
    let of_lines = whole.is_none();
    let mut read = whole.unwrap_or_default();
    let mut others = Vec::new();
    if of_lines {
        for line in input.lines().filter(|line| !line.trim().is_empty()) {
            match serde_json::from_str::<Value>(line) {
                Ok(document) => read.walk(&document),
                Err(_) => others.push(line),
            }
        }
    }
    // Half of a document, or one of another meaning, is not for this family.
    if read.found.len() == 0 || others.len() > read.found.len() {
        return;
    }
    output.failed();
    if by_message::are_too_many(read.found.len()) {
        let mut findings = Findings::default();
        for found in read.found.findings() {
            findings.push(found);
        }
        findings.write(input.target_chars(), output);
    } else {
        let all = read.found.findings();
        let findings: Vec<(&str, Finding<'_>)> = all.map(|found| (found.path, found)).collect();
        by_message::write(&findings, output);
    }
    for count in &read.counts {
        output.summary(count, 0);
    }
    for other in others.iter().take(MAX_OTHERS) {
        output.fact(&shorten(other, 240));
    }
}

#[derive(Default)]
struct Read {
    found: Store,
    /// `path "errorCount":3` of objects that hold findings.
    counts: Vec<String>,
}

impl Read {
    /// All objects of a document in their order; a path holds for what stands below it.
    fn walk(&mut self, document: &Value) {
        self.walk_below(document, "");
    }

    /// The same for a document below a file.
    fn walk_below(&mut self, document: &Value, path: &str) {
        let mut stack: Vec<(&Value, &str)> = vec![(document, path)];
        while let Some((value, path)) = stack.pop() {
            match value {
                Value::Array(items) => {
                    stack.extend(items.iter().rev().map(|item| (item, path)));
                }
                Value::Object(object) => {
                    let path = string(object, &PATH_KEYS)
                        .or_else(|| tested_file(object))
                        .unwrap_or(path);
                    if let Some(found) = failed_test(object, path) {
                        self.found.push(found);
                        continue;
                    }
                    if let Some(found) = found(object, path) {
                        self.found.push(found);
                        continue;
                    }
                    self.count(object, path);
                    stack.extend(object.values().rev().map(|item| (item, path)));
                }
                _ => (),
            }
        }
    }

    fn count(&mut self, object: &Map<String, Value>, path: &str) {
        let counts: Vec<String> = object
            .iter()
            .filter(|(key, value)| {
                (key.ends_with("Count") || is_total(key))
                    && value.as_u64().is_some_and(|count| count > 0)
            })
            .map(|(key, value)| format!("\"{key}\":{value}"))
            .collect();
        if !counts.is_empty() {
            self.counts
                .push(format!("{path} {}", counts.join(" ")).trim().to_owned());
        }
    }
}

/// Whether a key names how many tests there were, or failed: `numFailedTests`.
fn is_total(key: &str) -> bool {
    key.strip_prefix("num")
        .is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_uppercase()))
}

/// The file of an object that holds the results of its tests, as jest and vitest write them.
fn tested_file(object: &Map<String, Value>) -> Option<&str> {
    object.get("assertionResults")?;
    string(object, &["name"])
}

/// A test with its first failure, or a file whose tests could not be loaded.
fn failed_test(object: &Map<String, Value>, path: &str) -> Option<Found> {
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
        .filter(|line| !line.is_empty());
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

fn found(object: &Map<String, Value>, path: &str) -> Option<Found> {
    let message = string(object, &MESSAGE_KEYS)?;
    let (place_object, path) = place(object, path);
    let line = number(place_object, &LINE_KEYS)?;
    let mut place = line.to_string();
    if let Some(column) = number(place_object, &COLUMN_KEYS) {
        place = format!("{place}:{column}");
    }
    // An identifier of the message says no more than the message where the rule is named.
    let named = |key: &str| key == "messageId" && object.contains_key("ruleId");
    let codes = CODE_KEYS.iter().filter(|key| !named(key));
    let codes = codes.filter_map(|key| match object.get(*key) {
        Some(Value::String(code)) => Some(code.as_str()),
        Some(Value::Object(code)) => string(code, &["code", "value", "name"]),
        _ => None,
    });
    let severity = string(object, &["severity", "type", "level", "issue_severity"]);
    let mut words: Vec<&str> = severity.into_iter().chain(codes).collect();
    words.push(message);
    Some(Found {
        place,
        path: path.to_owned(),
        message: words.join(" ").replace('\n', " "),
    })
}

/// The object that says the line of a finding, and the path if it stands on the way to it.
fn place<'a>(object: &'a Map<String, Value>, path: &'a str) -> (&'a Map<String, Value>, &'a str) {
    let mut inner = object;
    let mut path = path;
    for _ in 0..PLACE_KEYS.len() {
        if number(inner, &LINE_KEYS).is_some() {
            break;
        }
        let next = PLACE_KEYS
            .iter()
            .find_map(|key| inner.get(*key)?.as_object());
        let Some(next) = next else {
            break;
        };
        path = string(next, &PATH_KEYS).unwrap_or(path);
        inner = next;
    }
    (inner, path)
}

fn string<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| object.get(*key)?.as_str())
}

fn number(object: &Map<String, Value>, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| object.get(*key)?.as_u64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::input::Exit;

    fn reduced(text: &str) -> String {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Failure,
        };
        assert_eq!(recognises(&input), Match::Certain);
        let mut output = Output::default();
        reduce(&input, &mut output);
        output.finish(1, usize::MAX)
    }

    #[test]
    fn findings_below_their_file_get_its_path() {
        let text = r#"[{"filePath":"/a/b.js","messages":[
            {"ruleId":"no-var","severity":2,"message":"Unexpected var.","line":1,"column":1},
            {"ruleId":"no-var","severity":2,"message":"Unexpected var.","line":9,"column":3}],"errorCount":2}]"#;
        let reduced = reduced(text);
        assert!(
            reduced
                .starts_with("no-var Unexpected var.: /a/b.js 1:1 9:3\n/a/b.js \"errorCount\":2\n"),
            "{reduced}"
        );
    }

    #[test]
    fn the_place_may_stand_in_an_object_of_its_own() {
        let text = r#"[{"code":"F401","filename":"a.py","location":{"row":1,"column":8},"message":"unused"}]"#;
        assert!(reduced(text).starts_with("F401 unused: a.py 1:8\n"));
    }

    #[test]
    fn half_a_document_is_for_others() {
        let text = r#"[{"message":"x","line":1,"path":"a"},{"message":"#;
        let input = Input {
            text,
            words: &[],
            exit: Exit::Failure,
        };
        let mut output = Output::default();
        reduce(&input, &mut output);
        assert!(output.is_empty());
    }

    #[test]
    fn failed_tests_are_told_with_their_place_and_the_totals() {
        let text = r#"{"numFailedTests":1,"numTotalTests":2,"snapshot":{},"testResults":[{"name":"/a/t.test.js","status":"failed","message":"",
            "assertionResults":[{"fullName":"cart adds","title":"adds","status":"failed","failureMessages":["Error: 3 is not 4\n    at f (/a/t.test.js:4:9)\n    at run (/a/node_modules/x.js:1:1)"]},
            {"fullName":"cart ends","status":"passed","failureMessages":[]}]},
            {"name":"/a/u.test.js","status":"failed","message":"Cannot find module './v'","assertionResults":[]}]}"#;
        assert!(
            reduced(text).starts_with(
                "cart adds Error: 3 is not 4: /a/t.test.js:4:9\nCannot find module './v': /a/u.test.js\n\
                 \"numFailedTests\":1 \"numTotalTests\":2\n"
            ),
            "{}",
            reduced(text)
        );
    }
}
