//! How much a regular expression can cost for each byte of text: an automaton with many positions
//! that are reached at the same time is walked position by position.

use serde_json::Value;

/// The most that a pattern in a schema can cost for each byte, in positions.
pub(crate) fn heaviest(schema: &Value) -> usize {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, inner)| match (name.as_str(), inner) {
                ("pattern", Value::String(pattern)) => weight(pattern),
                ("patternProperties", Value::Object(patterns)) => {
                    let names = patterns.keys().map(|pattern| weight(pattern));
                    names.max().unwrap_or(1).max(heaviest(inner))
                }
                _ => heaviest(inner),
            })
            .max()
            .unwrap_or(1),
        Value::Array(items) => items.iter().map(heaviest).max().unwrap_or(1),
        _ => 1,
    }
}

/// At least the positions that can be reached at the same time: 1 where all repetitions are fixed
/// and start at `^`, else all of them.
fn weight(pattern: &str) -> usize {
    let Some(rest) = pattern.strip_prefix('^') else {
        return positions(pattern);
    };
    // What is repeated first is at one position, and leaves one at each byte.
    let rest = without_first_repetition(rest);
    let is_fixed = !rest.contains(['*', '+', '?', '|', ',']);
    if is_fixed { 1 } else { positions(rest) }
}

/// The characters, with each counted as often as it may be repeated.
fn positions(pattern: &str) -> usize {
    let mut most = pattern.len();
    for (at, _) in pattern.match_indices('{') {
        let after = pattern.get(at + 1..).unwrap_or_default();
        let counts = after.split('}').next().unwrap_or_default();
        let numbers = counts
            .split(',')
            .filter_map(|count| count.trim().parse().ok());
        let times: usize = numbers.max().unwrap_or(1);
        let is_group = pattern
            .get(..at)
            .is_some_and(|before| before.ends_with(')'));
        most = if is_group {
            most.saturating_mul(times.max(1))
        } else {
            most.saturating_add(times)
        };
    }
    most.max(1)
}

/// The pattern behind `.{1,80}` or `[a-z]{8}` at its start.
fn without_first_repetition(pattern: &str) -> &str {
    let atom = match pattern.chars().next() {
        Some('[') => pattern.find(']').map(|end| end + 1),
        Some('\\') => pattern.char_indices().nth(2).map(|(end, _)| end),
        Some('(' | '*' | '+' | '?' | '{') | None => None,
        Some(first) => Some(first.len_utf8()),
    };
    atom.and_then(|end| pattern.get(end..))
        .and_then(|rest| rest.strip_prefix('{'))
        .and_then(|rest| rest.split_once('}'))
        .map_or(pattern, |(_, rest)| rest)
}
