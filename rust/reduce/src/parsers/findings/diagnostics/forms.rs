//! Recognises single lines of a list of findings.

use crate::line::annotation::Annotation;
use crate::line::{self, indent};
use crate::parsers::findings::finding::Finding;
use crate::parsers::findings::finding::{annotated, is_code, logged_issue, trimmed_end};
use ethos_registry_core::chunk::each;
use ethos_registry_core::find_text::FindText as _;

/// The finding in a line that contains a complete one.
pub(crate) fn finding(text: &str) -> Option<Finding<'_>> {
    let text = text.get(indent(text)..)?;
    let text = match text.as_bytes().first()? {
        b':' => match Annotation::read(text) {
            // The message may be the line that the tool prints outside of workflows.
            Some(annotation) if place_in_file(annotation.message).is_none() => {
                return annotated(&annotation);
            }
            Some(annotation) => annotation.message,
            None => text,
        },
        b'#' => return logged_issue(text),
        b'w' | b'W' | b'D' => {
            if let Some(unformatted) = unformatted(text) {
                return Some(unformatted);
            }
            text
        }
        _ => text,
    };
    let place = place_in_file(text)?;
    if place.rest.is_empty() {
        return None;
    }
    let message = place.rest.strip_prefix("- ").unwrap_or(place.rest);
    // A marker that a style problem can be fixed is left out.
    let bare = match message.as_bytes().first() {
        Some(b'C') => message.strip_prefix("C: [Correctable] "),
        _ => None,
    };
    Some(Finding {
        place: place.text,
        path: place.path,
        message: trimmed_end(bare.unwrap_or(message)),
        whole: if bare.is_some() {
            ""
        } else {
            trimmed_end(text)
        },
    })
}

/// The location that a line begins with, if its path is that of a file. It is searched once, and no further than a path
/// can be long.
pub(super) fn place_in_file(text: &str) -> Option<line::Place<'_>> {
    let bytes = text.as_bytes();
    let mut kinds = 0;
    let mut blanks = 0;
    let mut at = 0;
    loop {
        at = plain_end(bytes, at, &mut kinds);
        let end = bytes.get(at..)?.iter().position(|byte| {
            let kind = kind(*byte);
            kinds |= kind;
            kind & (END | BLANK) != 0
        });
        at += end?;
        if bytes.get(at) == Some(&b' ') {
            blanks += 1;
            if blanks > 1 {
                return None;
            }
        } else if bytes.get(at + 1)?.is_ascii_digit()
            && let Some(place) = line::place_at(text, at)
        {
            let simple = kinds & (ODD | BLANK) == 0 && blanks == 0;
            let named = kinds & LETTER != 0 && kinds & NAMING != 0;
            let is_path = if simple { named } else { is_path(place.path) };
            return Some(place).filter(|_| is_path);
        }
        // A colon that does not end a path is a part of one.
        kinds |= ODD;
        at += 1;
    }
}

/// The end of the most frequent bytes of paths: before another byte, or among the last seven. Adds the kinds of the
/// bytes before it. Eight bytes are read at a time.
fn plain_end(bytes: &[u8], from: usize, kinds: &mut u8) -> usize {
    let mut at = from;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*word);
        let low = word & LOWER;
        let letters = between(low | each(0x20), b'a', b'z') & !word;
        let naming = between(low, b'.', b'/') & !word;
        let plain = letters | (between(low, b'-', b'9') | between(low, b'_', b'_')) & !word;
        let other = !plain & HIGHEST;
        let before = other.wrapping_sub(1) & !other;
        *kinds |= if letters & before == 0 { 0 } else { LETTER };
        *kinds |= if naming & before == 0 { 0 } else { NAMING };
        if other != 0 {
            return at + other.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at
}

const LOWER: u64 = each(0x7F);
const HIGHEST: u64 = each(0x80);

/// The highest bit of each byte from `first` to `last`; all bytes must be ASCII.
fn between(bytes: u64, first: u8, last: u8) -> u64 {
    (bytes + each(0x80 - first)) & !(bytes + each(0x7F - last)) & HIGHEST
}

const LETTER: u8 = 1;
/// Whether the byte shows that a word is a file name.
const NAMING: u8 = 2;
const ODD: u8 = 4;
const END: u8 = 8;
const BLANK: u8 = 16;

/// What each byte of a path can be.
static KINDS: [u8; 256] = kinds();

