//! Properties of a single line that do not depend on the program that wrote it.

use crate::line::beginnings::Beginnings;
use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use ethos_registry_core::find_text::FindText as _;

use crate::line::long_line::{NOTE_HEAD, NOTE_TAIL, hidden_chars};

/// Words that report a problem, matched as whole words in any case.
const BAD_WORDS: [&str; 14] = [
    "error",
    "errors",
    "fail",
    "failed",
    "failure",
    "fatal",
    "panic",
    "panicked",
    "traceback",
    "exception",
    "critical",
    "denied",
    "cannot",
    "abort",
];

static BAD: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(BAD_WORDS)
        .ok()
});

/// A location in a file: `path:line`, `path:line:column`, `path(line,column)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// The path as it is in the line.
    pub(crate) path: &'a str,
    /// Path, line and column as they are in the line.
    pub(crate) text: &'a str,
    /// What follows the location, without the separator.
    pub(crate) rest: &'a str,
}

/// The location that `line` begins with, if any.
pub(crate) fn place(line: &str) -> Option<Place<'_>> {
    memchr::memchr2_iter(b':', b'(', line.as_bytes()).find_map(|at| place_at(line, at))
}

/// The location whose path ends before the colon or parenthesis at `at`.
pub(crate) fn place_at(line: &str, at: usize) -> Option<Place<'_>> {
    let bytes = line.as_bytes();
    let digits = |start: usize| {
        let rest = bytes.get(start..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let line_digits = digits(at + 1);
    if at == 0 || line_digits == 0 {
        return None;
    }
    let mut end = at + 1 + line_digits;
    // A column may follow, and the end of a range: `:4:9:4:12`.
    for _ in 0..3 {
        let digits = match bytes.get(end) {
            Some(b':' | b',') => digits(end + 1),
            _ => 0,
        };
        if digits == 0 {
            break;
        }
        end += 1 + digits;
    }
    if bytes.get(at) == Some(&b'(') {
        if bytes.get(end) != Some(&b')') {
            return None;
        }
        end += 1;
    }
    if !matches!(bytes.get(end), None | Some(b':' | b' ' | b',' | b'-')) {
        return None;
    }
    let rest = bytes.get(end..).unwrap_or_default();
    let blank = rest.iter().take_while(|byte| matches!(byte, b':' | b' '));
    Some(Place {
        path: line.get(..at)?,
        text: line.get(..end)?,
        rest: line.get(end + blank.count()..)?,
    })
}

/// Whether `text` consists of digits only.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Beginnings of the JSON with which a server rejects a request.
static REFUSALS: Beginnings<5> = Beginnings::new([
    "{\"detail\":",
    "{\"error\":\"",
    "{\"error\": \"",
    "{\"error\":{",
    "{\"errors\":[{",
]);

/// Whether `line` is JSON with which a server rejects a request.
pub(crate) fn is_refusal(line: &str) -> bool {
    line.starts_with('{') && REFUSALS.begin(line)
}

/// Whether `line` contains a word that reports a problem, or is the answer to a bad request.
pub(crate) fn is_bad(line: &str) -> bool {
    is_refusal(line) || first_bad(line).is_some()
}

/// The offset of the first word of `line` that reports a problem.
fn first_bad(line: &str) -> Option<usize> {
    let words = BAD.as_ref()?;
    let bytes = line.as_bytes();
    let letter = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_lowercase)
    };
    let found = words.find_overlapping_iter(line).find(|found| {
        // `KeyError:` counts, `terrors` does not.
        let starts = bytes.get(found.start()).is_some_and(u8::is_ascii_uppercase)
            || !letter(found.start().checked_sub(1));
        starts && !letter(Some(found.end()))
    });
    found.map(|found| found.start())
}

/// Like [`shorten`], but a word in the middle that reports a problem is kept.
pub(crate) fn shorten_bad(line: &str, max_chars: usize) -> Cow<'_, str> {
    let is_long = line.len() > 2 * max_chars;
    let hidden = |at: &usize| *at > max_chars / 2 && at + max_chars / 3 < line.len();
    let Some(at) = is_long.then(|| first_bad(line)).flatten().filter(hidden) else {
        return shorten(line, max_chars);
    };
    let (before, bad) = line.split_at_checked(at).unwrap_or_default();
    let chars = max_chars / 2;
    Cow::Owned(format!("{}{}", shorten(before, chars), shorten(bad, chars)))
}

