//! Private keys in PEM, whole or cut.

use std::ops::Range;

const END: &str = "-----END ";
const DASHES: &str = "-----";
/// A longer run of characters is not a label.
const LABEL_BYTES: usize = 64;
/// A longer start of a line is not repeated on each line of a block.
const PREFIX_BYTES: usize = 160;
/// Lines of a key that was cut are this long; only its last may be shorter.
const WIDTH: usize = 40;

/// A block from its header to the end that matches or, if it was cut, to the last of its lines.
pub(super) fn begun(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let label = label(text, literal.end)?;
    let mut at = literal.end + label.len() + DASHES.len();
    let prefix = line_start(text, literal.start);
    let mut end = None;
    let mut is_wide = false;
    let mut follows_break = false;
    while let Some(line) = Line::at(text, at) {
        if let Some(close) = line.body.find(END)
            && line.body.get(close + END.len()..)?.starts_with(label)
            && line
                .body
                .get(close + END.len() + label.len()..)?
                .starts_with(DASHES)
            && bare(line.body.get(..close)?, prefix).is_some_and(is_body)
        {
            let close = at + close + END.len() + label.len() + DASHES.len();
            return Some(literal.start..close);
        }
        let body = bare(line.body, prefix)?;
        if follows_break || !body.is_empty() {
            if !is_body(body) {
                break;
            }
            is_wide |= body.len() >= WIDTH && is_base64(body);
            if !body.is_empty() {
                let start = line.body.rfind(body).unwrap_or_default();
                end = Some((at + start + body.len(), line.next == text.len()));
            }
        }
        follows_break = true;
        if line.next >= text.len() {
            break;
        }
        at = line.next;
    }
    let (end, is_cut) = end?;
    (is_wide || is_cut).then_some(literal.start..end)
}

/// The end of a block whose start was cut off, with the lines before it.
pub(super) fn ended(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let label = label(text, literal.end)?;
    let end = literal.end + label.len() + DASHES.len();
    let prefix = line_start(text, literal.start);
    let mut start = None;
    let mut is_wide = false;
    let mut line_end = literal.start - prefix.len();
    while let Some(before) = text
        .get(..line_end)
        .and_then(|text| text.strip_suffix('\n'))
    {
        let line = before.rsplit('\n').next()?;
        let body = bare(line.trim_end_matches('\r'), prefix)?;
        if body.is_empty() || !is_base64(body) {
            break;
        }
        is_wide |= body.len() >= WIDTH;
        line_end = before.len() - line.len();
        start = Some(line_end + line.rfind(body).unwrap_or_default());
    }
    is_wide.then(|| start.map(|start| start..end))?
}

/// The label of a private key after `BEGIN` or `END`.
fn label(text: &str, from: usize) -> Option<&str> {
    let rest = text.get(from..)?;
    let length = rest.find(DASHES).filter(|length| *length <= LABEL_BYTES)?;
    let label = rest.get(..length)?;
    let is_label = label
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let is_key = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
    (is_label && is_key).then_some(label)
}

/// What precedes `at` on its line; nothing if it is long.
fn line_start(text: &str, at: usize) -> &str {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let near = before.iter().rev().take(PREFIX_BYTES + 1);
    let length = near.take_while(|byte| **byte != b'\n').count();
    if length > PREFIX_BYTES {
        return "";
    }
    text.get(at - length..at).unwrap_or_default()
}

/// One line, or one part between escaped line breaks.
struct Line<'a> {
    body: &'a str,
    /// Where the next one starts.
    next: usize,
}

impl<'a> Line<'a> {
    fn at(text: &'a str, at: usize) -> Option<Self> {
        let rest = text.get(at..)?;
        let newline = memchr::memchr2(b'\n', b'\\', rest.as_bytes()).unwrap_or(rest.len());
        let body = rest.get(..newline)?;
        let after = rest.get(newline..)?;
        let length = ["\\r\\n", "\\\\n", "\\n", "\\", "\n"]
            .iter()
            .find(|separator| after.starts_with(**separator))
            .map_or(0, |separator| separator.len());
        Some(Self {
            body: body.trim_end_matches('\r'),
            next: at + newline + length,
        })
    }
}

/// A line without what precedes the block on every line, and without the quotes of source code.
fn bare<'a>(line: &'a str, prefix: &str) -> Option<&'a str> {
    let same = line.char_indices().zip(prefix.chars());
    let differs = same
        .clone()
        .any(|((_, one), other)| one != other && !(one.is_ascii_digit() && other.is_ascii_digit()));
    let is_repeated = !differs && line.len() > prefix.len() && !prefix.trim().is_empty();
    let line = if is_repeated {
        line.get(prefix.len()..)?
    } else {
        line.trim_start_matches([' ', '\t', '+', '-', '>', '#', '|', '*', '"', '\'', '.'])
    };
    // Numbers of lines, as `cat -n` and `grep -n` print them.
    let number = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_number = number.len() < line.len() && number.starts_with([':', '\t', ' ', '|', '-']);
    let line = if is_number {
        number.trim_start_matches([':', '\t', ' ', '|', '-'])
    } else {
        line
    };
    Some(line.trim_matches([' ', '\t', '"', '\'', ',', ';', '+']))
}

fn is_base64(body: &str) -> bool {
    body.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}

/// Base64, several runs of it on one line, or a header of an encrypted key.
fn is_body(body: &str) -> bool {
    if is_base64(body) {
        return true;
    }
    let mut runs = body.split(' ');
    if runs.clone().count() > 2
        && runs.all(|run| run.len() >= 16 || run.is_empty() || run.ends_with('='))
    {
        return body.split(' ').all(is_base64);
    }
    body.split_once(": ").is_some_and(|(name, _)| {
        matches!(
            name,
            "Proc-Type" | "DEK-Info" | "Version" | "Comment" | "Hash" | "Charset" | "X-Proc-Type"
        )
    })
}
