//! Long runs of the characters that tokens consist of.

use std::ops::Range;

/// No token is shorter, with its prefix.
pub(super) const TOKEN_MIN_BYTES: usize = 16;

const WORD: u8 = 1;
const TOKEN: u8 = 2;

/// Which bytes are part of a word, and which of a token.
static KINDS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        #[expect(clippy::indexing_slicing, reason = "the table has every byte")]
        {
            table[byte as usize] = match byte {
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-' => WORD | TOKEN,
                b'.' | b'=' | b'+' | b'/' | b'$' | b'~' | b'%' | b':' => TOKEN,
                _ => 0,
            };
        }
        byte += 1;
    }
    table
};

fn is_token(byte: u8) -> bool {
    KINDS.get(usize::from(byte)).copied().unwrap_or_default() & TOKEN != 0
}

pub(super) fn is_word(byte: u8) -> bool {
    KINDS.get(usize::from(byte)).copied().unwrap_or_default() & WORD != 0
}

/// How many bytes the word at the start of `bytes` has.
pub(super) fn word_length(bytes: &[u8]) -> usize {
    length(bytes, is_word, is_word_in_chunk)
}

const CHUNK_BYTES: usize = 16;

/// How many bytes at the start `has` accepts. Only long runs are looked at in chunks, with
/// `has_in_chunk`, which is the same without the table.
fn length(bytes: &[u8], has: fn(u8) -> bool, has_in_chunk: impl Fn(u8) -> bool) -> usize {
    let count = |bytes: &[u8]| bytes.iter().take_while(|byte| has(**byte)).count();
    let (first, rest) = bytes.split_at(bytes.len().min(CHUNK_BYTES));
    let short = count(first);
    if short < CHUNK_BYTES {
        return short;
    }
    let chunks = rest
        .chunks_exact(CHUNK_BYTES)
        .take_while(|chunk| {
            chunk
                .iter()
                .fold(true, |all, byte| all & has_in_chunk(*byte))
        })
        .count();
    let long = chunks * CHUNK_BYTES;
    CHUNK_BYTES + long + count(rest.get(long..).unwrap_or_default())
}

#[expect(
    clippy::needless_bitwise_bool,
    reason = "branches would keep the loop from being vector instructions"
)]
fn is_word_in_chunk(byte: u8) -> bool {
    is_letter(byte) | (byte.wrapping_sub(b'0') < 10) | (byte == b'_') | (byte == b'-')
}

#[expect(clippy::needless_bitwise_bool, reason = "as there")]
fn is_token_in_chunk(byte: u8) -> bool {
    is_letter(byte)
        | (byte.wrapping_sub(b'-') <= b':' - b'-')
        | (byte == b'_')
        | (byte == b'=')
        | (byte == b'+')
        | (byte == b'$')
        | (byte == b'~')
        | (byte == b'%')
}

fn is_letter(byte: u8) -> bool {
    (byte | 0x20).wrapping_sub(b'a') < 26
}

/// The next run from `from` on that is long enough for a token.
///
/// Such a run has a byte at one of the places that are looked at: of ordinary text few bytes are.
pub(super) fn next_run(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut from = from;
    let mut at = from + TOKEN_MIN_BYTES - 1;
    loop {
        if !is_token(*bytes.get(at)?) {
            at += TOKEN_MIN_BYTES;
            continue;
        }
        let before = bytes.get(from..at)?.iter().rev();
        let start = at - before.take_while(|byte| is_token(**byte)).count();
        let end = at + length(bytes.get(at..)?, is_token, is_token_in_chunk);
        if end - start >= TOKEN_MIN_BYTES {
            return Some(start..end);
        }
        from = end;
        at = end + TOKEN_MIN_BYTES;
    }
}

#[cfg(test)]
mod tests {
    use super::{
        TOKEN_MIN_BYTES, is_token, is_token_in_chunk, is_word, is_word_in_chunk, next_run,
        word_length,
    };

    #[test]
    fn bytes_of_chunks_are_those_of_the_table() {
        for byte in 0..=u8::MAX {
            assert_eq!(is_token(byte), is_token_in_chunk(byte), "{byte}");
            assert_eq!(is_word(byte), is_word_in_chunk(byte), "{byte}");
        }
    }

    #[test]
    fn words_of_any_length_are_counted() {
        for length in 0..70 {
            for end in ["", " ", ".x", "é"] {
                let text = format!("{}{end}", "x".repeat(length));
                assert_eq!(word_length(text.as_bytes()), length, "{text:?}");
            }
        }
    }

    #[test]
    fn every_long_run_is_found_and_no_short_one() {
        for before in 0..40 {
            for length in 0..40 {
                for after in 0..20 {
                    let text = [
                        " ".repeat(before),
                        "x".repeat(length),
                        " ".repeat(after),
                        "y".repeat(17),
                    ]
                    .concat();
                    let bytes = text.as_bytes();
                    let mut expected = Vec::new();
                    let mut start = 0;
                    for at in 0..=bytes.len() {
                        if !bytes.get(at).copied().is_some_and(is_token) {
                            if at - start >= TOKEN_MIN_BYTES {
                                expected.push(start..at);
                            }
                            start = at + 1;
                        }
                    }
                    let mut found = Vec::new();
                    let mut from = 0;
                    while let Some(run) = next_run(bytes, from) {
                        from = run.end;
                        found.push(run);
                    }
                    assert_eq!(found, expected, "{text:?}");
                }
            }
        }
    }
}
