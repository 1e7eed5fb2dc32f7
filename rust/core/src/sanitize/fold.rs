//! What a reader takes a character for.

/// Nothing: a blank, or a character that is not seen.
pub(super) const NOTHING: u8 = 0;
/// A character that looks like none of ASCII.
pub(super) const OTHER: u8 = 0x80;

/// How far the full-width forms stand behind the characters that they are forms of.
const FULL_WIDTH_OFFSET: u32 = 0xfee0;

/// The ASCII character that `character` looks like, [`NOTHING`] or [`OTHER`]; a line feed is itself.
///
/// The case stays. Two letters outside ASCII are the same as ASCII ones but for their case.
pub(super) fn fold(character: char) -> u8 {
    match character {
        '\n' => b'\n',
        '!'..='~' => u8::try_from(character).unwrap_or(OTHER),
        '\u{ff01}'..='\u{ff5e}' => {
            u8::try_from(u32::from(character) - FULL_WIDTH_OFFSET).unwrap_or(OTHER)
        }
        '\u{fe64}' | '\u{2039}' | '\u{3008}' | '\u{27e8}' | '\u{276c}' | '\u{276e}'
        | '\u{2329}' | '\u{29fc}' | '\u{02c2}' | '\u{1438}' => b'<',
        '\u{fe65}' | '\u{203a}' | '\u{3009}' | '\u{27e9}' | '\u{276d}' | '\u{276f}'
        | '\u{232a}' | '\u{29fd}' | '\u{02c3}' | '\u{1433}' => b'>',
        '\u{2223}' | '\u{2502}' | '\u{2758}' | '\u{ffe8}' | '\u{01c0}' => b'|',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{2571}' | '\u{27cb}' => b'/',
        '\u{017f}' => b's',
        '\u{212a}' => b'K',
        _ if is_blank(character) || is_invisible(character) => NOTHING,
        _ => OTHER,
    }
}

/// Whether UTF-8 begins a character that folds to `<` or to `[` with this byte.
pub(super) fn may_open(byte: u8) -> bool {
    matches!(byte, b'<' | b'[' | 0xcb | 0xe1 | 0xe2 | 0xe3 | 0xef)
}

/// Whether it also goes on like this: far fewer characters of a text have to be decoded.
pub(super) fn may_open_with(byte: u8, next: u8) -> bool {
    matches!(
        (byte, next),
        (b'<' | b'[', _)
            | (0xcb, 0x82)
            | (0xe1, 0x90)
            | (0xe2, 0x80 | 0x8c | 0x9d | 0x9f | 0xa7)
            | (0xe3, 0x80)
            | (0xef, 0xb9 | 0xbc)
    )
}

fn is_blank(character: char) -> bool {
    matches!(
        character,
        '\0'..=' '
            | '\u{7f}'..='\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{2800}'
            | '\u{3000}'
    )
}

/// Whether Unicode says that a font without the character shows nothing
/// (`Default_Ignorable_Code_Point`).
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::indexing_slicing, reason = "tests may panic")]

    use super::*;

    #[test]
    fn every_character_that_opens_begins_with_a_byte_that_may_open() {
        let mut buffer = [0; 4];
        for character in '\0'..=char::MAX {
            if matches!(fold(character), b'<' | b'[') {
                let bytes = character.encode_utf8(&mut buffer).as_bytes();
                assert!(may_open(bytes[0]), "{character:?}");
                let next = bytes.get(1).copied().unwrap_or_default();
                assert!(may_open_with(bytes[0], next), "{character:?}");
            }
        }
    }

    #[test]
    fn ascii_is_itself_and_controls_are_nothing() {
        for byte in 0..0x80_u8 {
            let expected = match byte {
                b'\n' | b'!'..=b'~' => byte,
                _ => NOTHING,
            };
            assert_eq!(fold(char::from(byte)), expected);
        }
        assert_eq!([fold('＜'), fold('Ａ'), fold('｜')], *b"<A|");
    }
}
