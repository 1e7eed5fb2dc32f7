//! What a message is: its severity, its rule, and the others that equal it.

use super::code::is_code;
use crate::line::fingerprint::{fingerprint, mixed};
use ethos_registry_core::chunk::{digits, equal, few};
use ethos_registry_core::find_text::FindText as _;

/// A hash that is equal for a message with its continuation lines, wherever it is broken and whatever object it names.
pub(super) fn exact<'a>(message: &'a str, more: impl Iterator<Item = &'a str>) -> u64 {
    let message = without_object(message);
    let mut more = more.peekable();
    if more.peek().is_none() {
        return fingerprint(message);
    }
    fingerprint(&joined(message, more))
}

/// What represents a number that is left out, and for a quoted name: no byte of UTF-8.
const NUMBER: u64 = 0xFF << 56;
const QUOTED: u64 = 0xFE << 56;

/// The same as [`exact`] for a message in one line of that fingerprint.
pub(super) fn exact_after(message: &str, whole: u64) -> u64 {
    let bare = without_object(message);
    if bare.len() == message.len() {
        whole
    } else {
        fingerprint(bare)
    }
}

/// A message and the lines that go on with it, as one line.
pub(super) fn joined<'a>(message: &'a str, more: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<&str> = std::iter::once(message)
        .chain(more)
        .flat_map(str::split_ascii_whitespace)
        .collect();
    words.join(" ")
}

/// With what a message begins and ends the names that it quotes.
pub(super) fn quotes(message: &str) -> [char; 2] {
    const QUOTES: [[char; 2]; 3] = [['"', '"'], ['`', '`'], ['\u{2018}', '\u{2019}']];
    if opens_with_backquote(message) {
        return ['`', '\''];
    }
    let used = QUOTES.into_iter().find(|[open, _]| message.contains(*open));
    let is_plain = |message| has_quotes(message).then_some(['\'', '\'']);
    used.or_else(|| is_plain(message)).unwrap_or(['`', '`'])
}

/// Whether names are quoted as in old manuals, with a backquote before them and an apostrophe after.
fn opens_with_backquote(message: &str) -> bool {
    let mut open = false;
    let mut pairs = 0;
    for byte in message.bytes().filter(|byte| matches!(byte, b'`' | b'\'')) {
        if open == (byte == b'`') {
            return false;
        }
        pairs += usize::from(open);
        open = !open;
    }
    pairs > 0 && !open
}

/// Whether `'` is around names in `message` and in no word, as in `doesn't`.
fn has_quotes(message: &str) -> bool {
    let bytes = message.as_bytes();
    let letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let mut found = 0;
    let is_quote = |at: usize| {
        found += 1;
        at == 0 || !(letter(at - 1) && letter(at + 1))
    };
    memchr::memchr_iter(b'\'', bytes).all(is_quote) && found > 0 && found % 2 == 0
}

/// What is the same for messages that differ in the names that they quote.
pub(super) fn without_names(joined: &str) -> u64 {
    let said = joined.split(quotes(joined)).step_by(2);
    said.fold(1, |hash, part| mixed(hash, fingerprint(part)))
}

/// The same for a message without its numbers and quoted names.
///
/// Eight bytes are read at a time; after what is left out they are counted again.
pub(crate) fn masked(message: &str) -> u64 {
    let mut rest = message.as_bytes();
    let mut before = b' ';
    let mut hash = 1;
    while let Some(last) = rest.last() {
        let (word, bytes) = match rest.first_chunk() {
            Some(word) => (u64::from_le_bytes(*word), 8),
            None => (few(rest), rest.len()),
        };
        let Some((at, byte)) = opening(word, before) else {
            hash = mixed(hash, word);
            before = if bytes == 8 { byte_at(word, 7) } else { *last };
            rest = rest.get(bytes..).unwrap_or_default();
            continue;
        };
        let kept = word & ((1 << (8 * at)) - 1);
        let mark = if byte.is_ascii_digit() {
            NUMBER
        } else {
            QUOTED
        };
        hash = mixed(hash, kept ^ mark);
        before = byte;
        rest = rest.get(at as usize + 1..).unwrap_or_default();
        let skipped = if byte.is_ascii_digit() {
            rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
        } else {
            find(rest, byte).map_or(rest.len(), |end| end + 1)
        };
        rest = rest.get(skipped..).unwrap_or_default();
    }
    hash
}

