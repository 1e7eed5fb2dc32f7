//! The tokens of a JSON text (RFC 8259), or of values as Python prints them, from front to back.

/// One token, with its text as it is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `{` or `[`, of Python also `(`.
    Open {
        /// Whether it opens an object.
        object: bool,
    },
    /// `}` or `]`, of Python also `)`.
    Close {
        /// Whether it closes an object.
        object: bool,
    },
    Colon,
    Comma,
    /// A string with its quotes.
    Text(&'a str),
    /// A number, `true`, `false` or `null`; of Python anything else that is printed.
    Plain(&'a str),
}

/// Whether a comma precedes the next token.
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

/// A number whose lowest bit is in the first byte of `word` that is `byte`; 0 when none is.
fn holds(word: u64, byte: u8) -> u64 {
    let other = word ^ u64::from_ne_bytes([byte; 8]);
    other.wrapping_sub(LOW_BITS) & !other & HIGH_BITS
}

/// A reader of tokens.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    language: Language,
}

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Json,
    /// What `repr` gives: quotes of both kinds, tuples, `None`, `Decimal('2.5')`.
    Python,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, language: Language) -> Self {
        Self {
            text,
            at: 0,
            language,
        }
    }

    /// Where the next token is looked for.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Whether the next token opens an object or a list.
    pub(super) fn opens_next(&self) -> bool {
        let mut ahead = *self;
        matches!(ahead.next(), Ok(Some(Token::Open { .. })))
    }

    /// The next token: `Ok(None)` at the end, `Err` where no token can be.
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
            b'"' if self.language == Language::Json => {
                return self.string(byte).map(Some).ok_or(());
            }
            _ if self.language == Language::Python => {
                return self.of_python(byte).map(Some).ok_or(());
            }
            _ => return self.plain().map(Some).ok_or(()),
        };
        self.at += 1;
        Ok(Some(sign))
    }

    /// A string in quotes of the kind `quote`.
    fn string(&mut self, quote: u8) -> Option<Token<'a>> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            // Most strings are too short for a vector search.
            while let Some(word) = word(bytes, at).filter(|_| at - start < SHORT_BYTES) {
                let found = (holds(word, quote) | holds(word, b'\\')).trailing_zeros() as usize / 8;
                at += found;
                if found < 8 {
                    break;
                }
            }
            match *bytes.get(at)? {
                byte if byte == quote => {
                    self.at = at + 1;
                    return self.text.get(start..self.at).map(Token::Text);
                }
                b'\\' => at += 2,
                _ => at += memchr::memchr2(quote, b'\\', bytes.get(at..)?)?,
            }
        }
    }

    /// Strings of Python that stand one after the other are one: `pprint` breaks long ones over lines.
    fn strings(&mut self, quote: u8) -> Option<Token<'a>> {
        let start = self.at;
        let mut token = self.string(quote)?;
        loop {
            let rest = self.text.get(self.at..)?;
            let next = rest.trim_ascii_start();
            let quote = next.bytes().next().filter(|byte| b"'\"".contains(byte));
            let Some(quote) = quote.filter(|_| next.len() < rest.len()) else {
                return Some(token);
            };
            self.at += rest.len() - next.len();
            self.string(quote)?;
            token = Token::Text(self.text.get(start..self.at)?);
        }
    }

    /// What begins with `byte` and is nothing that JSON has too, or a number.
    fn of_python(&mut self, byte: u8) -> Option<Token<'a>> {
        match byte {
            b'(' | b')' => {
                self.at += 1;
                let object = false;
                return Some(if byte == b'(' {
                    Token::Open { object }
                } else {
                    Token::Close { object }
                });
            }
            b'\'' | b'"' => return self.strings(byte),
            _ => {}
        }
        let rest = self.text.get(self.at..)?;
        let length = if byte == b'<' {
            angle_bytes(rest)?
        } else {
            let is_of_name = |byte: &u8| {
                byte.is_ascii_alphanumeric() || b"_.+-".contains(byte) || !byte.is_ascii()
            };
            let name = rest.bytes().take_while(|byte| is_of_name(byte)).count();
            name + call_bytes(rest.as_bytes().get(name..)?)?
        };
        let value = rest.get(..length).filter(|value| !value.is_empty())?;
        self.at += length;
        Some(Token::Plain(value))
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

/// How long `<Oak at 0x7f>` is with which `text` begins, with others in it; an arrow closes nothing.
fn angle_bytes(text: &str) -> Option<usize> {
    let (mut depth, mut before) = (0_usize, b' ');
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if before != b'-' && before != b'=' => depth -= 1,
            b'\n' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
        before = byte;
    }
    None
}

/// How long the brackets or the string are with which `bytes` begin, what follows the name of a type; 0 when
/// nothing does.
fn call_bytes(bytes: &[u8]) -> Option<usize> {
    let Some(b'(' | b'\'' | b'"') = bytes.first() else {
        return Some(0);
    };
    let (mut depth, mut quote) = (0_usize, None);
    let mut at = 0;
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        if let Some(open) = quote {
            at += usize::from(byte == b'\\');
            quote = quote.filter(|_| byte != open);
        } else {
            match byte {
                b'\'' | b'"' => quote = Some(byte),
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        if depth == 0 && quote.is_none() {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn tokens_are_cut_as_they_stand() {
        let mut lexer = Lexer::new(" {\"a\\\"\\\\\" : -1.5e3 ,true} ", Language::Json);
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
                let mut lexer = Lexer::new(&text, Language::Json);
                assert_eq!(lexer.next().unwrap(), Some(Token::Text(&string)));
            }
        }
    }

    #[test]
    fn what_is_no_token_is_an_error() {
        for text in ["'a'", "undefined", "\"open", "\"a\\", "é"] {
            assert_eq!(Lexer::new(text, Language::Json).next(), Err(()), "{text}");
        }
    }
}
