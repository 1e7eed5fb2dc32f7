//! Finds the file and the line that a line of an output names.

use memchr::memchr3_iter;

use crate::source::Span;

/// A location within a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// The path of the file.
    pub(crate) path: Span,
    /// The end of its line and column.
    pub(crate) end: usize,
    /// Whether it is in a sentence of a Python trace: `File "x.py", line 3`.
    pub(crate) is_quoted: bool,
}

const LINE_WORD: &[u8] = b"\", line ";
/// The longest file extension.
const MOST_EXTENSION: usize = 8;

/// The first location in `line`: `a.py:3:1`, `a.cs(3,1)`, `"a.py", line 3`.
pub(crate) fn location(line: &str) -> Option<Location> {
    let bytes = line.as_bytes();
    memchr3_iter(b':', b'(', b'"', bytes).find_map(|at| ending_at(bytes, at))
}

fn ending_at(bytes: &[u8], at: usize) -> Option<Location> {
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let sign = byte(at);
    let (number, is_quoted) = match sign {
        b'"' => {
            let rest = bytes.get(at..)?;
            rest.starts_with(LINE_WORD).then_some(())?;
            (at + LINE_WORD.len(), true)
        }
        _ => (at + 1, false),
    };
    let length = digits(number);
    if length == 0 {
        return None;
    }
    let mut end = number + length;
    let separator = if sign == b'(' { b',' } else { b':' };
    if !is_quoted && byte(end) == separator && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if sign == b'(' {
        if byte(end) != b')' {
            return None;
        }
        end += 1;
    }
    let path = path_before(bytes, at, is_quoted)?;
    Some(Location {
        path,
        end,
        is_quoted,
    })
}

/// The path that ends at `end`, if it has a file extension.
fn path_before(bytes: &[u8], end: usize, is_quoted: bool) -> Option<Span> {
    let before = bytes.get(..end)?;
    let is_path = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || !byte.is_ascii()
            || matches!(
                byte,
                b'_' | b'.' | b'@' | b'~' | b'+' | b'-' | b'/' | b'\\' | b'[' | b']' | b'(' | b')'
            )
            || (is_quoted && byte == b' ')
    };
    let length = before
        .iter()
        .rev()
        .take_while(|byte| is_path(**byte))
        .count();
    let mut start = end - length;
    while matches!(bytes.get(start), Some(b'(' | b'[')) {
        start += 1;
    }
    // A drive: `C:\src\a.cs`.
    if start >= 2
        && bytes.get(start - 1) == Some(&b':')
        && bytes.get(start - 2).is_some_and(u8::is_ascii_alphabetic)
        && (start == 2 || !bytes.get(start - 3).is_some_and(u8::is_ascii_alphanumeric))
    {
        start -= 2;
    }
    let is_open = start
        .checked_sub(1)
        .and_then(|at| bytes.get(at))
        .is_none_or(|byte| {
            byte.is_ascii_whitespace()
                || matches!(
                    byte,
                    b'(' | b'[' | b'"' | b'\'' | b'@' | b'`' | b'=' | b',' | b'<'
                )
        });
    let path = bytes.get(start..end)?;
    let name_at = path
        .iter()
        .rposition(|byte| matches!(byte, b'/' | b'\\'))
        .map_or(0, |at| at + 1);
    let name = path.get(name_at..)?;
    let dot = name.iter().rposition(|byte| *byte == b'.')?;
    let extension = name.get(dot + 1..)?;
    let is_file = extension.first().is_some_and(u8::is_ascii_alphabetic)
        && extension.len() <= MOST_EXTENSION
        && extension
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (is_open && is_file).then(|| Span::new(start, end))
}

/// The code of a rule or an error in a line: `E501`, `error[E0308]`, `[-Wunused]`, `no-unused-vars`.
pub(crate) fn code(line: &str) -> Option<Span> {
    let line = line.trim_ascii_end();
    let bytes = line.as_bytes();
    if bytes.last() == Some(&b']') {
        let start = bytes.iter().rposition(|byte| *byte == b'[')?;
        let name = line.get(start + 1..line.len() - 1)?;
        let is_name = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=' | b'+' | b'/')
        };
        let is_code = name.contains('-') && name.len() > 3 && name.bytes().all(is_name);
        if is_code {
            return Some(Span::new(start + 1, line.len() - 1));
        }
    }
    let mut at = 0;
    for word in line.split_ascii_whitespace() {
        let rest = line.get(at..)?;
        let start = at + rest.len() - rest.trim_ascii_start().len();
        at = start + word.len();
        let body = word.trim_matches(|sign: char| !sign.is_ascii_alphanumeric());
        let body = body.split(['(', ':']).next().unwrap_or(body);
        let letters = body.bytes().take_while(u8::is_ascii_uppercase).count();
        let digits = body
            .bytes()
            .skip(letters)
            .take_while(u8::is_ascii_digit)
            .count();
        if (1..=6).contains(&letters) && (2..=5).contains(&digits) && letters + digits == body.len()
        {
            let from = start + word.find(body)?;
            return Some(Span::new(from, from + body.len()));
        }
    }
    let last = line.rsplit_once(' ').map(|(_, word)| word)?;
    let is_rule = last.contains('-')
        && last
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'/' | b'@'))
        && last.starts_with(|sign: char| sign.is_ascii_lowercase() || sign == '@')
        && last.ends_with(|sign: char| sign.is_ascii_lowercase());
    is_rule.then(|| Span::new(line.len() - last.len(), line.len()))
}
