//! Eight bytes of an input at a time, as a number whose lowest byte is the first.

/// The highest bit of each byte of `chunk` that is `byte`.
#[inline]
#[must_use]
pub const fn equal(chunk: u64, byte: u8) -> u64 {
    let other = chunk ^ each(byte);
    !(((other & each(0x7F)) + each(0x7F)) | other) & each(0x80)
}

/// Fewer than eight bytes, the first of them lowest; what is missing is zero.
#[must_use]
pub fn few(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Up to eight bytes at `at`, the first of them lowest; what is behind the end is zero.
#[inline]
#[must_use]
pub fn chunk_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    match (rest.first_chunk(), bytes.last_chunk()) {
        (Some(chunk), _) => u64::from_le_bytes(*chunk),
        // Read with what precedes it, which is quicker than byte by byte.
        (None, Some(chunk)) if !rest.is_empty() => {
            u64::from_le_bytes(*chunk) >> (u64::BITS as usize - 8 * rest.len())
        }
        (None, _) => few(rest),
    }
}

/// Each byte of eight.
#[inline]
#[must_use]
pub const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The highest bit of each byte of `chunk` that is a digit.
#[inline]
#[must_use]
pub fn digits(chunk: u64) -> u64 {
    let value = chunk ^ each(b'0');
    !(((value & each(0x7F)) + each(0x76)) | value) & each(0x80)
}

/// The highest bit of each byte of `chunk` that is a blank or a tab.
#[inline]
#[must_use]
pub fn blanks(chunk: u64) -> u64 {
    equal(chunk, b' ') | equal(chunk, b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_found_wherever_they_stand() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let word = each(b'a') & !(0xFF << (8 * at));
                let found = digits(word | u64::from(byte) << (8 * at));
                let expected = u64::from(byte.is_ascii_digit()) << (8 * at + 7);
                assert_eq!(found, expected, "{byte} at {at}");
            }
        }
    }
}
