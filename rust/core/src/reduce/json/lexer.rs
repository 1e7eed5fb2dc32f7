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
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
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
            at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
            if bytes.get(at) == Some(&b'"') {
                self.at = at + 1;
                return self.text.get(start..self.at).map(Token::Text);
            }
            at += 2;
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
    fn what_is_no_token_is_an_error() {
        for text in ["'a'", "undefined", "\"open", "\"a\\", "é"] {
            assert_eq!(Lexer::new(text).next(), Err(()), "{text}");
        }
    }
}