/// Where in eight bytes something begins that does not count, a number or a quoted name, and its first byte.
fn opening(word: u64, before: u8) -> Option<(u32, u8)> {
    let quotes = equal(word, b'"') | equal(word, b'`') | equal(word, b'\'');
    let mut special = digits(word) | quotes;
    while special != 0 {
        let at = special.trailing_zeros() / 8;
        let byte = byte_at(word, at);
        special &= special - 1;
        let before = at.checked_sub(1).map_or(before, |at| byte_at(word, at));
        // An apostrophe within a word opens nothing.
        let in_word = before.is_ascii_alphanumeric() || !before.is_ascii();
        if !in_word || matches!(byte, b'"' | b'`') {
            return Some((at, byte));
        }
    }
    None
}

fn byte_at(word: u64, at: u32) -> u8 {
    word.to_le_bytes()
        .get(at as usize)
        .copied()
        .unwrap_or_default()
}

/// Where `byte` first is, which is seldom far.
fn find(bytes: &[u8], byte: u8) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    let found = |word: &[u8; 8]| equal(u64::from_le_bytes(*word), byte);
    let before = words.iter().take_while(|word| found(word) == 0).count();
    match words.get(before) {
        Some(word) => Some(before * 8 + found(word).trailing_zeros() as usize / 8),
        None => Some(before * 8 + rest.iter().position(|other| *other == byte)?),
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
    // `[C0116(missing-docstring), object] message`, `[D107] message`.
    let bracketed = first
        .strip_prefix('[')
        .and_then(|first| first.split_once(['(', ']']));
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

/// What `[C0116(rule), object] message` states of any object: the message without the brackets; without
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
    fn names_are_told_by_the_quotes_of_the_message() {
        for (message, signs) in [
            ("No `leaf' in `oak'", ['`', '\'']),
            ("No `leaf` in `oak`", ['`', '`']),
            ("`leaf` isn't here", ['`', '`']),
            ("No 'leaf' here", ['\'', '\'']),
            ("No \"leaf\" of 'oak'", ['"', '"']),
        ] {
            assert_eq!(quotes(message), signs, "{message}");
        }
    }

    #[test]
    fn masks_are_equal_for_other_numbers_and_names() {
        for (one, other) in [
            (
                "E501 Line too long (92 > 88)",
                "E501 Line too long (101 > 88)",
            ),
            ("name \"a\" is not defined", "name \"bcd\" is not defined"),
            ("don't use 'a'", "don't use 'b'"),
            ("`oak_tree` is 3 wide", "`elm` is 1234567890 wide"),
            ("no 'an \u{e9} odd'", "no 'x'"),
            ("expected 'open", "expected 'shut for long"),
        ] {
            assert_eq!(masked(one), masked(other), "{one}");
            assert_ne!(fingerprint(one), fingerprint(other), "{one}");
        }
        assert_ne!(masked("E501 too long"), masked("E502 too long"));
        assert_ne!(masked("don't use a"), masked("don't use b"));
        assert_ne!(masked("u8 is not u16"), masked("u8 is not u32"));
        assert_ne!(masked("a 'x' b c"), masked("a b 'x' c"));
    }

    #[test]
    fn a_message_names_its_rule() {
        for (message, name) in [
            ("E501 Line too long", "E501"),
            ("C0116: Missing docstring (missing-docstring)", "C0116"),
            ("[C0116(missing-docstring), f] Missing docstring", "C0116"),
            ("[D107] Missing docstring in `__init__`", "D107"),
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
