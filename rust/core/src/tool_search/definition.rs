//! The words of a definition and how much each counts.

use hashbrown::HashMap;
use serde_json::{Map, Value};

use super::words::words;

const NAME_WEIGHT: u32 = 3;
const TEXT_WEIGHT: u32 = 1;

/// Each word of a definition once, with its weight.
pub(super) fn weighted_words(definition: &str) -> HashMap<String, u32> {
    let mut weights = HashMap::new();
    match serde_json::from_str(definition) {
        Ok(Value::Object(definition)) => add_definition(&definition, &mut weights),
        _ => add(definition, TEXT_WEIGHT, &mut weights),
    }
    weights
}

fn add(text: &str, weight: u32, weights: &mut HashMap<String, u32>) {
    for word in words(text) {
        let sum = weights.entry(word).or_insert(0);
        *sum = sum.saturating_add(weight);
    }
}

fn add_definition(definition: &Map<String, Value>, weights: &mut HashMap<String, u32>) {
    if let Some(Value::String(name)) = definition.get("name") {
        add(name, NAME_WEIGHT, weights);
    }
    if let Some(Value::String(description)) = definition.get("description") {
        add(description, TEXT_WEIGHT, weights);
    }
    if let Some(parameters) = definition.get("parameters") {
        add_schema(parameters, weights);
    }
}

/// Names of parameters, their descriptions and titles, and the strings that they may be.
///
/// The parser refuses JSON that is nested more than 128 levels, so the recursion is bounded.
fn add_schema(schema: &Value, weights: &mut HashMap<String, u32>) {
    match schema {
        Value::Array(items) => {
            for item in items {
                add_schema(item, weights);
            }
        }
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match (keyword.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        for (name, property) in properties {
                            add(name, TEXT_WEIGHT, weights);
                            add_schema(property, weights);
                        }
                    }
                    ("description" | "title" | "const", Value::String(text)) => {
                        add(text, TEXT_WEIGHT, weights);
                    }
                    ("enum", Value::Array(choices)) => {
                        for choice in choices {
                            if let Value::String(text) = choice {
                                add(text, TEXT_WEIGHT, weights);
                            }
                        }
                    }
                    ("default" | "examples" | "enum" | "const" | "required", _) => {}
                    (_, value) => add_schema(value, weights),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::weighted_words;

    #[test]
    fn parameters_are_read_at_every_depth_and_examples_are_not() {
        let weights = weighted_words(
            r#"{"name":"send_mail","description":"Send.","parameters":{"type":"object",
            "required":["hidden"],"properties":{"recipient":{"type":"array","items":{
            "description":"An address","enum":["team","all"],"examples":["never"]}}}}}"#,
        );
        assert_eq!(weights.get("send"), Some(&4));
        for word in ["mail", "recipient", "addres", "address", "team", "all"] {
            let is_there = weights.contains_key(word);
            assert_eq!(is_there, word != "addres", "{word}");
        }
        assert!(!weights.contains_key("never"));
        assert!(!weights.contains_key("hidden"));
        assert!(!weights.contains_key("object"));
    }

    #[test]
    fn text_that_is_not_json_is_indexed_as_it_is() {
        assert_eq!(weighted_words("plain words").get("word"), Some(&1));
    }
}
