//! JSON text that arrives in pieces: its state after each piece, without reading any byte twice.

mod keys;
mod number;
mod state;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use memchr::memchr2;

use crate::json_text::{MAX_DEPTH, is_infinite};
use keys::Keys;
use number::Number;
pub use state::State;

const HIGH_SURROGATES: std::ops::RangeInclusive<u16> = 0xD800..=0xDBFF;
const LOW_SURROGATES: std::ops::RangeInclusive<u16> = 0xDC00..=0xDFFF;
/// The bytes of an escape such as `\u00e9`.
const UNICODE_ESCAPE_BYTES: usize = 6;
const REPLACEMENT_ESCAPE: &str = "\\ufffd";

/// Which byte may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Value,
    FirstKeyOrEnd,
    Key,
    Colon,
    FirstValueOrEnd,
    CommaOrEnd,
    StringByte { is_key: bool },
    Escape { is_key: bool },
    HexDigit { is_key: bool, left: u8, unit: u16 },
    Literal { word: &'static [u8], at: usize },
    NumberByte(Number),
    WhiteSpace,
    Nothing,
}

/// A container that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

/// Collects JSON text and knows after each piece whether it is whole. Every byte is scanned once.
pub struct JsonStream {
    text: String,
    scanned: usize,
    expected: Expected,
    open: Vec<Container>,
    keys: Keys,
    /// Where the string, key or number that is being read starts.
    token_start: usize,
    /// The text up to here plus closing brackets is a valid value; nothing before the first value starts.
    complete_to: Option<usize>,
    /// The open string may be closed here: in front of an unfinished escape.
    string_safe_to: usize,
    /// Where the escape of a high surrogate starts that may still get its other half.
    high_surrogate_at: Option<usize>,
    /// Where the escapes of lone surrogates start.
    lone_surrogates: Vec<usize>,
    is_object: bool,
}

impl Default for JsonStream {
    fn default() -> Self {
        Self {
            text: String::new(),
            scanned: 0,
            expected: Expected::Value,
            open: Vec::new(),
            keys: Keys::default(),
            token_start: 0,
            complete_to: None,
            string_safe_to: 0,
            high_surrogate_at: None,
            lone_surrogates: Vec::new(),
            is_object: false,
        }
    }
}

