//! Forms of lines that are told by more than their words.

use memchr::memchr_iter;

use super::super::line::heading_level;

/// Whether `text` ends with the time that all of it took: `3 examples in 0.942 seconds`.
pub(super) fn ends_with_time(text: &str) -> bool {
    text.strip_suffix(" seconds").is_some_and(|spent| {
        let before = spent.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
        let number = spent.as_bytes().get(before.len());
        before.ends_with(" in ") && number.is_some_and(u8::is_ascii_digit)
    })
}

/// Whether `text` is a heading below the first of a text in Markdown; one sign alone begins comments too.
pub(super) fn is_heading(text: &str) -> bool {
    matches!(heading_level(text), Some(2 | 3))
}

/// Whether `text` sets how long something may take: `timeout: 30m`, `connect_timeout=5`.
pub(super) fn is_limit(text: &str) -> bool {
    let set = text.split_once([':', '=']);
    set.is_some_and(|(name, value)| {
        let (name, value) = (name.trim(), value.trim());
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        name.bytes().all(plain)
            && (name.starts_with("timeout") || name.ends_with("timeout"))
            && value.starts_with(|sign: char| sign.is_ascii_digit())
            && value.bytes().all(plain)
    })
}

/// Whether a sign of percent stands in `text` that encodes no byte, as it does in `a%0Ab`.
pub(super) fn holds_share(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr_iter(b'%', bytes).any(|at| {
        bytes
            .get(at + 1..at + 3)
            .is_none_or(|behind| !behind.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Whether `text` is the title of one of several failures: `3) title`.
pub(super) fn is_title(text: &str) -> bool {
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    rest.len() < text.len() && rest.starts_with(") ") && rest.len() > 2
}
