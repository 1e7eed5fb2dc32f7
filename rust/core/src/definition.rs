//! Bytes of tool definitions: compact JSON that is written once and concatenated afterwards.
//!
//! The bytes are those of Python's `json.dumps(value, separators=(",", ":"), ensure_ascii=False)`,
//! which is also what the SDKs of the providers put on the wire.

use std::fmt;

/// How deep a value may be nested: a schema of 128 levels and what a provider puts around it.
pub const MAX_LEVELS: usize = 136;

/// The bytes do not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the definitions do not fit into memory")
    }
}

/// Compact JSON that grows piece by piece.
#[derive(Debug, Default)]
pub struct JsonText {
    bytes: Vec<u8>,
}

impl JsonText {
    /// Add text that is JSON already: punctuation, a number, a literal.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn raw(&mut self, text: &str) -> Result<(), OutOfMemory> {
        self.bytes
            .try_reserve(text.len())
            .map_err(|_| OutOfMemory)?;
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// Add a string in quotes; only `"`, `\` and control characters below U+0020 are escaped.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn string(&mut self, text: &str) -> Result<(), OutOfMemory> {
        self.raw("\"")?;
        let mut rest = text;
        while let Some(at) = rest.bytes().position(must_escape) {
            let (plain, escaped) = rest.split_at_checked(at).unwrap_or((rest, ""));
            self.raw(plain)?;
            let mut characters = escaped.chars();
            if let Some(character) = characters.next() {
                self.escape(character)?;
            }
            rest = characters.as_str();
        }
        self.raw(rest)?;
        self.raw("\"")
    }

    fn escape(&mut self, character: char) -> Result<(), OutOfMemory> {
        match character {
            '"' => self.raw("\\\""),
            '\\' => self.raw("\\\\"),
            '\n' => self.raw("\\n"),
            '\r' => self.raw("\\r"),
            '\t' => self.raw("\\t"),
            '\u{8}' => self.raw("\\b"),
            '\u{c}' => self.raw("\\f"),
            other => self.raw(&format!("\\u{:04x}", u32::from(other))),
        }
    }

    /// The bytes so far.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

fn must_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The JSON array of items that are JSON already.
///
/// # Errors
/// When memory runs out.
pub fn joined(items: &[&[u8]]) -> Result<Vec<u8>, OutOfMemory> {
    let length = items.iter().try_fold(2_usize, |sum, item| {
        sum.checked_add(item.len())?.checked_add(1)
    });
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(length.ok_or(OutOfMemory)?)
        .map_err(|_| OutOfMemory)?;
    bytes.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(item);
    }
    bytes.push(b']');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<u8> {
        let mut json = JsonText::default();
        assert_eq!(json.string(text), Ok(()));
        json.into_bytes()
    }

    #[test]
    fn strings_are_escaped_as_python_escapes_them() {
        for (text, expected) in [
            ("", r#""""#),
            ("plain é 😀 \u{7f}\u{2028}", "\"plain é 😀 \u{7f}\u{2028}\""),
            ("\"\\/", r#""\"\\/""#),
            ("\n\r\t\u{8}\u{c}\0\u{1f}", r#""\n\r\t\b\f\u0000\u001f""#),
        ] {
            assert_eq!(String::from_utf8(written(text)).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn items_are_joined_with_commas() {
        assert_eq!(joined(&[]), Ok(b"[]".to_vec()));
        assert_eq!(joined(&[b"{}"]), Ok(b"[{}]".to_vec()));
        assert_eq!(joined(&[b"1", b"2", b"3"]), Ok(b"[1,2,3]".to_vec()));
    }
}
