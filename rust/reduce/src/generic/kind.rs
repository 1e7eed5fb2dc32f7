//! Guesses the meaning of a line of an unknown program.

use super::forms::{ends_with_time, is_frame_of_ruby, is_heading, is_limit, is_progress, is_title};
use super::signs::Signs;
use super::table::is_row_of_shares;
use super::words::{
    BAD, CHANGES, COUNT_NAME_BYTES, FAILED_BEGINNINGS, HINTS, LIBRARY_FOLDERS, PASSED_BEGINNINGS,
    PASSED_ENDS, PASSED_LAST, TAP_DIRECTIVES, VERDICT, WARNING, WARNING_MARKS,
};
use crate::line;
use ethos_registry_core::clean;
use ethos_registry_core::find_text::FindText as _;

use memchr::{memchr, memchr_iter, memchr2};

/// The likely meaning of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// It reports a failure.
    Bad,
    /// A message with a location in a file; no two of them are equal.
    Place,
    /// A message with a code, or with a location somewhere in it.
    Finding,
    /// A line of a diff, or an expected or actual value.
    Change,
    /// Only the path of a file: what follows is about it.
    Header,
    /// A total or an end: `3 passed`, `Done in 2s`.
    Verdict,
    /// A warning.
    Warning,
    /// None of the others.
    Plain,
    /// Advice.
    Hint,
    /// Something that succeeded.
    Passed,
    /// A state of a progress bar.
    Progress,
    /// Blanks, rulers, markers under source text.
    Noise,
}

/// The first byte of bars and of many drawing characters.
pub(super) const DRAWN: u8 = 0xE2;
/// Shorter words are often units and names.
const WORD_LETTERS: usize = 4;
/// Only this much of a line is examined.
const BEGINNING_BYTES: usize = 1_000;

/// The likely meaning of `line`.
pub(crate) fn kind(line: &str) -> Kind {
    let whole = line.trimmed();
    let text = clean::beginning(whole, BEGINNING_BYTES);
    let Some(first) = text.as_bytes().first() else {
        return Kind::Noise;
    };
    let signs = Signs::of(text);
    let begins_odd = !first.is_ascii_alphanumeric();
    let begins_with_digit = first.is_ascii_digit();
    let is_noise = begins_odd && (line::is_ruler(text) || is_marks(text))
        || signs.has_digit && is_excerpt(text)
        || text.ends_with(':') && is_hex_dump(text)
        || is_library_frame(text);
    if is_noise {
        return Kind::Noise;
    }
    if is_progress(text) {
        return Kind::Progress;
    }
    if FAILED_BEGINNINGS.begin(text) || line::is_refusal(text) {
        return Kind::Bad;
    }
    if passed_mark(whole).is_some() {
        return Kind::Passed;
    }
    if begins_with_digit && is_row_of_shares(text) {
        return Kind::Plain;
    }
    if HINTS.begin(text) {
        return Kind::Hint;
    }
    if signs.numbered && place_length(text).is_some() {
        return Kind::Place;
    }
    if begins_with_digit && is_title(text) {
        return Kind::Bad;
    }
    if begins_odd && (text.starts_with('^') || is_label(text)) {
        return Kind::Finding;
    }
    if is_change(text) {
        return Kind::Change;
    }
    if is_count(text) || is_row_count(text) || signs.has_digit && ends_with_time(text) {
        return Kind::Verdict;
    }
    if WARNING_MARKS.begin(text) {
        return Kind::Warning;
    }
    if text.ends_with('*') && line::is_play(text) || *first == b'#' && is_heading(text) {
        return Kind::Header;
    }
    match signs.told {
        Some(BAD) if signs.has_digit && is_limit(text) => Kind::Plain,
        Some(BAD) => Kind::Bad,
        Some(VERDICT) if signs.has_digit => Kind::Verdict,
        told => {
            let is_row = || text.len() > 2 && text.starts_with('|') && text.ends_with('|');
            let is_word = || memchr2(b' ', b'\t', text.as_bytes()).is_none();
            let named = text.strip_prefix("FILE: ");
            if (is_word() || named.is_some()) && is_header(named.unwrap_or(text)) || is_row() {
                Kind::Header
            } else if is_import(text)
                || signs.coded && has_word(text)
                || holds_rule(whole)
                || (signs.lined || signs.numbered) && holds_place(text, signs)
            {
                Kind::Finding
            } else if told == Some(WARNING) {
                Kind::Warning
            } else {
                Kind::Plain
            }
        }
    }
}

/// Whether `line` is likely to report a failure, like [`kind`] with the result [`Kind::Bad`] but faster for lines
/// without any sign of it.
pub(crate) fn tells_of_failure(line: &str) -> bool {
    let text = clean::beginning(line.trimmed(), BEGINNING_BYTES);
    let may_be = FAILED_BEGINNINGS.begin(text)
        || line::is_refusal(text)
        || is_title(text)
        || Signs::of(text).told == Some(BAD);
    may_be && kind(line) == Kind::Bad
}