impl JsonStream {
    /// An empty text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Append a piece and scan it.
    pub fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        // Taken out so that the scan may change the other fields.
        let text = std::mem::take(&mut self.text);
        self.scan(&text);
        self.text = text;
    }

    /// What the text is so far.
    #[must_use]
    pub fn state(&self) -> State {
        match self.expected {
            Expected::Nothing => State::Invalid,
            Expected::WhiteSpace if self.is_object => State::Object,
            Expected::WhiteSpace => State::OtherValue,
            Expected::NumberByte(number) if self.open.is_empty() && number.is_whole() => {
                State::OtherValue
            }
            Expected::Value if self.open.is_empty() => State::Blank,
            _ => State::Open,
        }
    }

    /// How many bytes have come.
    #[must_use]
    pub fn length(&self) -> usize {
        self.text.len()
    }

    /// The text so far; each escape of a lone surrogate is that of U+FFFD.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        self.up_to(self.text.len())
    }

    /// The longest valid value that the text has so far, as JSON: an open string keeps what it has, open containers
    /// are closed, and a key without a value, an unfinished number or an unfinished literal is left out.
    ///
    /// Nothing while no value has started.
    #[must_use]
    pub fn partial(&self) -> Option<String> {
        let is_in_value = match self.expected {
            Expected::StringByte { is_key }
            | Expected::Escape { is_key }
            | Expected::HexDigit { is_key, .. } => !is_key,
            _ => false,
        };
        let end = if is_in_value {
            self.high_surrogate_at.unwrap_or(self.string_safe_to)
        } else {
            self.complete_to?
        };
        let mut partial = self.up_to(end).into_owned();
        if is_in_value {
            partial.push('"');
        }
        for container in self.open.iter().rev() {
            partial.push(match container {
                Container::Object => '}',
                Container::Array => ']',
            });
        }
        Some(partial)
    }

    fn up_to(&self, end: usize) -> Cow<'_, str> {
        let text = self.text.get(..end).unwrap_or_default();
        if self.lone_surrogates.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut mended = text.to_owned();
        for start in &self.lone_surrogates {
            let escape = *start..start + UNICODE_ESCAPE_BYTES;
            if escape.end <= end {
                mended.replace_range(escape, REPLACEMENT_ESCAPE);
            }
        }
        Cow::Owned(mended)
    }

    fn scan(&mut self, text: &str) {
        let bytes = text.as_bytes();
        while self.expected != Expected::Nothing {
            if matches!(self.expected, Expected::StringByte { .. }) {
                // Most bytes are inside strings, and most of those need no look of their own.
                self.skip_plain(bytes);
            }
            let Some(byte) = bytes.get(self.scanned) else {
                return;
            };
            let at = self.scanned;
            self.scanned += 1;
            self.step(text, at, *byte);
        }
        self.scanned = bytes.len();
    }

    /// Skip the bytes of a string up to its end, an escape, or a control character.
    fn skip_plain(&mut self, bytes: &[u8]) {
        let rest = bytes.get(self.scanned..).unwrap_or_default();
        let end = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
        let plain = rest.get(..end).unwrap_or_default();
        let length = plain.iter().position(|byte| *byte < b' ').unwrap_or(end);
        if length > 0 {
            self.end_high_surrogate();
            self.scanned += length;
            self.string_safe_to = self.scanned;
        }
    }

    fn step(&mut self, text: &str, at: usize, byte: u8) {
        self.expected = match self.expected {
            Expected::StringByte { is_key } => self.string_byte(text, at, byte, is_key),
            Expected::Escape { is_key } => self.escape(byte, is_key),
            Expected::HexDigit { is_key, left, unit } => self.hex_digit(byte, is_key, left, unit),
            Expected::Literal { word, at: place } => self.literal(word, place, byte),
            Expected::NumberByte(number) => return self.number(text, at, byte, number),
            _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => return,
            Expected::FirstValueOrEnd if byte == b']' => self.close(),
            Expected::Value | Expected::FirstValueOrEnd => self.value(at, byte),
            Expected::FirstKeyOrEnd if byte == b'}' => self.close(),
            Expected::FirstKeyOrEnd | Expected::Key if byte == b'"' => {
                self.token_start = at;
                Expected::StringByte { is_key: true }
            }
            Expected::Colon if byte == b':' => Expected::Value,
            Expected::CommaOrEnd => match (byte, self.open.last()) {
                (b',', Some(Container::Object)) => Expected::Key,
                (b',', Some(Container::Array)) => Expected::Value,
                (b'}', Some(Container::Object)) | (b']', Some(Container::Array)) => self.close(),
                _ => Expected::Nothing,
            },
            _ => Expected::Nothing,
        };
    }

    fn value(&mut self, at: usize, byte: u8) -> Expected {
        match byte {
            b'{' | b'[' => self.container(byte == b'{'),
            b'"' => {
                self.token_start = at;
                self.string_safe_to = self.scanned;
                Expected::StringByte { is_key: false }
            }
            b't' => Expected::Literal {
                word: b"true",
                at: 1,
            },
            b'f' => Expected::Literal {
                word: b"false",
                at: 1,
            },
            b'n' => Expected::Literal {
                word: b"null",
                at: 1,
            },
            _ => match Number::start(byte) {
                Some(number) => {
                    self.token_start = at;
                    Expected::NumberByte(number)
                }
                None => Expected::Nothing,
            },
        }
    }

    fn container(&mut self, is_object: bool) -> Expected {
        if self.open.len() == MAX_DEPTH {
            return Expected::Nothing;
        }
        if self.open.is_empty() {
            self.is_object = is_object;
        }
        self.complete_to = Some(self.scanned);
        if is_object {
            self.open.push(Container::Object);
            self.keys.open();
            Expected::FirstKeyOrEnd
        } else {
            self.open.push(Container::Array);
            Expected::FirstValueOrEnd
        }
    }

    fn close(&mut self) -> Expected {
        if self.open.pop() == Some(Container::Object) {
            self.keys.close();
        }
        self.value_ended(self.scanned)
    }

    fn value_ended(&mut self, end: usize) -> Expected {
        self.complete_to = Some(end);
        if self.open.is_empty() {
            Expected::WhiteSpace
        } else {
            Expected::CommaOrEnd
        }
    }

    fn string_byte(&mut self, text: &str, at: usize, byte: u8, is_key: bool) -> Expected {
        match byte {
            b'"' if is_key => {
                self.end_high_surrogate();
                if self.keys.insert(text, self.token_start..self.scanned) {
                    Expected::Colon
                } else {
                    Expected::Nothing
                }
            }
            b'"' => {
                self.end_high_surrogate();
                self.value_ended(self.scanned)
            }
            b'\\' => {
                self.string_safe_to = at;
                Expected::Escape { is_key }
            }
            _ => Expected::Nothing, // a control character
        }
    }

    fn escape(&mut self, byte: u8, is_key: bool) -> Expected {
        match byte {
            b'u' => Expected::HexDigit {
                is_key,
                left: 4,
                unit: 0,
            },
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.end_high_surrogate();
                self.string_safe_to = self.scanned;
                Expected::StringByte { is_key }
            }
            _ => Expected::Nothing,
        }
    }

    fn hex_digit(&mut self, byte: u8, is_key: bool, left: u8, unit: u16) -> Expected {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Expected::Nothing;
        };
        let unit = (unit << 4) | u16::try_from(digit).unwrap_or_default();
        if left > 1 {
            return Expected::HexDigit {
                is_key,
                left: left - 1,
                unit,
            };
        }
        let start = self.scanned - UNICODE_ESCAPE_BYTES;
        let is_second_half =
            self.high_surrogate_at == Some(start.wrapping_sub(UNICODE_ESCAPE_BYTES));
        if LOW_SURROGATES.contains(&unit) && is_second_half {
            self.high_surrogate_at = None;
        } else {
            self.end_high_surrogate();
            if HIGH_SURROGATES.contains(&unit) {
                self.high_surrogate_at = Some(start);
            } else if LOW_SURROGATES.contains(&unit) {
                self.lone_surrogates.push(start);
            }
        }
        self.string_safe_to = self.scanned;
        Expected::StringByte { is_key }
    }

    /// A high surrogate whose other half did not follow is a lone one.
    fn end_high_surrogate(&mut self) {
        if let Some(start) = self.high_surrogate_at.take() {
            self.lone_surrogates.push(start);
        }
    }

    fn literal(&mut self, word: &'static [u8], at: usize, byte: u8) -> Expected {
        if word.get(at) != Some(&byte) {
            return Expected::Nothing;
        }
        if at + 1 == word.len() {
            return self.value_ended(self.scanned);
        }
        Expected::Literal { word, at: at + 1 }
    }

    fn number(&mut self, text: &str, at: usize, byte: u8, number: Number) {
        if let Some(next) = number.next(byte) {
            self.expected = Expected::NumberByte(next);
            return;
        }
        if !number.is_whole() || is_infinite(text.get(self.token_start..at).unwrap_or_default()) {
            self.expected = Expected::Nothing;
            return;
        }
        self.expected = self.value_ended(at);
        self.step(text, at, byte); // it ended the number, and means something of its own
    }
}
