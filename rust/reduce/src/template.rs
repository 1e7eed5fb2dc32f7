//! One key for lines that differ only in values: numbers, ids, quoted text and paths.

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const STRING: u8 = 1;
const PATH: u8 = 2;
const VALUE: u8 = 3;
/// Hexadecimal digits of at least this number with a digit among them are an id.
const LEAST_ID: usize = 7;

/// The key of a line, and keys of its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) key: u64,
    pub(crate) first_word: u64,
    pub(crate) three_words: u64,
    pub(crate) words: usize,
    /// Whether it begins with a path.
    pub(crate) is_path: bool,
}

/// Mixes a value into a hash. The result is equal in every process.
pub(crate) fn mixed(hash: u64, value: u64) -> u64 {
    let hash = (hash ^ value).wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 29)
}

/// The hash of `text`.
pub(crate) fn hashed(text: &[u8]) -> u64 {
    text.iter().fold(text.len() as u64, |hash, byte| {
        mixed(hash, u64::from(*byte))
    })
}

/// The template of a line.
pub(crate) fn template(line: &str) -> Template {
    let bytes = line.trim_ascii().as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let mut found = Template::default();
    let mut hash = 7_u64;
    let mut at = 0;
    while at < bytes.len() {
        let sign = byte(at);
        if sign.is_ascii_whitespace() {
            while byte(at).is_ascii_whitespace() {
                at += 1;
            }
            found.end_word(hash);
            hash = mixed(hash, u64::from(b' '));
            continue;
        }
        // The bar behind a number of changed lines.
        if matches!(sign, b'+' | b'-') && at > 0 && byte(at - 1) == b' ' {
            let rest = bytes.get(at..).unwrap_or_default();
            if rest.iter().all(|sign| matches!(sign, b'+' | b'-')) {
                hash = mixed(hash, u64::from(VALUE));
                break;
            }
        }
        if matches!(sign, b'"' | b'\'' | b'`') && (at == 0 || !is_word(byte(at - 1))) {
            let rest = bytes.get(at + 1..).unwrap_or_default();
            if let Some(length) = memchr::memchr(sign, rest) {
                hash = mixed(hash, u64::from(STRING));
                at += length + 2;
                continue;
            }
        }
        if !is_token(sign) {
            hash = mixed(hash, u64::from(sign));
            at += 1;
            continue;
        }
        let start = at;
        let mut slashes = false;
        while at < bytes.len() && (is_token(byte(at)) || byte(at) == b'/') {
            slashes |= byte(at) == b'/';
            at += 1;
        }
        if slashes {
            found.is_path |= start == 0;
            hash = mixed(hash, u64::from(PATH));
        } else {
            hash = masked(hash, bytes.get(start..at).unwrap_or_default());
        }
    }
    found.end_word(hash);
    found.key = hash;
    found
}

impl Template {
    fn end_word(&mut self, hash: u64) {
        self.words += 1;
        if self.words == 1 {
            self.first_word = hash;
        }
        if self.words <= 3 {
            self.three_words = hash;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'@' | b'~' | b'-' | b'+' | b'/')
}

/// Continues the hash with a word whose numbers and ids are values.
fn masked(mut hash: u64, token: &[u8]) -> u64 {
    let byte = |at: usize| token.get(at).copied().unwrap_or_default();
    let mut at = 0;
    while at < token.len() {
        let begins = at == 0 || !is_word(byte(at - 1));
        if begins && let Some(length) = id(token.get(at..).unwrap_or_default()) {
            hash = mixed(hash, u64::from(VALUE));
            at += length;
        } else if byte(at).is_ascii_digit() {
            while byte(at).is_ascii_digit() || (byte(at) == b'.' && byte(at + 1).is_ascii_digit()) {
                at += 1;
            }
            hash = mixed(hash, u64::from(VALUE));
        } else {
            hash = mixed(hash, u64::from(byte(at)));
            at += 1;
        }
    }
    hash
}

/// The length of the hexadecimal id at the beginning of `word`.
fn id(word: &[u8]) -> Option<usize> {
    let length = word.iter().take_while(|byte| is_word(**byte)).count();
    let word = word.get(..length)?;
    if let Some(rest) = word.strip_prefix(b"0x") {
        return (!rest.is_empty() && rest.iter().all(u8::is_ascii_hexdigit)).then_some(length);
    }
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_id =
        length >= LEAST_ID && word.iter().all(is_hex) && word.iter().any(u8::is_ascii_digit);
    is_id.then_some(length)
}