/// The length of the location that `text`, a trimmed line, begins with: a path with a line or, in a list of findings
/// for one file, a line with a column.
pub(crate) fn place_length(text: &str) -> Option<usize> {
    if text.starts_with(|sign: char| sign.is_ascii_digit()) {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let line = digits(text);
        let column = digits(text.get(line..)?.strip_prefix(':')?);
        let length = line + 1 + column;
        let blank = text.get(length..)?.starts_with([' ', '\t']);
        return (column > 0 && blank).then_some(length);
    }
    let place = line::place(text)?;
    is_path(place.path).then_some(place.text.len())
}

/// Whether `text` contains a word in lower case. A row of data without one may contain what looks like a code, but it
/// is not a message.
fn has_word(text: &str) -> bool {
    let mut letters = 0;
    text.bytes().any(|byte| {
        letters = if byte.is_ascii_lowercase() {
            letters + 1
        } else {
            0
        };
        letters >= WORD_LETTERS
    })
}

/// Whether `text` is bytes of a key or a signature that go on in the next line: `6c:96:1c:7b:`.
fn is_hex_dump(text: &str) -> bool {
    let is_byte = |pair: &str| pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut bytes = text.trim_end_matches(':').split(':');
    bytes.clone().nth(3).is_some() && bytes.all(is_byte)
}

/// Whether `text` is the path of a file and nothing else.
fn is_header(text: &str) -> bool {
    let path = text.trim_end_matches(':');
    let name = path.rsplit('/').next().unwrap_or_default();
    !path.contains([' ', '(', '=', '"', '<', '{'])
        && name.rsplit_once('.').is_some_and(|(stem, extension)| {
            !stem.is_empty()
                && (1..=5).contains(&extension.len())
                && extension.starts_with(|sign: char| sign.is_ascii_lowercase())
        })
}

/// Whether `text` lists imports of files: `a.js -> b.js -> a.js`, `oak (imported by "a.js")`.
fn is_import(text: &str) -> bool {
    // Few lines contain the one symbol or end with the other.
    let imports = || memchr(b'>', text.as_bytes()).is_some() && text.has_text(" -> ");
    imports() && text.split(" -> ").all(is_header)
        || text.ends_with(')') && text.has_text(" (imported by ")
}

/// Whether `text` is only a name and a number: `High: 20`.
fn is_count(text: &str) -> bool {
    let digits = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let number = text.bytes().rev().take_while(digits).count();
    let name = text
        .get(..text.len() - number)
        .and_then(|text| text.strip_suffix(": "));
    number > 0 && name.is_some_and(|name| name.len() <= COUNT_NAME_BYTES && !name.has_text(": "))
}

/// Whether `text` counts the rows above it: `(70 rows)`.
pub(super) fn is_row_count(text: &str) -> bool {
    let inside = text.strip_prefix('(').unwrap_or_default();
    let count = inside
        .strip_suffix(" rows)")
        .or_else(|| inside.strip_suffix(" row)"));
    count.is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_change(text: &str) -> bool {
    let text = if text.starts_with('#') {
        text.trim_start_matches(['#', ' '])
    } else {
        text
    };
    let signed = matches!(text.as_bytes().first(), Some(b'+' | b'-'))
        && text
            .get(1..)
            .is_some_and(|rest| rest.starts_with(|sign: char| sign.is_alphanumeric()));
    signed || CHANGES.begin(text)
}

/// Whether `text` ends with a rule name in brackets, or begins with one: `... (id-unique)`, `yaml[colons]: ...`.
fn holds_rule(text: &str) -> bool {
    let is_name = |name: &str| {
        name.len() > 2
            && name.starts_with(|sign: char| sign.is_ascii_lowercase())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/'))
    };
    let closed = matches!(text.as_bytes().last(), Some(b')' | b']'));
    let ends = closed
        .then(|| text.get(..text.len() - 1))
        .flatten()
        .and_then(|text| text.rsplit_once(['(', '[']))
        .is_some_and(|(_, name)| {
            is_name(name)
                && name
                    .contains(|sign: char| matches!(sign, '-' | '/') || sign.is_ascii_uppercase())
        });
    let begins = || {
        text.split_text("]: ")
            .and_then(|(head, _)| head.split_once('['))
            .is_some_and(|(head, name)| is_name(name) && !head.is_empty() && !head.contains(' '))
    };
    ends || begins()
}

/// Whether `text` contains a location: `at f (src/a.js:1:2)`, `file "a.py", line 3`.
fn holds_place(text: &str, signs: Signs) -> bool {
    if is_library_frame(text) {
        return false;
    }
    signs.lined || signs.numbered && numbered_words(text).any(is_place)
}

/// The words of `text` that contain a colon followed by a digit; no others contain a location.
fn numbered_words(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let parts = |byte: &u8| matches!(byte, b' ' | b'(' | b'[' | b'<');
    let mut read = 0;
    memchr_iter(b':', bytes).filter_map(move |colon| {
        let numbered = bytes.get(colon + 1).is_some_and(u8::is_ascii_digit);
        if colon < read || !numbered {
            return None;
        }
        let before = bytes.get(read..colon)?;
        let start = before
            .iter()
            .rposition(parts)
            .map_or(read, |at| read + at + 1);
        let behind = bytes.get(colon..)?;
        read = behind
            .iter()
            .position(parts)
            .map_or(bytes.len(), |at| colon + at);
        text.get(start..read)
    })
}

/// Whether `word` is a location in a file, possibly a URL and with punctuation after it.
fn is_place(word: &str) -> bool {
    let word = if word.starts_with("file://") {
        word.trim_start_matches("file://")
    } else {
        word
    };
    let word = word.trim_end_matches([')', ']', '>', ',', '.']);
    line::place(word).is_some_and(|place| is_path(place.path))
}

/// The prefix or suffix by which `text`, a trimmed line, reports a success.
pub(crate) fn passed_mark(text: &str) -> Option<&'static str> {
    let last = text.as_bytes().last();
    let end = || {
        last.filter(|last| PASSED_LAST.contains(last))?;
        let mut ends = PASSED_ENDS.iter().copied();
        ends.find(|mark| mark.as_bytes().last() == last && text.ends_with(mark))
    };
    let mark = PASSED_BEGINNINGS.of(text).or_else(end)?;
    (!TAP_DIRECTIVES.iter().any(|word| text.has_text(word))).then_some(mark)
}

