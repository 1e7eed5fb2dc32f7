//! Tokens of vendors that are recognised by what surrounds a literal.

use std::ops::Range;

use super::forms::{PLACEHOLDERS, is_reference, run, url_safe};
use super::shapes::in_word;

/// The characters of one kind that precede `at`.
fn run_before(text: &str, at: usize, has: impl Fn(u8) -> bool) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    before
        .iter()
        .rev()
        .take(128)
        .take_while(|byte| has(**byte))
        .count()
}

/// How far back the program of a command is looked for.
const LINE_BYTES: usize = 512;

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// `sig=`: base64 of 32 bytes in a URL, with its `=` escaped.
pub(super) fn azure_signature(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let length = run(text, literal.end, |byte| url_safe(byte) || byte == b'%');
    let value = text.get(literal.end..literal.end + length)?;
    let is_signature = (43..=90).contains(&length) && value.to_ascii_lowercase().ends_with("%3d");
    (is_signature && !in_word(text.as_bytes(), literal.start))
        .then(|| literal.end..literal.end + length)
}

/// Three characters, a digit, `Q~` and 31 to 34 more.
pub(super) fn azure_secret(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let has = |byte: u8| url_safe(byte) || matches!(byte, b'.' | b'~');
    let before = run_before(text, literal.start, has);
    let length = run(text, literal.end, has);
    let digit = literal.start.checked_sub(1)?;
    let is_digit = text.as_bytes().get(digit)?.is_ascii_digit();
    (before == 4 && is_digit && (31..=34).contains(&length))
        .then(|| literal.start - before..literal.end + length)
}

/// 76 characters, `AZDO` and four more.
pub(super) fn azure_devops(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let alphanumeric = |byte: u8| byte.is_ascii_alphanumeric();
    let before = run_before(text, literal.start, alphanumeric);
    let length = run(text, literal.end, alphanumeric);
    (before == 76 && length == 4).then(|| literal.start - before..literal.end + length)
}

/// 32 hexadecimal digits, `-us` and the number of a data centre.
pub(super) fn mailchimp(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let before = run_before(text, literal.start, is_hex);
    let length = run(text, literal.end, |byte| byte.is_ascii_digit());
    let start = literal.start - before;
    let is_key = before == 32 && (1..=2).contains(&length) && !in_word(text.as_bytes(), start);
    is_key.then(|| start..literal.end + length)
}

pub(super) fn terraform(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let before = run_before(text, literal.start, |byte| byte.is_ascii_alphanumeric());
    let length = run(text, literal.end, url_safe);
    (before == 14 && length >= 60).then(|| literal.start - before..literal.end + length)
}

/// `1/` or `2/`, numbers, a colon and 32 characters.
pub(super) fn asana(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let numbers = run(text, literal.end, |byte| {
        byte.is_ascii_digit() || byte == b'/'
    });
    let colon = literal.end + numbers;
    if numbers < 12
        || text.as_bytes().get(colon) != Some(&b':')
        || in_word(text.as_bytes(), literal.start)
    {
        return None;
    }
    let length = run(text, colon + 1, |byte| byte.is_ascii_alphanumeric());
    (length == 32).then(|| literal.start..colon + 1 + length)
}

pub(super) fn okta(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let length = run(text, literal.end, url_safe);
    (length >= 40).then(|| literal.end..literal.end + length)
}

/// `Bot` in a header, and three runs joined by dots.
pub(super) fn discord_bot(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let length = run(text, literal.end, |byte| url_safe(byte) || byte == b'.');
    let value = text.get(literal.end..literal.end + length)?;
    let is_token = length >= 50 && value.bytes().filter(|byte| *byte == b'.').count() == 2;
    is_token.then(|| literal.end..literal.end + length)
}

/// `curl -u user:password`: the password.
pub(super) fn curl_user(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let before = text.as_bytes().get(..literal.start)?;
    let near = before.get(before.len().saturating_sub(LINE_BYTES)..)?;
    let line = near.rsplit(|byte| *byte == b'\n').next()?;
    memchr::memmem::find(line, b"curl")?;
    let quote = text
        .as_bytes()
        .get(literal.end)
        .copied()
        .filter(|byte| matches!(byte, b'"' | b'\''));
    let start = literal.end + usize::from(quote.is_some());
    let user = run(text, start, |byte| byte > b' ' && byte != b':');
    if text.as_bytes().get(start + user) != Some(&b':') {
        return None;
    }
    let start = start + user + 1;
    let length = run(text, start, |byte| {
        byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`')
    });
    let value = text.get(start..start + length)?;
    let is_password = length >= 4 && !PLACEHOLDERS.contains(&value) && !is_reference(value);
    is_password.then_some(start..start + length)
}
