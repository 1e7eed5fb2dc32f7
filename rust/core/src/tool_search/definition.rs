//! The words of a definition and how much each counts.

use hashbrown::HashMap;
use serde_json::{Map, Value};

use super::words::words;

/// The parts of a definition, which count differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    Server,
    Description,
    ParameterNames,
    ParameterTexts,
    Choices,
}

pub(super) const FIELDS: usize = 6;

/// How often each word occurs in each field, and how many words each field has.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) counts: HashMap<String, [u32; FIELDS]>,
    pub(super) lengths: [u32; FIELDS],
}

impl Words {
    fn add(&mut self, text: &str, field: Field) {
        for word in words(text) {
            let counts = self.counts.entry(word).or_default();
            for each in [
                counts.get_mut(field as usize),
                self.lengths.get_mut(field as usize),
            ]
            .into_iter()
            .flatten()
            {
                *each = each.saturating_add(1);
            }
        }
    }
}

/// The words of a definition; what is not JSON counts as a description.
pub(super) fn definition_words(definition: &str) -> Words {
    let mut found = Words::default();
    match serde_json::from_str(definition) {
        Ok(Value::Object(definition)) => add_definition(&definition, &mut found),
        _ => found.add(definition, Field::Description),
    }
    found
}

fn add_definition(definition: &Map<String, Value>, found: &mut Words) {
    if let Some(Value::String(name)) = definition.get("name") {
        let remote = name
            .strip_prefix("mcp__")
            .and_then(|name| name.split_once("__"));
        if let Some((server, tool)) = remote {
            found.add(server, Field::Server);
            found.add(tool, Field::Name);
        } else {
            found.add(name, Field::Name);
        }
    }
    if let Some(Value::String(description)) = definition.get("description") {
        found.add(description, Field::Description);
    }
    if let Some(parameters) = definition.get("parameters") {
        add_schema(parameters, found);
    }
}

/// Names of parameters, their descriptions and titles, and the strings that they may be.
///
/// The parser refuses JSON that is nested more than 128 levels, so the recursion is bounded.
fn add_schema(schema: &Value, found: &mut Words) {
    match schema {
        Value::Array(items) => {
            for item in items {
                add_schema(item, found);
            }
        }
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match (keyword.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        for (name, property) in properties {
                            found.add(name, Field::ParameterNames);
                            add_schema(property, found);
                        }
                    }
                    ("description" | "title" | "const", Value::String(text)) => {
                        found.add(text, Field::ParameterTexts);
                    }
                    ("enum", Value::Array(choices)) => {
                        for choice in choices {
                            if let Value::String(text) = choice {
                                found.add(text, Field::Choices);
                            }
                        }
                    }
                    ("default" | "examples" | "enum" | "const" | "required", _) => {}
                    (_, value) => add_schema(value, found),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::definition_words;

    #[test]
    fn parameters_are_read_at_every_depth_and_examples_are_not() {
        let found = definition_words(
            r#"{"name":"mcp__post__send_mail","description":"Send.","parameters":{"type":"object",
            "required":["hidden"],"properties":{"recipient":{"type":"array","items":{
            "description":"An address","enum":["team","all"],"examples":["never"]}}}}}"#,
        );
        assert_eq!(found.counts.get("send"), Some(&[1, 0, 1, 0, 0, 0]));
        assert_eq!(found.counts.get("post"), Some(&[0, 1, 0, 0, 0, 0]));
        assert_eq!(found.lengths, [2, 1, 1, 1, 2, 2]);
        for word in ["never", "hidden", "object", "mcp"] {
            assert!(!found.counts.contains_key(word));
        }
    }

    #[test]
    fn text_that_is_not_json_is_indexed_as_it_is() {
        let found = definition_words("plain words");
        assert_eq!(found.counts.get("word"), Some(&[0, 0, 1, 0, 0, 0]));
    }
}
