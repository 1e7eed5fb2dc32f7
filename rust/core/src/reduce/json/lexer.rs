//! The tokens of a JSON text (RFC 8259), from front to back.

/// One token, with its text as it stands in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `{` or `[`.
    Open {
        /// Whether it opens an object.
        object: bool,
    },
    /// `}` or `]`.
    Close {
        /// Whether it closes an object.
        object: bool,
    },
    Colon,
    Comma,
    /// A string with its quotes.
    Text(&'a str),
    /// A number, `true`, `false` or `null`.
    Plain(&'a str),
}

/// Whether a comma stands before the next token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Comma {
    Needless,
    Needed,
    Had,
}

/// So much of a string is searched by eight bytes at a time.
const SHORT_BYTES: usize = 48;
const BLANKS: u64 = u64::from_ne_bytes([b' '; 8]);
const LOW_BITS: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Eight bytes from `at` on as a number, the first one lowest.
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*eight))
}

/// A number whose lowest bit stands in the first byte of `word` that is `byte`; 0 when none is.
fn holds(word: u64, byte: u8) -> u64 {
    let other = word ^ u64::from_ne_bytes([byte; 8]);
    other.wrapping_sub(LOW_BITS) & !other & HIGH_BITS
}

/// A reader of tokens.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Where the next token is looked for.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next token: `Ok(None)` at the end, `Err` where no token can stand.
    pub(super) fn next(&mut self) -> Result<Option<Token<'a>>, ()> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(self.at) {
            self.at += 1;
            // Eight at a time: most of a printed text is indents.
            while let Some(word) = word(bytes, self.at) {
                let blanks = (word ^ BLANKS).trailing_zeros() as usize / 8;
                self.at += blanks;
                if blanks < 8 {
                    break;
                }
            }
        }
        let Some(&byte) = bytes.get(self.at) else {
            return Ok(None);
        };
        let sign = match byte {
            b'{' => Token::Open { object: true },
            b'[' => Token::Open { object: false },
            b'}' => Token::Close { object: true },
            b']' => Token::Close { object: false },
            b':' => Token::Colon,
            b',' => Token::Comma,
            b'"' => return self.string().map(Some).ok_or(()),
            _ => return self.plain().map(Some).ok_or(()),
        };
        self.at += 1;
        Ok(Some(sign))
    }

    fn string(&mut self) -> Option<Token<'a>> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            // Most strings are too short for a vector search.
            while let Some(word) = word(bytes, at).filter(|_| at - start < SHORT_BYTES) {
                let found = (holds(word, b'"') | holds(word, b'\\')).trailing_zeros() as usize / 8;
                at += found;
                if found < 8 {
                    break;
                }
            }
            match *bytes.get(at)? {
                b'"' => {
                    self.at = at + 1;
                    return self.text.get(start..self.at).map(Token::Text);
                }
                b'\\' => at += 2,
                _ => at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?,
            }
        }
    }

    fn plain(&mut self) -> Option<Token<'a>> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let length = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'))
            .count();
        let word = self.text.get(self.at..self.at + length)?;
        let number = word
            .trim_start_matches('-')
            .starts_with(|sign: char| sign.is_ascii_digit());
        if !number && !matches!(word, "true" | "false" | "null") {
            return None;
        }
        self.at += length;
        Some(Token::Plain(word))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn tokens_are_cut_as_they_stand() {
        let mut lexer = Lexer::new(" {\"a\\\"\\\\\" : -1.5e3 ,true} ");
        let mut tokens = Vec::new();
        while let Some(token) = lexer.next().unwrap() {
            tokens.push(token);
        }
        assert_eq!(
            tokens,
            [
                Token::Open { object: true },
                Token::Text("\"a\\\"\\\\\""),
                Token::Colon,
                Token::Plain("-1.5e3"),
                Token::Comma,
                Token::Plain("true"),
                Token::Close { object: true },
            ]
        );
    }

    #[test]
    fn strings_and_indents_of_every_length_are_cut_at_their_end() {
        for length in 0..80 {
            for inside in [
                "a".repeat(length),
                "\\\"".repeat(length),
                "é".repeat(length),
            ] {
                let string = format!("\"{inside}\"");
                let text = format!("{}{string}\n{}", " ".repeat(length), "x".repeat(length % 9));
                let mut lexer = Lexer::new(&text);
                assert_eq!(lexer.next().unwrap(), Some(Token::Text(&string)));
            }
        }
    }

    #[test]
    fn what_is_no_token_is_an_error() {
        for text in ["'a'", "undefined", "\"open", "\"a\\", "é"] {
            assert_eq!(Lexer::new(text).next(), Err(()), "{text}");
        }
    }
}
