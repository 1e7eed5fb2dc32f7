//! The form of lines of files whose format shows where they end.

use ethos_registry_core::find_text::FindText as _;

/// A line of JSON with one member or item per line.
pub(super) fn is_of_json(line: &str) -> bool {
    let text = line.trim_ascii();
    let value = text.trim_end_matches(',');
    let is_plain = || matches!(value, "true" | "false" | "null") || value.parse::<f64>().is_ok();
    let ends = || value.ends_with(['"', '{', '[', '}', ']']) || value.has_text("\": ");
    matches!(
        text.as_bytes().first(),
        Some(b'"' | b'{' | b'}' | b'[' | b']')
    ) && ends()
        || is_plain()
}

/// A line of TOML, as in `Cargo.toml` and lock files.
pub(super) fn is_of_toml(line: &str) -> bool {
    let text = line.trim_ascii();
    let is_head = || text.starts_with('[') && text.ends_with(']');
    let is_item = || text.starts_with(['"', '{', '}', ']']) && text.ends_with([',', ']', '}']);
    let is_pair = || {
        let pair = text.split_text(" = ");
        pair.is_some_and(|(key, _)| !key.contains(' ') || key.starts_with('"'))
    };
    text.is_empty() || text.starts_with('#') || is_head() || is_item() || is_pair()
}
