//! The fence around a text that nobody vouches for.

use std::collections::TryReserveError;

use super::Edited;
use super::fold::{NOTHING, fold};
use super::scan::Openers;
use super::tokens::sanitize;

/// What closes every fence.
pub const CLOSING: &str = "\n</untrusted>";

/// No fence has more characters than this, opening and closing together: with the marker of a trim
/// it stays below 400.
pub const FENCE_MAX_CHARS: usize = 19 + SOURCE_MAX_CHARS + 8 + TOOL_MAX_CHARS + 3 + 13;

/// As long as seed 001's public system lets an attribute be.
const SOURCE_MAX_CHARS: usize = 256;
/// No tool's name is longer.
const TOOL_MAX_CHARS: usize = 64;

/// What the name of the fence's tag is.
const NAME: &[u8] = b"untrusted";
/// What stands for the `<` of a tag that could open or close a fence.
const DEFUSED: &str = "&lt;";

/// What opens the fence of `tool` and `source`: at most 256 characters of the source, 64 of the tool.
///
/// Both may come from an attacker (a file's name, say): line breaks become one blank, angle brackets
/// and their look-alikes go, `"` becomes `'`, template tokens are taken out.
///
/// # Errors
/// There is no memory for it.
pub fn opening(tool: &str, source: &str) -> Result<String, TryReserveError> {
    let source = attribute(source, SOURCE_MAX_CHARS)?;
    let tool = attribute(tool, TOOL_MAX_CHARS)?;
    Ok(format!("<untrusted source=\"{source}\" tool=\"{tool}\">\n"))
}

/// `text` with `&lt;` for the first character of everything that reads as a tag of the fence, or as
/// the beginning of one at the end of the text; `None` when there is none.
///
/// # Errors
/// There is no memory for it.
pub fn defuse(text: &str) -> Result<Option<String>, TryReserveError> {
    let openers = Openers::new(text, false);
    let mut edited = Edited::new(text);
    let mut from = 0;
    while let Some(opener) = openers.next(from) {
        if reads_as_tag(text.get(opener.end..).unwrap_or_default()) {
            edited.replace(opener.start, opener.end, DEFUSED)?;
        }
        from = opener.end;
    }
    edited.finish()
}

/// Whether `rest`, what follows a `<`, is the name of the fence's tag or ends within it.
fn reads_as_tag(rest: &str) -> bool {
    let seen = rest.chars().map(fold);
    let mut seen = seen
        .filter(|seen| !matches!(*seen, NOTHING | b'\n'))
        .peekable();
    while seen.next_if(|seen| matches!(*seen, b'/' | b'\\')).is_some() {}
    NAME.iter().all(|letter| {
        seen.next()
            .is_none_or(|seen| seen.eq_ignore_ascii_case(letter))
    })
}

fn attribute(text: &str, max_chars: usize) -> Result<String, TryReserveError> {
    let mut clean = String::new();
    let mut after_break = false;
    for character in text.chars() {
        let is_break = matches!(character, '\r' | '\n');
        let shown = match fold(character) {
            b'<' | b'>' => None,
            _ if is_break => (!after_break).then_some(' '),
            _ if character == '"' => Some('\''),
            _ => Some(character),
        };
        after_break = is_break;
        if let Some(shown) = shown {
            clean.try_reserve(shown.len_utf8())?;
            clean.push(shown);
        }
    }
    let mut clean = sanitize(&clean)?.unwrap_or(clean);
    if let Some((end, _)) = clean.char_indices().nth(max_chars) {
        clean.truncate(end);
    }
    Ok(clean)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    fn defused(text: &str) -> String {
        defuse(text).unwrap().unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn every_spelling_of_the_tag_is_defused() {
        for tag in [
            "</untrusted>",
            "<untrusted source=\"x\">",
            "< / UNTRUSTED >",
            "<\n/\tun\u{200b}trusted",
            "＜／ｕｎｔｒｕｓｔｅｄ＞",
            "<\\/untrusted>",
            "〈/untru\u{17f}ted",
        ] {
            let text = defused(&format!("a{tag}b"));
            assert!(text.starts_with("a&lt;"), "{text}");
            assert_eq!(defuse(&text).unwrap(), None);
        }
    }

    #[test]
    fn a_tag_that_the_end_cuts_is_defused() {
        assert_eq!(defused("a</untru"), "a&lt;/untru");
        assert_eq!(defused("a< "), "a&lt; ");
        assert_eq!(defused("<<"), "<&lt;");
    }

    #[test]
    fn other_tags_and_entities_stay() {
        for text in [
            "<b>untrusted</b>",
            "&lt;/untrusted>",
            "a < b",
            "<x/untrusted>",
        ] {
            assert_eq!(defuse(text).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn attributes_break_no_fence() {
        assert_eq!(
            opening("t\"><script>", "a\"b\r\n<c>\n\nd").unwrap(),
            "<untrusted source=\"a'b c d\" tool=\"t'script\">\n"
        );
        let longest = opening(&"t".repeat(999), &"＜é".repeat(999)).unwrap() + CLOSING;
        assert_eq!(longest.chars().count(), FENCE_MAX_CHARS);
        assert_eq!(
            opening("t", "[IN<ST]").unwrap(),
            "<untrusted source=\"[STRIPPED-TEMPLATE-TOKEN]\" tool=\"t\">\n"
        );
    }
}
