//! What a message is: how severe, of which rule, and the same as which others.

use super::super::diagnostics::is_code;
use super::super::fingerprint::{fingerprint, fingerprint_after, mixed};
use crate::find_text::FindText as _;

/// What is the same for a message and the lines that go on with it, wherever it was broken and whatever object it
/// names.
pub(super) fn exact<'a>(message: &'a str, more: impl Iterator<Item = &'a str>) -> u64 {
    let message = without_object(message);
    let mut more = more.peekable();
    if more.peek().is_none() {
        return fingerprint(message);
    }
    let joined: Vec<&str> = std::iter::once(message)
        .chain(more)
        .flat_map(str::split_ascii_whitespace)
        .collect();
    fingerprint(&joined.join(" "))
}

/// The same for a message without its numbers and quoted names.
pub(super) fn masked(message: &str) -> u64 {
    let bytes = message.as_bytes();
    let mut hash = 1;
    let mut start = 0;
    let mut at = 0;
    let is_special = |byte: &u8| SPECIAL.get(usize::from(*byte)) == Some(&true);
    while let Some(next) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(is_special))
    {
        at += next;
        let byte = bytes.get(at).copied().unwrap_or_default();
        let skipped = skipped(bytes, at, byte);
        if skipped == 0 {
            at += 1;
        } else {
            let kept = bytes.get(start..at).unwrap_or_default();
            hash = mixed(
                fingerprint_after(hash, kept),
                u64::from(byte.is_ascii_digit()),
            );
            at += skipped;
            start = at;
        }
    }
    fingerprint_after(hash, bytes.get(start..).unwrap_or_default())
}

/// How many bytes of what begins here do not count: a number, a quoted name.
fn skipped(bytes: &[u8], at: usize, byte: u8) -> usize {
    let rest = bytes.get(at + 1..).unwrap_or_default();
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    let in_word = before.is_some_and(|before| before.is_ascii_alphanumeric() || !before.is_ascii());
    match byte {
        // An apostrophe within a word opens nothing.
        b'\'' | b'0'..=b'9' if in_word => 0,
        b'0'..=b'9' => 1 + rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => memchr::memchr(byte, rest).map_or(rest.len(), |end| end + 1) + 1,
    }
}

/// Bytes at which something may begin that does not count in a mask.
static SPECIAL: [bool; 256] = special();

const fn special() -> [bool; 256] {
    let mut special = [false; 256];
    let mut byte = 0_u8;
    loop {
        // A constant function has no other way to a place of an array; a byte is never beyond it.
        #[expect(clippy::indexing_slicing, reason = "256 places, one for each byte")]
        {
            special[byte as usize] = byte.is_ascii_digit() || matches!(byte, b'"' | b'`' | b'\'');
        }
        if byte == u8::MAX {
            return special;
        }
        byte += 1;
    }
}

/// Whether a linter calls this an error that keeps the program from working: `E0602: …` and
/// `F0001: …` of pylint, `E999 …` and `F821 …` of flake8 and ruff.
pub(super) fn is_severe(message: &str) -> bool {
    let (letter, digits) = match message.as_bytes() {
        [b'[', letter @ (b'E' | b'F'), rest @ ..] | [letter @ (b'E' | b'F'), rest @ ..] => {
            (*letter, rest)
        }
        _ => return false,
    };
    match digits {
        [a, b, c, d, end, ..] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()) => {
            !end.is_ascii_alphanumeric()
        }
        [b'9', _, _, end, ..] => letter == b'E' && !end.is_ascii_alphanumeric(),
        [b'8', b'2', _, end, ..] => letter == b'F' && !end.is_ascii_alphanumeric(),
        _ => false,
    }
}

/// The rule that a message names: the code before it, or what closes it.
pub(super) fn rule(message: &str) -> &str {
    let first = message.split([' ', ':']).next().unwrap_or_default();
    if is_code(first) {
        return first;
    }
    // `[C0116(missing-docstring), object] message`.
    let bracketed = first
        .strip_prefix('[')
        .and_then(|first| first.split_once('('));
    if let Some((code, _)) = bracketed.filter(|(code, _)| is_code(code)) {
        return code;
    }
    let opening = match message.as_bytes().last() {
        Some(b']') => message.rfind('['),
        Some(b')') => message.rfind('('),
        _ => message.rfind(' '),
    };
    opening
        .and_then(|opening| message.get(opening..))
        .unwrap_or(message)
        .trim()
}

/// What `[C0116(rule), object] message` says of any object: the message without the brackets; without
/// what it quotes of the text as well: `message [Context: "..."]`.
pub(super) fn without_object(message: &str) -> &str {
    let quoted = message
        .ends_with("\"]")
        .then(|| message.rsplit_text(" [Context: "))
        .flatten();
    let message = quoted.map_or(message, |(message, _)| message);
    let bracketed = message
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    match bracketed {
        Some((inside, text)) if inside.contains("), ") => text,
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_equal_for_other_numbers_and_names() {
        for (one, other) in [
            (
                "E501 Line too long (92 > 88)",
                "E501 Line too long (101 > 88)",
            ),
            ("name \"a\" is not defined", "name \"bcd\" is not defined"),
            ("don't use 'a'", "don't use 'b'"),
        ] {
            assert_eq!(masked(one), masked(other), "{one}");
            assert_ne!(fingerprint(one), fingerprint(other), "{one}");
        }
        assert_ne!(masked("E501 too long"), masked("E502 too long"));
        assert_ne!(masked("don't use a"), masked("don't use b"));
    }

    #[test]
    fn a_message_names_its_rule() {
        for (message, name) in [
            ("E501 Line too long", "E501"),
            ("C0116: Missing docstring (missing-docstring)", "C0116"),
            ("[C0116(missing-docstring), f] Missing docstring", "C0116"),
            ("error: No type  [no-untyped-def]", "[no-untyped-def]"),
            ("error  Unexpected var  no-var", "no-var"),
        ] {
            assert_eq!(rule(message), name);
        }
    }

    #[test]
    fn severe_findings_are_those_that_keep_a_program_from_working() {
        for message in [
            "E0602: x",
            "[E0602(u), f] x",
            "F821 undefined",
            "E999 Syntax",
        ] {
            assert!(is_severe(message), "{message}");
        }
        for message in ["E501 long", "F401 unused", "C0116: x", "error: x"] {
            assert!(!is_severe(message), "{message}");
        }
    }
}
