//! Tags of HTML.

use memchr::memchr_iter;

const NAME_BYTES: usize = 12;

/// The beginning of a tag.
pub(super) struct Tag {
    name: [u8; NAME_BYTES],
    length: usize,
    pub(super) closes: bool,
}

impl Tag {
    /// The tag that `html` begins with; a name that is longer than any known one is shown in part.
    pub(super) fn read(html: &str) -> Option<Self> {
        let rest = html.strip_prefix('<')?;
        let (rest, closes) = rest
            .strip_prefix('/')
            .map_or((rest, false), |rest| (rest, true));
        let first = rest.bytes().next()?;
        if !first.is_ascii_alphabetic() && !matches!(first, b'!' | b'?') {
            return None;
        }
        let mut name = [0; NAME_BYTES];
        let bytes = rest.bytes().take_while(u8::is_ascii_alphanumeric);
        let mut length = 0;
        for (slot, byte) in name.iter_mut().zip(bytes) {
            *slot = byte.to_ascii_lowercase();
            length += 1;
        }
        Some(Self {
            name,
            length,
            closes,
        })
    }

    pub(super) fn name(&self) -> &str {
        let name = self.name.get(..self.length).unwrap_or_default();
        str::from_utf8(name).unwrap_or_default()
    }
}

/// How long the tag is that `html` begins with, if it ends; a `>` in quotes is not one.
pub(super) fn tag_end(html: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in html.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return Some(at + 1),
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    None
}

/// The value of the attribute `name` of `tag`.
pub(super) fn attribute<'h>(tag: &'h str, name: &str) -> Option<&'h str> {
    let at = memchr_iter(b'=', tag.as_bytes()).find_map(|end| {
        let at = end.checked_sub(name.len())?;
        let is_named = tag.get(at..end)?.eq_ignore_ascii_case(name);
        let before = tag.as_bytes().get(at.checked_sub(1)?)?;
        (is_named && before.is_ascii_whitespace()).then_some(at)
    })?;
    let value = tag.get(at + name.len() + 1..)?;
    let quoted = |quote: char| value.strip_prefix(quote)?.split(quote).next();
    let plain = || {
        value
            .split(|sign: char| sign.is_ascii_whitespace() || sign == '>')
            .next()
    };
    quoted('"').or_else(|| quoted('\'')).or_else(plain)
}
