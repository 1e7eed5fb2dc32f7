//! The ASCII characters that a reader takes a character for.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// Nothing: a blank, a combining mark, or a character that is not displayed.
pub(super) const NOTHING: u8 = 0;
/// A character that resembles no ASCII character.
pub(super) const OTHER: u8 = 0x80;

/// The most characters that one character expands to (`ﬃ` is three).
const MAX_EXPANSION: usize = 4;

/// What one character is read as: one ASCII character, several of them, [`NOTHING`] or [`OTHER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Folded {
    bytes: [u8; MAX_EXPANSION],
    length: usize,
}

impl Folded {
    const fn one(byte: u8) -> Self {
        Self {
            bytes: [byte, 0, 0, 0],
            length: 1,
        }
    }

    /// All of `characters` if they are ASCII and few enough.
    fn of(characters: impl Iterator<Item = char>) -> Option<Self> {
        let mut folded = Self {
            bytes: [0; MAX_EXPANSION],
            length: 0,
        };
        for character in characters.filter(|character| !is_unseen(*character)) {
            let byte = u8::try_from(character).ok().filter(u8::is_ascii)?;
            *folded.bytes.get_mut(folded.length)? = byte;
            folded.length += 1;
        }
        (folded.length > 0).then_some(folded)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// The first of them.
    pub(super) fn first(&self) -> u8 {
        self.bytes.first().copied().unwrap_or(OTHER)
    }
}

/// The first ASCII character that `character` is read as, [`NOTHING`] or [`OTHER`].
pub(super) fn fold(character: char) -> u8 {
    fold_all(character).first()
}

/// What `character` is read as; the case is preserved and a line feed is itself.
///
/// Compatibility forms (full-width, mathematical, circled, ligatures) and accented letters fold to
/// their base letters; letters of other scripts and symbols fold to the ASCII characters that
/// Unicode lists as confusable with them.
pub(super) fn fold_all(character: char) -> Folded {
    match character {
        '\n' => return Folded::one(b'\n'),
        '!'..='~' => return Folded::one(u8::try_from(character).unwrap_or(OTHER)),
        _ if is_unseen(character) => return Folded::one(NOTHING),
        _ => {}
    }
    if let Some(byte) = listed(character) {
        return Folded::one(byte);
    }
    if let Some(folded) = Folded::of(std::iter::once(character).nfkd()) {
        return folded;
    }
    let mut buffer = [0; 4];
    let confusable = skeleton(character.encode_utf8(&mut buffer)).nfkd();
    match Folded::of(confusable) {
        Some(folded) if folded.bytes() == b"rn" => Folded::one(b'm'),
        Some(folded) if folded.bytes() == b"l" => Folded::one(like_l(character)),
        Some(folded) if folded.bytes().iter().all(|byte| *byte == folded.first()) => {
            Folded::one(folded.first())
        }
        _ => Folded::one(OTHER),
    }
}

/// Unicode puts `I`, `l`, `1` and `|` in one class; a token has them in different places.
fn like_l(character: char) -> u8 {
    if character.is_uppercase() {
        b'I'
    } else if character.is_alphanumeric() {
        b'l'
    } else {
        b'|'
    }
}

/// Look-alikes that Unicode does not list, or lists with a character outside ASCII.
fn listed(character: char) -> Option<u8> {
    let byte = match character {
        '\u{3008}' | '\u{27e8}' | '\u{276c}' | '\u{2329}' | '\u{29fc}' => b'<',
        '\u{3009}' | '\u{27e9}' | '\u{276d}' | '\u{232a}' | '\u{29fd}' => b'>',
        '\u{2502}' | '\u{2758}' => b'|',
        'т' | 'τ' | 'ᴛ' => b't',
        'п' | 'ɴ' => b'n',
        'ʀ' => b'r',
        'ꜱ' => b's',
        'ᴇ' => b'e',
        'ᴅ' => b'd',
        'ᴜ' => b'u',
        'ᴀ' => b'a',
        'в' | 'ʙ' => b'b',
        'ɢ' => b'g',
        'н' | 'ʜ' => b'h',
        'ɪ' => b'i',
        'к' | 'ᴋ' => b'k',
        'ʟ' => b'l',
        'м' | 'ᴍ' => b'm',
        'ᴘ' => b'p',
        'ꜰ' => b'f',
        '\u{1f150}'..='\u{1f169}' => letter(character, 0x1f150),
        '\u{1f170}'..='\u{1f189}' => letter(character, 0x1f170),
        '\u{1f1e6}'..='\u{1f1ff}' => letter(character, 0x1f1e6),
        _ => return None,
    };
    Some(byte)
}

/// The letter of an alphabet that begins at `first`.
fn letter(character: char, first: u32) -> u8 {
    u8::try_from(u32::from(character) - first).map_or(OTHER, |place| b'A'.saturating_add(place))
}

/// `<` or `[` for the characters that fold to them, else `None`: without normalising anything.
pub(super) fn opens(character: char) -> Option<u8> {
    match character {
        '<' | '\u{2c2}' | '\u{1438}' | '\u{16b2}' | '\u{2039}' | '\u{226a}' | '\u{226e}'
        | '\u{22d8}' | '\u{2329}' | '\u{276c}' | '\u{276e}' | '\u{27e8}' | '\u{29fc}'
        | '\u{2d66}' | '\u{3008}' | '\u{fe64}' | '\u{ff1c}' | '\u{1032d}' | '\u{16aec}'
        | '\u{1d236}' => Some(b'<'),
        '[' | '\u{298b}' | '\u{fe47}' | '\u{ff3b}' => Some(b'['),
        _ => None,
    }
}

/// Whether UTF-8 begins a character that [`opens`] with this byte.
pub(super) fn may_open(byte: u8) -> bool {
    matches!(byte, b'<' | b'[' | 0xcb | 0xe1 | 0xe2 | 0xe3 | 0xef | 0xf0)
}

/// Whether it also goes on like this: far fewer characters of an input have to be decoded.
pub(super) fn may_open_with(byte: u8, next: u8) -> bool {
    matches!(
        (byte, next),
        (b'<' | b'[', _)
            | (0xcb, 0x82)
            | (0xe1, 0x90 | 0x9a)
            | (
                0xe2,
                0x80 | 0x89 | 0x8b | 0x8c | 0x9d | 0x9f | 0xa6 | 0xa7 | 0xb5
            )
            | (0xe3, 0x80)
            | (0xef, 0xb9 | 0xbc)
            | (0xf0, 0x90 | 0x96 | 0x9d)
    )
}

fn is_unseen(character: char) -> bool {
    character != '\n'
        && !character.is_ascii_graphic()
        && (is_blank(character) || is_invisible(character) || is_combining_mark(character))
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

/// Whether a font without the character displays nothing for it
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
    #![expect(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        reason = "tests may panic"
    )]

    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_character_that_opens_begins_with_a_byte_that_may_open() {
        let mut buffer = [0; 4];
        for character in '\0'..=char::MAX {
            let folded = fold(character);
            let opening = matches!(folded, b'<' | b'[').then_some(folded);
            assert_eq!(opens(character), opening, "{character:?}");
            if opening.is_some() {
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

    #[test]
    fn forms_and_look_alikes_of_other_scripts_are_their_letters() {
        for word in [
            "𝐮𝐧𝐭𝐫𝐮𝐬𝐭𝐞𝐝",
            "ⓤⓝⓣⓡⓤⓢⓣⓔⓓ",
            "υпtrυѕtеԁ",
            "ᴜɴᴛʀᴜꜱᴛᴇᴅ",
            "untruﬆed",
            "ünträsted",
        ] {
            let folded: Vec<u8> = word
                .chars()
                .flat_map(|character| fold_all(character).bytes().to_vec())
                .filter(|byte| *byte != NOTHING)
                .collect();
            let expected: &[u8] = if word.contains('ä') {
                b"untrasted"
            } else {
                b"untrusted"
            };
            assert_eq!(folded, expected, "{word}");
        }
    }

    #[test]
    fn what_characters_are_read_as_equals_the_data_file() {
        let golden = include_str!("../../../../tests/data/look_alikes.json");
        let golden: BTreeMap<String, String> = serde_json::from_str(golden).unwrap();
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for character in '\u{80}'..=char::MAX {
            let folded = fold_all(character);
            if !matches!(folded.first(), NOTHING | OTHER) {
                let ascii = String::from_utf8(folded.bytes().to_vec()).unwrap();
                found.entry(ascii).or_default().push(character);
            }
        }
        assert_eq!(found, golden);
    }
}
