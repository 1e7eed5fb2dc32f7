//! Untrusted text: template tokens removed, and a fence that cannot be forged.
//!
//! Both read an input as a person or a model would: letters in any case, in any compatibility form and
//! from any script as the ASCII letters that they resemble; blanks, invisible characters and escape
//! sequences as nothing. Each match is judged by itself and never by what follows it, so every prefix
//! of a safe text is safe, wherever a trim cuts it. The work is linear in the text.

mod fence;
mod fold;
mod scan;
mod seen;
mod tokens;

use std::collections::TryReserveError;

pub use fence::{CLOSING, FENCE_MAX_CHARS, defuse, opening};
pub use tokens::{PLACEHOLDER, sanitize};

/// An input that is copied only once something in it changes; growing it can fail, not abort.
struct Edited<'a> {
    text: &'a str,
    copied: usize,
    out: String,
}

impl<'a> Edited<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            copied: 0,
            out: String::new(),
        }
    }

    /// Puts `with` in place of what is between two positions; positions only grow.
    fn replace(&mut self, start: usize, end: usize, with: &str) -> Result<(), TryReserveError> {
        let unchanged = self.text.get(self.copied..start).unwrap_or_default();
        self.out.try_reserve(unchanged.len() + with.len())?;
        self.out.push_str(unchanged);
        self.out.push_str(with);
        self.copied = end;
        Ok(())
    }

    /// The changed text, or `None` when it is the same.
    fn finish(mut self) -> Result<Option<String>, TryReserveError> {
        if self.copied == 0 {
            return Ok(None);
        }
        self.replace(self.text.len(), self.text.len(), "")?;
        Ok(Some(self.out))
    }
}

/// `body` in the fence of `tool` and `source`, always closed; forged tags of the fence are escaped.
///
/// # Errors
/// There is no memory for it.
pub fn wrap(body: &str, tool: &str, source: &str) -> Result<String, TryReserveError> {
    let opening = opening(tool, source)?;
    let defused = defuse(body)?;
    let body = defused.as_deref().unwrap_or(body);
    let mut wrapped = String::new();
    wrapped.try_reserve_exact(opening.len() + body.len() + CLOSING.len())?;
    wrapped.push_str(&opening);
    wrapped.push_str(body);
    wrapped.push_str(CLOSING);
    Ok(wrapped)
}
