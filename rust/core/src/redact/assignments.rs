//! Credentials that a name gives away: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`,
//! `<password>…</password>`.

use std::ops::Range;

use super::forms::is_reference;

/// The parts of names that precede a secret, in the spellings of environments, JSON and code.
pub(super) const NAMES: &[&str] = &[
    "assword",
    "ASSWORD",
    "asswd",
    "ASSWD",
    "assphrase",
    "ASSPHRASE",
    "ecret",
    "ECRET",
    "oken",
    "OKEN",
    "pi_key",
    "PI_KEY",
    "pi-key",
    "pi-Key",
    "pikey",
    "piKey",
    "APIKEY",
    "ccess_key",
    "CCESS_KEY",
    "ccessKey",
    "rivate_key",
    "RIVATE_KEY",
    "rivateKey",
    "uth_key",
    "UTH_KEY",
    "lient-key-data",
    "resharedKey",
    "redentials",
    "REDENTIALS",
];

/// Parts of names whose values are not secret: the model may need them for its next call.
const HARMLESS: &[&str] = &[
    "page", "next", "contin", "cursor", "sync", "delta", "resume", "max", "min", "num", "count",
    "limit", "total", "csrf", "xsrf", "type", "name", "file", "path", "ref", "url", "uri", "arn",
    "hash", "digest", "sha", "id", "len", "size", "field", "env", "index", "pattern", "regex",
    "public",
];

/// Values of documentation and tests.
const EXAMPLES: &[&str] = &[
    "example",
    "xxxx",
    "****",
    "....",
    "your",
    "change",
    "redacted",
    "placeholder",
    "dummy",
    "1234",
    "abcd",
];

const NAME_BYTES: usize = 48;
const BLANKS: usize = 8;
const VALUE_BYTES: usize = 4096;
const QUOTED_MIN_BYTES: usize = 8;
const BARE_MIN_BYTES: usize = 12;

/// The value that is assigned to the name around `literal`.
pub(super) fn value(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let before = bytes.get(..literal.start)?;
    let start = literal.start
        - before
            .iter()
            .rev()
            .take(NAME_BYTES)
            .take_while(|byte| word(**byte))
            .count();
    let name_end = literal.end + run(text, literal.end, word);
    let name = text.get(start..name_end)?;
    if name.len() > NAME_BYTES || is_harmless(name) {
        return None;
    }
    let quotes = run(text, name_end, |byte| {
        matches!(byte, b'"' | b'\'' | b'\\' | b']')
    });
    let mut at = name_end + quotes.min(3);
    let blanks = run(text, at, |byte| matches!(byte, b' ' | b'\t')).min(BLANKS);
    at += blanks;
    let rest = bytes.get(at..)?;
    let is_element = at == name_end && bytes.get(..start).is_some_and(|it| it.ends_with(b"<"));
    match rest {
        [b'=', b'=', ..] | [b':', b':', ..] => return None,
        [b'=', b'>', ..] | [b':', b'=', ..] => at += 2,
        [b'=' | b':', ..] => at += 1,
        [b'>', ..] if is_element => at += 1,
        _ if blanks > 0 && name.starts_with("--") => {}
        _ if blanks > 0 && name == "password" && is_login(text, start) => {
            let length = run(text, at, |byte| byte > b' ');
            return (length >= 6).then_some(at..at + length);
        }
        _ => return None,
    }
    at += run(text, at, |byte| matches!(byte, b' ' | b'\t')).min(BLANKS);
    at += usize::from(matches!(bytes.get(at..), Some([b'\\', b'"' | b'\'', ..])));
    let quote = *bytes.get(at)?;
    if matches!(quote, b'"' | b'\'' | b'`') {
        let start = at + 1;
        let length = run(text, start, |byte| {
            byte > b' ' && byte != quote && byte != b'\\'
        });
        let closes =
            matches!(bytes.get(start + length), Some(byte) if *byte == quote || *byte == b'\\');
        let value = text.get(start..start + length)?;
        return (closes && (QUOTED_MIN_BYTES..=VALUE_BYTES).contains(&length) && is_random(value))
            .then_some(start..start + length);
    }
    let length = run(text, at, |byte| {
        byte.is_ascii_alphanumeric() || b"_-+/=.~!@#$%^*:?".contains(&byte)
    });
    let ends = match bytes.get(at + length) {
        None => true,
        Some(byte) => {
            byte.is_ascii_whitespace()
                || matches!(
                    byte,
                    b'&' | b',' | b';' | b'"' | b'\'' | b'}' | b'\\' | 0x1B
                )
                || (is_element && *byte == b'<')
        }
    };
    let value = text.get(at..at + length)?;
    (ends
        && (BARE_MIN_BYTES..=VALUE_BYTES).contains(&length)
        && is_random(value)
        && !is_type(value))
    .then_some(at..at + length)
}

/// Whether a bare value is the name of a type in source code, such as `Ed25519PrivateKey`.
fn is_type(value: &str) -> bool {
    ["Key", "Token", "Secret", "Password", "Credential"]
        .iter()
        .any(|word| value.contains(word))
}

/// Whether a part of the name states that its value is not secret.
fn is_harmless(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    HARMLESS.iter().any(|part| {
        if part.len() > 3 {
            return lower.contains(part);
        }
        lower.split(['_', '-']).any(|word| word == *part)
            || name.ends_with(&capitalised(part))
            || lower.starts_with(part)
                && name
                    .as_bytes()
                    .get(part.len())
                    .is_some_and(u8::is_ascii_uppercase)
    })
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_ascii_uppercase().to_string() + characters.as_str()
    })
}

/// Whether `login` and a name precede, as in `.netrc`.
fn is_login(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let near = before.get(before.len().saturating_sub(NAME_BYTES * 4)..);
    let near = String::from_utf8_lossy(near.unwrap_or_default());
    near.split_whitespace().rev().nth(1) == Some("login")
}

/// Whether a value looks as if it had been generated: characters of several kinds in turn.
fn is_random(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    if is_reference(value) || EXAMPLES.iter().any(|example| lower.contains(example)) {
        return false;
    }
    let mut last = None;
    let (mut changes, mut counted, mut digits, mut letters) = (0_usize, 0_usize, 0, 0);
    for byte in value.bytes() {
        let kind = match byte {
            b'0'..=b'9' => 0,
            b'a'..=b'z' => 1,
            b'A'..=b'Z' => 2,
            b'_' | b'-' | b'.' | b'/' | b':' => continue,
            b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b',' | b'`' | b'|' => {
                return false;
            }
            _ => 3,
        };
        digits += usize::from(kind == 0);
        letters += usize::from(kind == 1 || kind == 2);
        changes += usize::from(last.is_some_and(|last| last != kind));
        counted += 1;
        last = Some(kind);
    }
    digits >= 2 && letters >= 2 && counted >= QUOTED_MIN_BYTES && changes * 4 >= counted
}

/// The bytes from `from` on that `has` accepts, up to one more than a value may have.
fn run(text: &str, from: usize, has: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    rest.iter()
        .take(VALUE_BYTES + 1)
        .take_while(|byte| has(**byte))
        .count()
}
