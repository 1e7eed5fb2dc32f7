//! `rg --json`: one event a line. The inputs are copied as they are, with their escapes.

use super::hits::Row;
use crate::input::Input;

const MATCH: &str = "{\"type\":\"match\"";
const CONTEXT: &str = "{\"type\":\"context\"";

/// Whether the text begins with the event that opens a file.
pub(super) fn is_events(input: &Input<'_>) -> bool {
    input
        .text
        .starts_with("{\"type\":\"begin\",\"data\":{\"path\":{")
}

/// Whether `line` describes a line of a file.
pub(super) fn is_row(line: &str) -> bool {
    after_type(line).is_some()
}

/// Whether the line that `line` describes is a hit, and what follows that.
fn after_type(line: &str) -> Option<(bool, &str)> {
    let (hit, rest) = match line.strip_prefix(MATCH) {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix(CONTEXT)?),
    };
    Some((hit, rest))
}

/// The path and the line that `line` describes.
pub(super) fn row(line: &str) -> Option<(&str, Row<'_>)> {
    let (hit, rest) = after_type(line)?;
    let (path, rest) = string(rest.strip_prefix(",\"data\":{\"path\":{\"text\":\"")?)?;
    let (text, rest) = string(rest.strip_prefix("},\"lines\":{\"text\":\"")?)?;
    let rest = rest.strip_prefix("},\"line_number\":")?;
    let end = rest.bytes().take_while(u8::is_ascii_digit).count();
    let row = Row {
        number: rest.get(..end).filter(|number| !number.is_empty())?,
        text: text.strip_suffix("\\n").unwrap_or(text),
        hit,
    };
    Some((path, row))
}

/// The inside of the JSON string that `text` is within, and what follows the string.
fn string(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', bytes.get(from..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some((text.get(..at)?, text.get(at + 1..)?));
        }
        from = at + 2;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::input::Exit;

    #[test]
    fn events_become_hits_with_their_bytes() {
        let text = "{\"type\":\"begin\",\"data\":{\"path\":{\"text\":\"a.c\"}}}\n\
                    {\"type\":\"match\",\"data\":{\"path\":{\"text\":\"a.c\"},\"lines\":{\"text\":\"  say(\\\"x\\\");\\n\"},\
                    \"line_number\":7,\"absolute_offset\":1,\"submatches\":[]}}\n";
        let input = Input {
            text,
            words: &[],
            exit: Exit::Unknown,
        };
        assert!(is_events(&input));
        let (path, row) = input.lines().find_map(row).unwrap();
        assert_eq!(path, "a.c");
        assert_eq!((row.number, row.text), ("7", "  say(\\\"x\\\");"));
    }
}