/// Whether the text before a line number can be the path of a file, not a time or a host.
pub(crate) fn is_path(path: &str) -> bool {
    let odd = |byte: u8| matches!(byte, b'"' | b'{' | b'[' | b'<' | b'=' | b',' | b'(' | b';');
    let name = path.rsplit_text("/").map_or(path, |(_, name)| name);
    let extension = name.rsplit_text(".").map_or("", |(_, extension)| extension);
    let named = extension.starts_with(|sign: char| sign.is_ascii_alphabetic())
        || name.starts_with(|sign: char| sign.is_ascii_uppercase())
        // With blanks it may as well be two words: `link/ether ba:81:97:f2:3d:53`.
        || path.contains('/')
            && !path.contains(' ')
            && name.bytes().any(|byte| byte.is_ascii_alphabetic());
    named && !path.bytes().any(odd) && ["://", ": ", "  "].iter().all(|text| !path.has_text(text))
}

/// Whether `text`, a trimmed line, is a stack frame in library code.
pub(crate) fn is_library_frame(text: &str) -> bool {
    let first = text.as_bytes().first();
    if first == Some(&b'/') {
        return is_frame_of_ruby(text);
    }
    let may_be = matches!(first, Some(b'a' | b'F'));
    let is_frame = may_be && (text.starts_with("at ") || text.starts_with("File \""));
    is_frame
        && (text.ends_with("(<anonymous>)")
            || LIBRARY_FOLDERS.iter().any(|folder| text.has_text(folder)))
}

/// Markers under a source line: `    ^~~~~`, `  |     ^^^`, `│   ─┬`.
fn is_marks(text: &str) -> bool {
    let is_mark = |sign| {
        matches!(
            sign,
            ' ' | '\t' | '|' | '^' | '~' | '-' | '+' | ':' | '\u{2500}'..='\u{257F}'
        )
    };
    text.chars().all(is_mark)
}

/// Whether `text` is the label of a drawn line that points into the source above: `│ ╰── declared here`.
fn is_label(text: &str) -> bool {
    let arm = text.trim_start_matches(['│', '┆', '┊', '·', '|', ':', ' ']);
    arm.strip_prefix('╰').is_some_and(|rest| {
        let label = rest.trim_start_matches(['─', '┤', '▶', '►', '>', ' ']);
        label.len() < rest.len() && label.len() > 2 && !label.starts_with(['╯', '┴'])
    })
}

/// Whether `text` quotes source text: `12 | let a = 1`, `> 3 │ let b`.
fn is_excerpt(text: &str) -> bool {
    let may_be = |byte: &u8| matches!(*byte, b'0'..=b'9' | b'>' | DRAWN);
    if !text.as_bytes().first().is_some_and(may_be) {
        return false;
    }
    let text = text.trim_start_matches(['>', '→', ' ']);
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let numbered = rest.len() < text.len();
    // Bars without a blank next to them separate the cells of a row.
    let behind = rest.trim_start().strip_prefix(['|', '│', '┃', '¦']);
    numbered
        && behind.is_some_and(|behind| {
            let apart =
                rest.starts_with(' ') || behind.is_empty() || behind.starts_with([' ', '\t']);
            apart && !is_judged(behind)
        })
}

/// Whether a line number is followed by a severity in a separate cell: ` ERROR   | [x] why`.
fn is_judged(behind: &str) -> bool {
    let cell = behind.trim_start();
    let after = cell.strip_prefix("ERROR").or(cell.strip_prefix("WARNING"));
    after.is_some_and(|after| after.trim_start().starts_with('|'))
}

#[cfg(test)]
mod tests;
