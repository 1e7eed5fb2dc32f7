//! Long values of a JSON record.

use memchr::{memchr, memchr2};

use crate::line::shorten;

/// A longer value, such as a stack, is shortened before the record as a whole is.
const LONG_CHARS: usize = 200;

/// `record` with each long string in it shortened.
pub(super) fn shortened(record: &str) -> String {
    let mut short = String::with_capacity(record.len());
    let mut rest = record;
    while let Some(open) = memchr(b'"', rest.as_bytes()) {
        let (before, string) = rest.split_at(open + 1);
        let (value, behind) = string.split_at(end(string));
        short.push_str(before);
        short.push_str(&shorten(value, LONG_CHARS));
        let (quote, behind) = behind.split_at(behind.len().min(1));
        short.push_str(quote);
        rest = behind;
    }
    short.push_str(rest);
    short
}

/// The end of the string that `text` begins with.
fn end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    text.len()
}
