//! Output for programs, which must not be shortened.

use serde_json::Value;

/// How documents begin that are parsed by programs.
const DOCUMENTS: [&str; 4] = ["<?xml", "<!DOCTYPE", "<html", "<svg"];
/// Shorter lines of letters and digits may be words.
const ENCODED_LINE_BYTES: usize = 60;

/// Whether `text` is JSON, JSON lines, XML, base64, or has NUL characters.
#[must_use]
pub fn is_data(text: &str) -> bool {
    let trimmed = text.trim();
    let first_line = trimmed.lines().next().unwrap_or_default();
    text.contains('\0')
        || (trimmed.starts_with(['{', '[']) && (is_json(trimmed) || is_json(first_line)))
        || DOCUMENTS
            .iter()
            .any(|beginning| trimmed.starts_with(beginning))
        || is_base64(trimmed)
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok()
}

fn is_base64(text: &str) -> bool {
    let encodes = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte);
    text.lines()
        .next()
        .is_some_and(|line| line.len() >= ENCODED_LINE_BYTES)
        && text.lines().all(|line| line.bytes().all(encodes))
}
