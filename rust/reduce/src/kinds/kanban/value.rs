//! JSON values, as far as tickets need them.

use std::borrow::Cow;

/// A value as a part of the text, not decoded yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// The field is missing, or is `null`.
    #[default]
    Missing,
    /// The text between the quotes.
    Text(Quoted<'a>),
    /// A number as it is written: integers stay exact.
    Number(&'a str),
    /// `true` or `false`.
    Truth(&'a str),
    /// An array or an object.
    Nested,
}

/// The text between two quotes, valid and still escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quoted<'a> {
    pub(super) raw: &'a str,
    pub(super) has_escapes: bool,
}

impl<'a> Value<'a> {
    /// The value as text, if it is a string, a number or a Boolean.
    pub(super) fn shown(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text.decoded()),
            Self::Number(text) | Self::Truth(text) => Some(Cow::Borrowed(text)),
            Self::Missing | Self::Nested => None,
        }
    }

    /// Whether it is a string or a number, by which tickets can be sorted.
    pub(super) fn is_ordered(self) -> bool {
        matches!(self, Self::Text(_) | Self::Number(_))
    }
}

impl<'a> Quoted<'a> {
    /// The decoded text, with each lone surrogate replaced by U+FFFD. If it cannot be allocated, the text as it is
    /// written.
    pub(super) fn decoded(self) -> Cow<'a, str> {
        if !self.has_escapes {
            return Cow::Borrowed(self.raw);
        }
        let mut text = String::new();
        if text.try_reserve_exact(self.raw.len()).is_err() {
            return Cow::Borrowed(self.raw);
        }
        let mut rest = self.raw;
        while let Some((before, escaped)) = rest.split_once('\\') {
            text.push_str(before);
            let (character, length) = unescaped(escaped);
            text.push(character);
            rest = escaped.get(length..).unwrap_or_default();
        }
        text.push_str(rest);
        Cow::Owned(text)
    }
}

/// The character that `escaped` represents, without its backslash, and the length of the escape.
fn unescaped(escaped: &str) -> (char, usize) {
    let character = match escaped.as_bytes().first() {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode(escaped),
        Some(other) => char::from(*other),
        None => return (char::REPLACEMENT_CHARACTER, 0),
    };
    (character, 1)
}

fn unicode(escaped: &str) -> (char, usize) {
    let unit = |text: &str| u32::from_str_radix(text.get(1..5)?, 16).ok();
    let first = unit(escaped).unwrap_or(u32::from(char::REPLACEMENT_CHARACTER));
    if let Some(character) = char::from_u32(first) {
        return (character, 5);
    }
    let second = escaped.get(5..).and_then(|rest| rest.strip_prefix('\\'));
    let second = second
        .filter(|second| second.starts_with('u'))
        .and_then(unit);
    match second {
        Some(second @ 0xdc00..=0xdfff) if first < 0xdc00 => {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            (
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                11,
            )
        }
        _ => (char::REPLACEMENT_CHARACTER, 5),
    }
}
