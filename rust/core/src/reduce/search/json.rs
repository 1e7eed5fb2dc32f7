//! `rg --json`: one event a line. The texts are copied as they stand, with their escapes.

use super::super::input::Input;
use super::hits::Row;
use crate::find_text::FindText as _;

const MATCH: &str = "{\"type\":\"match\"";

/// Whether the text begins with the event that opens a file.
pub(super) fn is_events(input: &Input<'_>) -> bool {
    input
        .text
        .starts_with("{\"type\":\"begin\",\"data\":{\"path\":{")
}

/// Whether `line` tells of a line of a file.
pub(super) fn is_row(line: &str) -> bool {
    line.starts_with(MATCH) || line.starts_with("{\"type\":\"context\"")
}

/// The path and the line of which `line` tells.
pub(super) fn row(line: &str) -> Option<(&str, Row<'_>)> {
    if !is_row(line) {
        return None;
    }
    let path = string_after(line, "\"path\":{\"text\":\"")?;
    let text = string_after(line, "\"lines\":{\"text\":\"")?;
    let row = Row {
        number: number_after(line, "\"line_number\":")?,
        text: text.strip_suffix("\\n").unwrap_or(text),
        hit: line.starts_with(MATCH),
    };
    Some((path, row))
}

/// The inside of the JSON string that follows `key`.
fn string_after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_text(key)?;
    let mut escaped = false;
    let end = rest.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    rest.get(..end?)
}

fn number_after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_text(key)?;
    let end = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest.get(..end).filter(|number| !number.is_empty())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::super::super::input::Exit;
    use super::*;

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
