//! From the tokens of an output to its shape.

use super::frame::Frame;
use super::kind::{Kind, kind_of};
use super::lexer::{Comma, Language, Lexer, Token};
use super::names::Name;
use super::seen::Record;
use super::shape::{Misplaced, Shape};

/// Deeper inputs are not read.
const MAX_DEPTH: usize = 128;
/// Up to this many consecutive values are taken as answers to separate questions, each with its own shape.
pub(super) const FEW_TEXTS: usize = 6;

/// The shape of `text`: one value or several; `None` when it is not JSON, nor what Python prints.
pub(super) fn read(text: &str) -> Option<Shape<'_>> {
    let python = || begins_like_python(text).then(|| Reader::new(text, Language::Python).read())?;
    Reader::new(text, Language::Json).read().or_else(python)
}

/// Whether the first string of `text` is in single quotes or a list begins with a tuple.
fn begins_like_python(text: &str) -> bool {
    let text = text.trim_start_matches(['{', '[', ' ', '\n']);
    text.starts_with(['\'', '('])
}

struct Reader<'a> {
    text: &'a str,
    language: Language,
    lexer: Lexer<'a>,
    open: Vec<Frame<'a>>,
    shape: Shape<'a>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, language: Language) -> Self {
        Self {
            text,
            language,
            lexer: Lexer::new(text, language),
            open: Vec::new(),
            shape: Shape::of(text),
        }
    }

    fn read(mut self) -> Option<Shape<'a>> {
        let mut comma = Comma::Needless;
        while let Some(token) = self.lexer.next().ok()? {
            let allowed = match token {
                Token::Comma => comma == Comma::Needed,
                Token::Close { .. } => comma != Comma::Had || self.language == Language::Python,
                Token::Colon => false,
                _ => comma != Comma::Needed,
            };
            if !allowed {
                return None;
            }
            comma = match token {
                Token::Text(key) | Token::Plain(key) if self.is_key(token) => {
                    let start = self.lexer.at() - key.len();
                    if self.lexer.next().ok()?? != Token::Colon {
                        return None;
                    }
                    self.open.last_mut()?.key = Some((key, start));
                    Comma::Needless
                }
                Token::Text(value) | Token::Plain(value) => {
                    self.value(kind_of(value), value).ok()?;
                    self.after_value()
                }
                Token::Open { object } => {
                    self.opens(object)?;
                    Comma::Needless
                }
                Token::Close { object } => {
                    self.closes(object)?;
                    self.after_value()
                }
                Token::Colon | Token::Comma => Comma::Had,
            };
            if self.open.is_empty() && self.shape.ends.len() < FEW_TEXTS {
                self.shape.ends.push(self.lexer.at());
            }
        }
        (self.open.is_empty() && self.shape.texts > 0).then_some(self.shape)
    }

    /// Whether `token` is a key: JSON has strings as keys, Python anything.
    fn is_key(&self, token: Token<'_>) -> bool {
        let awaits_key = self.open.last();
        awaits_key.is_some_and(|frame| frame.object && frame.key.is_none())
            && (matches!(token, Token::Text(_)) || self.language == Language::Python)
    }

    /// Counts a value; the number of its node, if it has one.
    fn value(&mut self, kind: Kind, value: &'a str) -> Result<Option<usize>, Misplaced> {
        let end = self.lexer.at();
        let frame = self.open.last_mut();
        self.shape.value(self.text, frame, kind, value, end)
    }

    fn opens(&mut self, object: bool) -> Option<()> {
        if self.open.len() >= MAX_DEPTH {
            return None;
        }
        let kind = if object { Kind::Object } else { Kind::Array };
        let last = self.open.last();
        let own_key = last.and_then(|frame| frame.key);
        let mut record = last.map_or(Record::default(), |frame| frame.record);
        let list_index = last.map_or(self.shape.texts, Frame::index);
        let above = last.map_or(0, Frame::above);
        let node = self.value(kind, "").ok()?;
        let last = self.open.last();
        let is_item = last.map_or(self.shape.texts > 1, |frame| !frame.object);
        let is_record = object && last.is_none_or(|frame| !frame.object);
        let is_in_list = last.is_some_and(|frame| !frame.object && !frame.row);
        record.is_of_above |= is_item && !record.value.is_empty();
        let holder = last.and_then(|frame| frame.node);
        // A member of a map beyond the first ones goes by its key.
        if let Some((key, _)) = own_key
            && node.is_some_and(|node| self.shape.is_further(holder, node))
        {
            record = Record {
                key: "",
                value: key,
                is_of_above: false,
            };
        }
        let row = !object && is_in_list && !self.lexer.opens_next();
        if let Some(node) = node.filter(|_| row) {
            self.shape.is_row(node);
        }
        self.open.push(Frame {
            node,
            object,
            row,
            list_index,
            above,
            record,
            is_item,
            called: (is_record || row).then(Name::default),
            own_key: own_key.map_or("", |(key, _)| key),
            ..Frame::default()
        });
        Some(())
    }

    fn closes(&mut self, object: bool) -> Option<()> {
        let frame = self.open.pop().filter(|frame| frame.object == object)?;
        if frame.key.is_some() {
            return None;
        }
        self.shape.close(&frame);
        if let Some(holder) = self.open.last_mut() {
            frame.names(holder);
        }
        Some(())
    }

    fn after_value(&self) -> Comma {
        if self.open.is_empty() {
            Comma::Needless
        } else {
            Comma::Needed
        }
    }
}
