//! Whether the items of a list differ, in linear time: numbers whose floats are the same would fall
//! into one place of a table by their hash.

use std::collections::HashSet;
use std::fmt::Write;

use serde_json::{Number, Value};

/// Items that are equal in JSON Schema, each by one and the same text.
#[derive(Default)]
pub(super) struct Distinct(HashSet<String>);

impl Distinct {
    /// Whether no item like this one was added before.
    pub(super) fn insert(&mut self, item: &Value) -> bool {
        let mut text = String::new();
        spell(item, &mut text);
        self.0.insert(text)
    }
}

fn spell(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => spell_number(number, text),
        Value::Array(items) => {
            text.push('[');
            for item in items {
                spell(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in fields {
                let _ = write!(text, "{name:?}:");
                spell(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::String(string) => {
            let _ = write!(text, "{string:?}");
        }
        Value::Null | Value::Bool(_) => {
            let _ = write!(text, "{value}");
        }
    }
}

/// A number by its digits without zeros at either end, and its exponent: `10`, `1e1` and `10.0` are
/// one.
fn spell_number(number: &Number, text: &mut String) {
    let written = number.as_str();
    let (sign, unsigned) = written
        .strip_prefix('-')
        .map_or(("", written), |unsigned| ("-", unsigned));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let shift = (digits.len() - significant.len()).cast_signed() - fraction.len().cast_signed();
    let exponent = exponent
        .trim_start_matches('+')
        .parse::<i128>()
        .ok()
        .zip(i128::try_from(shift).ok())
        .and_then(|(exponent, shift)| exponent.checked_add(shift));
    let _ = match (significant.trim_start_matches('0'), exponent) {
        ("", _) => write!(text, "0"),
        (digits, Some(exponent)) => write!(text, "{sign}{digits}e{exponent}"),
        (_, None) => write!(text, "{written}"),
    };
}
