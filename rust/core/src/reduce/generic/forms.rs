//! Forms of lines that are told by more than their words.

use super::super::line::heading_level;

/// Whether `text` ends with the time that all of it took: `3 examples in 0.942 seconds`.
pub(super) fn ends_with_time(text: &str) -> bool {
    let spent = text.strip_suffix(" seconds");
    spent
        .and_then(|text| text.rsplit_once(" in "))
        .is_some_and(|(_, number)| {
            number.starts_with(|sign: char| sign.is_ascii_digit())
                && number
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'.')
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
