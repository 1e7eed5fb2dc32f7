//! `rg --json`: one event a line. The texts are copied as they stand, with their escapes.

use super::super::input::Input;
use super::hits::{Hits, Row};

/// Whether the text begins with the event that opens a file.
pub(super) fn is_events(input: &Input<'_>) -> bool {
    input
        .text
        .starts_with("{\"type\":\"begin\",\"data\":{\"path\":{")
}

pub(super) fn read<'a>(input: &Input<'a>) -> Hits<'a> {
    let mut hits = Hits::default();
    for line in input.lines() {
        let hit = line.starts_with("{\"type\":\"match\"");
        if !hit && !line.starts_with("{\"type\":\"context\"") {
            continue;
        }
        let path = string_after(line, "\"path\":{\"text\":\"");
        let text = string_after(line, "\"lines\":{\"text\":\"");
        match (path, text, number_after(line, "\"line_number\":")) {
            (Some(path), Some(text), Some(number)) => {
                let text = text.strip_suffix("\\n").unwrap_or(text);
                hits.push(path, Row { number, text, hit });
            }
            _ => hits.unknown.push(line),
        }
    }
    hits
}

/// The inside of the JSON string that follows `key`.
fn string_after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(key)?;
    let mut escaped = false;
    let end = rest.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    rest.get(..end?)
}

fn number_after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(key)?;
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
        let hits = read(&input);
        let row = hits.rows.first().unwrap();
        assert_eq!(row.path(), "a.c");
        assert_eq!(
            (row.row().number, row.row().text),
            ("7", "  say(\\\"x\\\");")
        );
    }
}
