//! What a JSON parser lets pass and a reader of arguments must not.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use memchr::{memchr_iter, memchr2, memrchr};

/// How deep an input may be nested.
pub const MAX_DEPTH: usize = 128;
/// How much of a key a message shows, in characters.
const MAX_KEY_CHARS: usize = 40;

/// What is wrong with an input that is JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This key is in one object for the second time.
    DuplicateKey(String),
    /// It is nested deeper than [`MAX_DEPTH`] levels.
    TooDeep,
    /// A number is larger than every float.
    TooLarge,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateKey(key) => {
                let shown: String = key.chars().take(MAX_KEY_CHARS).collect();
                write!(formatter, "duplicate key {shown:?} in one object")
            }
            Self::TooDeep => write!(formatter, "it is nested deeper than {MAX_DEPTH} levels"),
            Self::TooLarge => formatter.write_str("the number is too large"),
        }
    }
}

/// A fault and where it begins: line and character, both counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultAt {
    /// What is wrong.
    pub fault: Fault,
    /// The line.
    pub line: usize,
    /// The character in that line.
    pub column: usize,
}

/// The keys of an object that is open, or an array.
enum Open<'a> {
    Object(HashSet<Cow<'a, str>>),
    Array,
}

/// The first fault of an input that a parser took for JSON.
///
/// What is not JSON gets no fault of its own, and never more than its share of time.
#[must_use]
pub fn first_fault(text: &str) -> Option<FaultAt> {
    let bytes = text.as_bytes();
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut is_key = false;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => {
                if open.len() == MAX_DEPTH {
                    return Some(fault_at(text, start, Fault::TooDeep));
                }
                is_key = *byte == b'{';
                open.push(if is_key {
                    Open::Object(HashSet::new())
                } else {
                    Open::Array
                });
            }
            b'}' | b']' => {
                open.pop();
            }
            b',' => is_key = matches!(open.last(), Some(Open::Object(_))),
            b':' => is_key = false,
            b'"' => {
                at = string_end(bytes, at);
                if let (true, Some(Open::Object(keys))) = (is_key, open.last_mut()) {
                    let key = decoded(text.get(start..at).unwrap_or_default());
                    if let Some(twice) = keys.replace(key) {
                        let fault = Fault::DuplicateKey(twice.into_owned());
                        return Some(fault_at(text, start, fault));
                    }
                }
            }
            b'-' | b'0'..=b'9' => {
                at = number_end(bytes, at);
                if is_infinite(text.get(start..at).unwrap_or_default()) {
                    return Some(fault_at(text, start, Fault::TooLarge));
                }
            }
            _ => {}
        }
    }
    None
}

/// The position behind the quote that closes a string.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found + 1;
        if bytes.get(at - 1) == Some(&b'"') {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    start + length.unwrap_or(rest.len())
}

/// Whether a number that is not whole one is larger than every float; whole ones are exact.
pub(crate) fn is_infinite(number: &str) -> bool {
    number.contains(['.', 'e', 'E']) && number.parse().is_ok_and(f64::is_infinite)
}

/// What a quoted key states: escapes may spell the same key in another way.
pub(crate) fn decoded(quoted: &str) -> Cow<'_, str> {
    let inside = quoted.strip_prefix('"').unwrap_or(quoted);
    let inside = inside.strip_suffix('"').unwrap_or(inside);
    if !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    serde_json::from_str(quoted).map_or(Cow::Borrowed(inside), Cow::Owned)
}

fn fault_at(text: &str, position: usize, fault: Fault) -> FaultAt {
    let before = text.get(..position).unwrap_or_default();
    let line_start = memrchr(b'\n', before.as_bytes()).map_or(0, |found| found + 1);
    FaultAt {
        fault,
        line: memchr_iter(b'\n', before.as_bytes()).count() + 1,
        column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(text: &str) -> Option<String> {
        first_fault(text).map(|at| format!("{} {}:{}", at.fault, at.line, at.column))
    }

    #[test]
    fn a_key_that_appears_twice_is_found() {
        for (text, place) in [
            (r#"{"a":1,"a":2}"#, "1:8"),
            (
                "{\"é\": {\"a\": [1]},\n \"b\": {\"c\": 1, \"a\": {}, \"a\": 2}}",
                "2:25",
            ),
            (r#"[{"a":"x","\u0061":{}}]"#, "1:11"),
            (r#"{"b":"\"}{","a":"\\","a":1}"#, "1:22"),
        ] {
            let expected = format!("duplicate key \"a\" in one object {place}");
            assert_eq!(reported(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn equal_keys_of_different_objects_and_values_pass() {
        for text in [
            r#"{"a":{"a":1},"b":["a","a",{"a":1},{"a":"a"}],"c":"a"}"#,
            r#"{"a":"b","b":"a","":"","\\":1}"#,
            "[1, -2.5e3, true, null, \"1e999\"]",
            "",
        ] {
            assert_eq!(reported(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_too_deep_or_too_large_is_found() {
        let deep = |levels| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(reported(&deep(128)), None);
        assert_eq!(
            reported(&deep(129)),
            Some("it is nested deeper than 128 levels 1:129".to_owned())
        );
        assert_eq!(
            reported("[1,\n1e999]"),
            Some("the number is too large 2:1".to_owned())
        );
        assert_eq!(reported(&format!("[{}, 1e-999]", "9".repeat(900))), None);
    }

    #[test]
    fn what_is_no_json_does_no_harm() {
        for text in ["{\"a", "\\", "}}]]", "{\"a\\", "\"\\\"", "-", "{:,}"] {
            assert_eq!(reported(text), None, "{text}");
        }
    }

    #[test]
    fn a_long_key_is_shown_in_part() {
        let key = "k".repeat(1_000);
        let fault = Fault::DuplicateKey(key).to_string();
        assert_eq!(
            fault,
            format!("duplicate key {:?} in one object", "k".repeat(40))
        );
    }
}
