//! The words of a line, by which it is known whether it shows anything new.

use crate::template::hashed;

/// Calls `read` with the hash and the weight of each word: names, numbers of two digits and more, paths. Of a changed
/// line all words count.
pub(crate) fn each_word(text: &str, is_change: bool, mut read: impl FnMut(u64, usize)) {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let is_joined = |byte: u8| is_word(byte) || matches!(byte, b'.' | b'-' | b'@' | b'/');
    let mut at = 0;
    while at < bytes.len() {
        if !is_joined(byte(at)) {
            at += 1;
            continue;
        }
        let start = at;
        let mut is_path = false;
        while is_joined(byte(at))
            || byte(at) == b':'
                && (byte(at + 1).is_ascii_digit() && is_path
                    || byte(at + 1) == b':'
                    || (at > start && byte(at - 1) == b':' && is_word(byte(at + 1))))
        {
            is_path |= byte(at) == b'/' || byte(at) == b':';
            at += 1;
        }
        let token = bytes.get(start..at).unwrap_or_default();
        if is_path {
            read(hashed(token), 3);
            continue;
        }
        if is_change {
            for word in token
                .split(|byte| !is_word(*byte))
                .filter(|word| !word.is_empty())
            {
                read(hashed(word), 1);
            }
            continue;
        }
        let first = token
            .iter()
            .take_while(|byte| matches!(byte, b'.' | b'-' | b'@' | b'_'))
            .count();
        let word = token.get(first..).unwrap_or_default();
        let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let name = word.get(digits..).unwrap_or_default();
        if digits >= 2 {
            read(hashed(word.get(..digits).unwrap_or_default()), 1);
        }
        if name.len() >= 3 {
            read(hashed(name), 1);
        }
    }
}