/// `line`, cut to `max_chars` characters if it is longer: the first two thirds, the count of what is left out, and the
/// last third.
pub(crate) fn shorten(line: &str, max_chars: usize) -> Cow<'_, str> {
    if line.len() <= max_chars {
        return Cow::Borrowed(line);
    }
    let chars = line.chars().count();
    // A cut that hides only a few characters is not worth the facts it may hide.
    if chars <= max_chars + (max_chars / 4).max(24) {
        return Cow::Borrowed(line);
    }
    let tail = max_chars / 3;
    let head = max_chars - tail;
    let position = |number| {
        line.char_indices()
            .nth(number)
            .map_or(line.len(), |(at, _)| at)
    };
    let head_end = position(head);
    let tail_start = position(chars - tail);
    let middle = line.get(head_end..tail_start).unwrap_or_default();
    Cow::Owned(format!(
        "{}{NOTE_HEAD}{}{NOTE_TAIL}{}",
        line.get(..head_end).unwrap_or_default(),
        chars - head - tail + hidden_chars(middle),
        line.get(tail_start..).unwrap_or_default(),
    ))
}

/// How many blanks and tabs `line` begins with.
pub(crate) fn indent(line: &str) -> usize {
    line.bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// Whether `line` consists of one symbol repeated at least three times: `-----`, `=====`.
pub(crate) fn is_ruler(line: &str) -> bool {
    let line = line.trimmed();
    if line
        .as_bytes()
        .first()
        .is_none_or(u8::is_ascii_alphanumeric)
    {
        return false;
    }
    let first = line.chars().next().filter(|first| !first.is_alphanumeric());
    line.len() >= 3 && first.is_some_and(|first| line.chars().all(|sign| sign == first))
}

/// The level of a Markdown heading, from 1 to 6: 2 for `## Name`.
pub(crate) fn heading_level(line: &str) -> Option<usize> {
    let name = line.trim_start_matches('#');
    let level = line.len() - name.len();
    ((1..=6).contains(&level) && name.starts_with(' ')).then_some(level)
}

/// Whether `line` announces the next play or task of a playbook: `TASK [oak : read] ****`.
pub(crate) fn is_play(line: &str) -> bool {
    let begins = ["TASK [", "PLAY [", "RUNNING HANDLER ["];
    line.ends_with("***") && begins.iter().any(|begin| line.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bad_in_the_middle_of_a_long_line_stays() {
        let line = format!("{}ERROR code=7 {}", "oak ".repeat(400), "elm ".repeat(400));
        let short = shorten_bad(&line, 200);
        assert!(
            short.contains("oak ERROR code=7 elm") && short.len() < 260,
            "{short}"
        );
        let plain = "oak ".repeat(900);
        assert_eq!(shorten_bad(&plain, 200), shorten(&plain, 200));
        let early = format!("ERROR {plain}");
        assert_eq!(shorten_bad(&early, 200), shorten(&early, 200));
    }

    #[test]
    fn places_are_found_in_every_spelling() {
        for (line, text, rest) in [
            ("src/a.py:10: error: no", "src/a.py:10", "error: no"),
            ("src/a.py:10:5: E501 long", "src/a.py:10:5", "E501 long"),
            ("src/a.ts(3,14): error TS1", "src/a.ts(3,14)", "error TS1"),
            ("C:\\a\\b.cs(3,14): error", "C:\\a\\b.cs(3,14)", "error"),
            ("a.rs:3:4", "a.rs:3:4", ""),
            ("src/a.ts:3:14 - error TS1", "src/a.ts:3:14", "- error TS1"),
        ] {
            assert_eq!(
                place(line).map(|found| (found.text, found.rest)),
                Some((text, rest))
            );
        }
        for line in ["12:30:15 started", "no place", "a: b", "f(x)", ":3: x"] {
            assert!(place(line).is_none_or(|found| found.path == "12"), "{line}");
        }
    }

    #[test]
    fn bad_words_are_whole_words() {
        for line in [
            "ERROR x",
            "KeyError: 1",
            "a FAILED b",
            "E: error",
            "panic: x",
        ] {
            assert!(is_bad(line), "{line}");
        }
        for line in ["terrors", "failover ready", "ok"] {
            assert!(!is_bad(line), "{line}");
        }
    }

    #[test]
    fn a_long_line_keeps_both_ends_and_says_how_much_is_gone() {
        let line = "a".repeat(200) + &"b".repeat(200);
        let short = shorten(&line, 90);
        assert!(
            short.starts_with("aaa") && short.ends_with("bbb"),
            "{short}"
        );
        assert!(short.contains("...[310 chars]..."), "{short}");
    }
}
