//! A single-pass JSON (RFC 8259) scanner that extracts the fields of tickets and skips the rest.
//!
//! Skipped values are validated as well, so that text that is not JSON is detected.

use super::board::Entry;
use super::value::{Quoted, Value};

/// The deepest nesting of arrays and objects, including the list itself.
const MAX_DEPTH: u32 = 128;
/// The nesting depth of a field of a ticket.
const FIELD_DEPTH: u32 = 2;

pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Whether only white space is left.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.text.len()
    }

    /// Reads an array; `item` reads each item.
    pub(super) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Some(());
        }
        loop {
            item(self)?;
            if !self.take(b',') {
                return self.expect(b']');
            }
        }
    }

    /// Reads an entry of the list; if an object repeats a field, the last value counts.
    pub(super) fn entry(&mut self) -> Option<Entry<'a>> {
        let mut entry = Entry::default();
        if !self.take(b'{') {
            self.value(FIELD_DEPTH - 1)?;
            return Some(entry);
        }
        entry.is_object = true;
        if self.take(b'}') {
            return Some(entry);
        }
        loop {
            let key = self.quoted()?;
            self.expect(b':')?;
            let value = self.value(FIELD_DEPTH)?;
            if let Some(field) = entry.field(&key.decoded()) {
                *field = value;
                entry.has_fields = true;
            }
            if !self.take(b',') {
                self.expect(b'}')?;
                return Some(entry);
            }
        }
    }

    /// Reads any value inside `depth` arrays and objects.
    fn value(&mut self, depth: u32) -> Option<Value<'a>> {
        self.skip_blanks();
        match self.peek()? {
            b'"' => self.quoted().map(Value::Text),
            b'[' | b'{' => {
                self.skip_nested(depth)?;
                Some(Value::Nested)
            }
            b't' => self.word("true").map(Value::Truth),
            b'f' => self.word("false").map(Value::Truth),
            b'n' => self.word("null").map(|_| Value::Missing),
            _ => self.number().map(Value::Number),
        }
    }

    /// Skips an array or object with its contents. The open ones are a bit each, 1 for an object.
    fn skip_nested(&mut self, depth: u32) -> Option<()> {
        let mut open = 0_u128;
        let mut levels = 0_u32;
        loop {
            self.skip_blanks();
            let byte = self.peek()?;
            if matches!(byte, b'[' | b'{') {
                self.at += 1;
                levels += 1;
                if depth + levels > MAX_DEPTH {
                    return None;
                }
                let is_object = byte == b'{';
                open = open << 1 | u128::from(is_object);
                if !self.take(if is_object { b'}' } else { b']' }) {
                    if is_object {
                        self.key()?;
                    }
                    continue;
                }
                open >>= 1;
                levels -= 1;
            } else {
                self.value(MAX_DEPTH)?;
            }
            loop {
                if levels == 0 {
                    return Some(());
                }
                let is_object = open & 1 == 1;
                if self.take(b',') {
                    if is_object {
                        self.key()?;
                    }
                    break;
                }
                self.expect(if is_object { b'}' } else { b']' })?;
                open >>= 1;
                levels -= 1;
            }
        }
    }

    fn key(&mut self) -> Option<()> {
        self.quoted()?;
        self.expect(b':')
    }

    fn quoted(&mut self) -> Option<Quoted<'a>> {
        self.expect(b'"')?;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            self.at += end_of_plain(self.text.as_bytes().get(self.at..)?);
            match self.peek()? {
                b'"' => {
                    let raw = self.text.get(start..self.at)?;
                    self.at += 1;
                    return Some(Quoted { raw, has_escapes });
                }
                b'\\' => {
                    has_escapes = true;
                    self.escape()?;
                }
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at + 1..)?;
        let length = match rest.first()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 1,
            b'u' if rest.get(1..5)?.iter().all(u8::is_ascii_hexdigit) => 5,
            _ => return None,
        };
        self.at += 1 + length;
        Some(())
    }

    fn number(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.skip_byte(b'-');
        if !self.skip_byte(b'0') {
            self.digits()?;
        }
        if self.skip_byte(b'.') {
            self.digits()?;
        }
        if self.skip_byte(b'e') || self.skip_byte(b'E') {
            let _ = self.skip_byte(b'+') || self.skip_byte(b'-');
            self.digits()?;
        }
        self.text.get(start..self.at)
    }

    fn digits(&mut self) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        (digits > 0).then_some(())
    }

    fn word(&mut self, word: &'static str) -> Option<&'static str> {
        self.text.get(self.at..)?.strip_prefix(word)?;
        self.at += word.len();
        Some(word)
    }

    /// Reads `byte`, which must be the next byte after white space.
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Reads `byte` if it is the next byte after white space. Returns whether it was.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        self.skip_byte(byte)
    }

    fn skip_byte(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

const WORD_BYTES: usize = 8;
const ONES: u64 = u64::from_ne_bytes([1; WORD_BYTES]);
const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; WORD_BYTES]);

/// The number of bytes before the first quote, backslash or control character.
fn end_of_plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    for chunk in bytes.chunks_exact(WORD_BYTES) {
        let Ok(word) = <[u8; WORD_BYTES]>::try_from(chunk) else {
            break;
        };
        if holds_special(u64::from_ne_bytes(word)) {
            break;
        }
        at += WORD_BYTES;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| !is_special(**byte)).count()
}

fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Whether one of eight bytes is special. A subtraction borrows from the high bit of a byte exactly if the byte is
/// smaller; the lowest such byte is always correct.
fn holds_special(word: u64) -> bool {
    let below = |value: u64, limit: u8| value.wrapping_sub(ONES * u64::from(limit)) & !value;
    let equals = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | equals(b'"') | equals(b'\\')) & HIGH_BITS != 0
}