const fn kinds() -> [u8; 256] {
    let mut kinds = [0; 256];
    let mut byte = 0_u8;
    loop {
        // A constant function cannot use `get_mut`; a byte is always a valid index.
        #[expect(clippy::indexing_slicing, reason = "256 places, one for each byte")]
        {
            kinds[byte as usize] = match byte {
                b'a'..=b'z' | b'A'..=b'Z' => LETTER,
                b'0'..=b'9' | b'_' | b'-' => 0,
                b'/' | b'.' => NAMING,
                b':' | b'(' => END,
                b' ' => BLANK,
                _ => ODD,
            };
        }
        if byte == u8::MAX {
            return kinds;
        }
        byte += 1;
    }
}

fn kind(byte: u8) -> u8 {
    KINDS.get(usize::from(byte)).copied().unwrap_or_default()
}

/// A file, or a place in it, that a formatter would change: `would reformat a.py` and the like.
pub(super) fn unformatted(text: &str) -> Option<Finding<'_>> {
    let (message, place) = ["would reformat ", "Would reformat: ", "Diff in "]
        .iter()
        .find_map(|start| Some((*start, text.strip_prefix(start)?)))?;
    let (place, path) = if message == "Diff in " {
        let place = place.strip_suffix(':')?;
        (place, place.rsplit_once(':')?.0)
    } else {
        (place, place)
    };
    is_path(path).then_some(Finding {
        place,
        path,
        message: message.trim_end(),
        whole: text.trim_end_matches(':'),
    })
}

/// Whether the text before a line number is a path, not a time, an address or a sentence.
fn is_path(path: &str) -> bool {
    let mut blanks = 0;
    let mut letter = false;
    let mut folder = false;
    let mut dot = false;
    let mut name = 0;
    let bytes = path.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'/' => {
                if bytes.get(at.wrapping_sub(2)..at) == Some(b":/") {
                    return false;
                }
                (folder, dot, name) = (true, false, at + 1);
            }
            b'\\' => (dot, name) = (false, at + 1),
            b'.' => dot = true,
            b' ' => blanks += 1,
            // Letters beyond ASCII count as letters of file names.
            _ => letter |= byte.is_ascii_alphabetic() || !byte.is_ascii(),
        }
    }
    let named = dot || folder || matches!(path.get(name..), Some("Dockerfile" | "Makefile"));
    named && letter && blanks <= 1
}

/// Whether a message begins with a severity or a code of a rule: `error:`, `E501`, `TS2322`, `warning `.
pub(super) fn is_judged(message: &str) -> bool {
    const SEVERITIES: [&str; 8] = [
        "error",
        "warning",
        "note",
        "info",
        "fatal",
        "convention",
        "refactor",
        "style",
    ];
    let word = message
        .split([' ', ':', '('])
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    let severity = word.trim_matches(['[', ']']);
    let is_it = |known: &str| known.eq_ignore_ascii_case(severity);
    SEVERITIES.iter().any(|known| is_it(known)) || is_code(word) || message.ends_with([']', ')'])
}

/// Whether a message ends with the code of a rule: `Double quote this. [SC2086]`.
pub(super) fn is_coded(message: &str) -> bool {
    let opening = message
        .strip_suffix(']')
        .and_then(|inside| inside.rfind('['));
    opening
        .and_then(|opening| message.get(opening + 1..))
        .is_some_and(is_code)
}

/// The location in a line `  --> path:1:2`, `   Location: path:1:2` or `   ,-[path:1:2]`.
pub(super) fn arrow(text: &str) -> Option<line::Place<'_>> {
    let text = trimmed_start(text);
    if !matches!(text.as_bytes().first(), Some(b'-' | b',' | b'L' | 0xE2)) {
        return None;
    }
    let boxed = text
        .strip_prefix(",-[")
        .or_else(|| text.strip_prefix("╭─["));
    if let Some(boxed) = boxed {
        return line::place(boxed.strip_suffix(']')?);
    }
    let place = text
        .strip_prefix("-->")
        .or_else(|| text.strip_prefix("Location: "))?;
    line::place(place.trim())
}

/// The location, if the line is nothing else: `path:1`.
pub(crate) fn bare_place(text: &str) -> Option<line::Place<'_>> {
    if text.as_bytes().last()?.is_ascii_alphabetic() {
        return None;
    }
    let text = text.trim_end();
    let ends = text.as_bytes().last();
    ends.filter(|last| last.is_ascii_digit() || **last == b')')?;
    line::place(text)
        .filter(|place| place.rest.is_empty() && place.text == text && is_path(place.path))
        // A module of Node is not a file, and is above errors that Node throws.
        .filter(|place| !place.path.starts_with("node:"))
}

