//! What a message is: how severe, of which rule, and the same as which others.

use super::super::diagnostics::is_code;
use crate::find_text::FindText as _;

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

fn mixed(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(23) ^ value).wrapping_mul(MULTIPLIER)
}

/// A number that is the same for equal texts, in every process.
pub(super) fn fingerprint(text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let last = rest
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte));
    let hash = words
        .iter()
        .fold(0, |hash, word| mixed(hash, u64::from_le_bytes(*word)));
    mixed(mixed(hash, last), text.len() as u64)
}

/// The same for a message and the lines that go on with it, wherever it was broken and whatever object it
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
    let mut hash = 1;
    let mut pending = 0_u64;
    let mut filled = 0;
    // The last byte that counts: a run of digits is one `#`.
    let mut last = b' ';
    let mut quote = None;
    for &byte in message.as_bytes() {
        if let Some(open) = quote {
            if byte == open {
                quote = None;
            }
            continue;
        }
        match byte {
            b'"' | b'`' => {
                quote = Some(byte);
                continue;
            }
            // An apostrophe within a word opens nothing.
            b'\'' if !last.is_ascii_alphanumeric() && last.is_ascii() => {
                quote = Some(byte);
                continue;
            }
            b'0'..=b'9' if last == b'#' => continue,
            b'0'..=b'9' if !last.is_ascii_alphanumeric() => last = b'#',
            _ => last = byte,
        }
        pending = pending << 8 | u64::from(last);
        filled += 1;
        if filled == 8 {
            hash = mixed(hash, pending);
            (pending, filled) = (0, 0);
        }
    }
    mixed(mixed(hash, pending), filled)
}

/// Whether a linter calls this an error that keeps the program from working: `E0602: …` and
/// `F0001: …` of pylint, `E999 …` and `F821 …` of flake8 and ruff.
pub(super) fn is_severe(message: &str) -> bool {
    let (letter, digits) = match message.trim_start_matches('[').as_bytes() {
        [letter @ (b'E' | b'F'), rest @ ..] => (*letter, rest),
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
        .ends_with(']')
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
