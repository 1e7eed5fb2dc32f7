//! Findings of linters and type checkers as JSON: objects with a message, a line and a path.

mod object;
mod store;
mod stream;
mod tested;
mod values;

use hashbrown::HashSet;
use serde_json::{Map, Value};

use object::{LINE_KEYS, MESSAGE_KEYS, PATH_KEYS, POSITION_KEY, found, is_verdict, string};
use store::Store;
use tested::{failed_case, failed_spec, failed_test, tested_file, totals};

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use crate::parsers::data::json::document::Document;
use crate::parsers::findings::finding::{Finding, Findings, by_message};
use values::Rest;

pub(crate) const FAMILY: Family = Family {
    name: "findings json",
    runs: |input| {
        (crate::parsers::findings::diagnostics::FAMILY.runs)(input)
            || (crate::parsers::findings::eslint::FAMILY.runs)(input)
            || matches!(input.program(), "jest" | "vitest" | "mocha" | "playwright")
            || input.program() == "go" && input.subcommand() == "vet"
    },
    marks: Marks::Any,
    recognises,
    reduce,
};

/// Of more findings those that differ in names only are shown together.
const MANY_FINDINGS: usize = 100;
/// Larger inputs are left to the family that reads JSON without building it.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// How many other lines around the JSON are shown.
const MAX_OTHERS: usize = 20;
const OTHER_CHARS: usize = 240;

fn recognises(input: &Input<'_>) -> Match {
    let text = Document::find(input.text).map_or(input.text.trim_start(), |document| document.text);
    let begins = text.starts_with('{') || text.starts_with('[');
    let end = (4_093..=4_096).find(|end| text.is_char_boundary(*end));
    let head = end.and_then(|end| text.get(..end)).unwrap_or(text);
    let quoted = |keys: &[&str]| keys.iter().any(|key| head.contains(&format!("\"{key}\"")));
    let findings = || quoted(&MESSAGE_KEYS) && quoted(&LINE_KEYS) && quoted(&PATH_KEYS);
    let positions = || quoted(&[POSITION_KEY]) && quoted(&MESSAGE_KEYS);
    let tests = || quoted(&["numFailedTests"]) && quoted(&["testResults", "snapshot"]);
    let cases = || quoted(&["stats"]) && quoted(&["passes"]) && quoted(&["pending"]);
    let specs = || quoted(&["failOnFlakyTests", "fullyParallel"]) && quoted(&["rootDir"]);
    if begins && (findings() || positions() || tests() || cases() || specs()) {
        Match::Certain
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if input.text.len() > MAX_BYTES {
        return;
    }
    let document = Document::find(input.text);
    let whole = document.and_then(|document| stream::document(document.text));
    let (read, rest) = if let (Some(document), Some(read)) = (document, whole) {
        (read, Rest::around(&document))
    } else {
        let mut read = Read::default();
        let rest = values::read(input.text, |value, path| {
            let before = read.told();
            read.walk_below(value, path);
            read.told() > before
        });
        (read, rest)
    };
    // An input of another meaning, or one that is mostly something else, is not for this family.
    if read.found.len() == 0 || rest.line_count > read.found.len() + MAX_OTHERS {
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
        by_message::write(&findings, findings.len() > MANY_FINDINGS, output);
    }
    for count in &read.counts {
        output.summary(count, 0);
    }
    for line in rest.lines {
        output.fact(&shorten(line, OTHER_CHARS));
    }
    for member in rest.members {
        output.fact(&shorten(member, OTHER_CHARS));
    }
    for object in rest.objects {
        crate::parsers::data::json::write(object, output);
    }
}

#[derive(Default)]
struct Read {
    found: Store,
    /// `path "errorCount":3` of objects that hold findings.
    counts: Vec<String>,
    /// Tests that were shown: a report may list one more than once.
    cases: HashSet<String>,
}

impl Read {
    /// How many findings there are.
    fn told(&self) -> usize {
        self.found.len() + self.counts.len()
    }

    /// All objects of a document in their order; a path holds for what is below it.
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
                    if let Some(found) = failed_case(object, path) {
                        if self.cases.insert(found.message.clone()) {
                            self.found.push(found);
                        }
                        continue;
                    }
                    let specs = failed_spec(object, path);
                    if !specs.is_empty() {
                        for found in specs {
                            self.found.push(found);
                        }
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
        self.counts.extend(totals(object));
        let counts: Vec<String> = object
            .iter()
            .filter(|(key, value)| is_verdict(key, value))
            .map(|(key, value)| format!("\"{key}\":{value}"))
            .collect();
        if !counts.is_empty() {
            self.counts
                .push(format!("{path} {}", counts.join(" ")).trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;

    #[test]
    fn what_is_mostly_no_document_is_for_others() {
        let lines = "[oak] leaf 7 fell\n".repeat(40);
        let text = format!("{{\"message\":\"odd\",\"line\":1,\"path\":\"a\"}}\n{lines}");
        let input = Input {
            text: &text,
            words: &[],
            exit: Exit::Failure,
        };
        let mut output = Output::default();
        reduce(&input, &mut output);
        assert!(output.is_empty());
    }
}