/// The message in `^-- CODE (severity): message`.
pub(super) fn pointed(text: &str) -> Option<&str> {
    let body = text.get(indent(text)..)?;
    let (marks, message) = body.strip_prefix('^')?.split_once(' ')?;
    let points = marks.bytes().all(|byte| matches!(byte, b'^' | b'-'));
    (points && message.split(' ').next().is_some_and(is_code)).then_some(message)
}

/// The location and the path in `In a.sh line 3:`.
pub(super) fn in_line(text: &str) -> Option<(&str, &str)> {
    let place = text.strip_prefix("In ")?.strip_suffix(':')?;
    let (path, number) = place.split_text(" line ")?;
    number
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some((place, path))
}

/// `text` without leading blanks, which are mostly ASCII.
fn trimmed_start(text: &str) -> &str {
    let short = text.trim_ascii_start();
    match short.as_bytes().first() {
        Some(first) if first.is_ascii_graphic() => short,
        _ => short.trim_start(),
    }
}

/// Whether a count is followed by a rule and its name: `\tD102  \t[ ] undocumented-public-method`.
fn is_tallied(after_number: &str) -> bool {
    let mut columns = after_number.splitn(3, '\t').skip(1);
    let code = columns.next().unwrap_or_default().trim_ascii_end();
    let name = columns.next().and_then(|name| name.rsplit(' ').next());
    let is_name = |name: &str| {
        let mut signs = name.bytes();
        !name.is_empty()
            && signs.all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == b'-')
    };
    is_code(code) && name.is_some_and(is_name)
}

/// Whether a line shows source: ` 12 | code`, `   |`, `12 + code`, or points at it: `    ^~~~`.
pub(crate) fn is_excerpt(text: &str) -> bool {
    let line = text.trimmed();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after_number = line.get(digits..).unwrap_or_default();
    if digits > 0 && (after_number.starts_with('\t') || text.ends_with('\t')) {
        return !is_tallied(after_number);
    }
    // A line that GCC suggests to insert has no number.
    let gutter = trimmed_start(after_number).trim_start_matches("+++ ");
    if gutter.starts_with('|') && (digits > 0 || indent(text) > 0) {
        return true;
    }
    if memchr::memchr2(b'^', b'~', line.as_bytes()).is_none() {
        return false;
    }
    let marks = line
        .bytes()
        .filter(|byte| matches!(byte, b'^' | b'~' | b'-' | b'+' | b'|'))
        .count();
    marks * 2 > line.len()
}

/// Whether a line has a rule and a message without a location: `name[missing]: All steps should be named.`
pub(super) fn is_rule(text: &str) -> bool {
    let Some((head, message)) = text.split_once(": ") else {
        return false;
    };
    let name = head.split('[').next().unwrap_or(head);
    let bracketed = head.len() > name.len() && head.ends_with(']');
    let plain = head.len() == name.len() && head.contains('-');
    let is_name = name.starts_with(|sign: char| sign.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    is_name && (bracketed || plain) && !message.is_empty()
}

/// Whether a line shows the function or class of the findings below it.
pub(super) fn is_scope(text: &str) -> bool {
    if !text.ends_with(':') {
        return false;
    }
    let scope = text
        .split_text(": note: ")
        .filter(|(path, _)| is_path(path))
        .map_or("", |(_, scope)| scope);
    ["In ", "At top level"]
        .iter()
        .any(|words| scope.starts_with(words))
}

/// Whether a line begins with a label for what follows, which may be a location.
pub(super) fn is_headed(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '\t']);
    text.starts_with("help: ") || text.starts_with("Location: ")
}

/// Whether a line begins with a severity: `Error: message`, `Warn: message`.
pub(super) fn is_severe(text: &str) -> bool {
    ["Error: ", "Warn: ", "Warning: "]
        .iter()
        .any(|severity| text.starts_with(severity))
}

/// Whether a line only points into the line above: `    ^~~~`.
pub(crate) fn is_caret(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(['^', '~'])
        && text
            .bytes()
            .all(|byte| matches!(byte, b'^' | b'~' | b'-' | b' '))
}

/// Whether a line reports progress or the setup: `Checking a.c ...`, `1/5 files checked 13% done`, `[main]\tINFO\tcli
/// include tests: None`.
pub(super) fn is_step(text: &str) -> bool {
    text.starts_with("Checking ") && text.trim_end().ends_with("...")
        || text.ends_with("% done") && text.contains(" files checked ")
        || text.starts_with("[main]\tINFO\t")
        || text.starts_with("Working... ")
}
