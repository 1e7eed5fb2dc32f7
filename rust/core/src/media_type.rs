//! What kind of content some bytes are: by the bytes, not by a name or a header.

use std::str;

/// Enough bytes for every signature.
const LOOKED_AT_BYTES: usize = 8_192;

/// The media type of `data`: of a known signature, else `text/plain` for UTF-8 without control
/// characters; `None` for anything else.
///
/// ```
/// # use ethos_registry_core::media_type::sniff;
/// assert_eq!(sniff(b"\x89PNG\r\n\x1a\n"), Some("image/png"));
/// assert_eq!(sniff("caf\u{e9}".as_bytes()), Some("text/plain"));
/// assert_eq!(sniff(b"\x00\x01"), None);
/// ```
#[must_use]
pub fn sniff(data: &[u8]) -> Option<&'static str> {
    let start = data.get(..LOOKED_AT_BYTES).unwrap_or(data);
    if let Some(found) = infer::get(start) {
        return Some(usual_name(found.mime_type()));
    }
    is_text(start, data.len() > start.len()).then_some("text/plain")
}

/// The registered name where the library has an older one.
fn usual_name(media_type: &'static str) -> &'static str {
    match media_type {
        "audio/x-wav" => "audio/wav",
        "audio/x-flac" => "audio/flac",
        "audio/m4a" => "audio/mp4",
        other => other,
    }
}

fn is_text(start: &[u8], is_cut: bool) -> bool {
    let text = match str::from_utf8(start) {
        Ok(text) => text,
        // A character may be cut at the end.
        Err(error) if is_cut && error.error_len().is_none() => start
            .get(..error.valid_up_to())
            .and_then(|valid| str::from_utf8(valid).ok())
            .unwrap_or_default(),
        Err(_) => return false,
    };
    !text
        .chars()
        .any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x0c' | '\x1b' | '\x08'))
}

#[cfg(test)]
mod tests {
    use super::sniff;

    #[test]
    fn content_is_known_by_its_first_bytes() {
        for (data, expected) in [
            (&b"\xff\xd8\xff\xe0"[..], Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\x00\x00\x00\x00WEBPVP8 ", Some("image/webp")),
            (b"%PDF-1.7", Some("application/pdf")),
            (b"RIFF\x00\x00\x00\x00WAVEfmt ", Some("audio/wav")),
            (b"PK\x03\x04", Some("application/zip")),
            (b"a,b\n1,2\n", Some("text/plain")),
            (b"", Some("text/plain")),
            (b"a\x00b", None),
            (b"\xff\xfe\x00", None),
        ] {
            assert_eq!(sniff(data), expected, "{data:?}");
        }
    }

    #[test]
    fn a_character_that_is_cut_at_the_limit_is_still_text() {
        let text = "\u{e9}".repeat(5_000);
        assert_eq!(sniff(text.as_bytes()), Some("text/plain"));
        assert_eq!(sniff(format!("a{text}").as_bytes()), Some("text/plain"));
        assert_eq!(sniff(b"caf\xc3"), None);
    }
}
