//! Chat template tokens: in a tool's output they are forgeries.

use std::borrow::Cow;
use std::collections::TryReserveError;

use memchr::memmem;

use super::Edited;
use super::fold::OTHER;
use super::scan::{Opener, Openers};
use super::seen::{Reading, Seen};

/// Replaces a token.
///
/// Its bracket ends whatever was opened before it, so removing a token never forms another.
pub const PLACEHOLDER: &str = "[STRIPPED-TEMPLATE-TOKEN]";

/// The most visible characters of a token between its brackets.
const INSIDE_MAX_CHARS: usize = 64;

/// Tokens in angle brackets without bars, any case; each also with a slash before it.
///
/// `<s>` is also HTML for struck-out text, and `<S>` a type parameter: both are removed.
const ANGLE_NAMES: [&[u8]; 52] = [
    b"s",
    b"bos",
    b"eos",
    b"pad",
    b"unk",
    b"eot",
    b"suf",
    b"mid",
    b"sop",
    b"eop",
    b"eoh",
    b"eoa",
    b"bos_token",
    b"eos_token",
    b"pad_token",
    b"unk_token",
    b"eot_token",
    b"start_of_turn",
    b"end_of_turn",
    b"start_of_image",
    b"end_of_image",
    b"image_soft_token",
    b"audio_soft_token",
    b"start_of_audio",
    b"end_of_audio",
    b"start_function_call",
    b"end_function_call",
    b"start_function_response",
    b"end_function_response",
    b"start_function_declaration",
    b"end_function_declaration",
    b"fim_prefix",
    b"fim_middle",
    b"fim_suffix",
    b"fim_pad",
    b"fim-prefix",
    b"fim-middle",
    b"fim-suffix",
    b"file_sep",
    b"repo_name",
    b"think",
    b"tool_call",
    b"tool_calls",
    b"tool_response",
    b"tool_result",
    b"function_call",
    b"function_calls",
    b"function_response",
    b"function_results",
    b"minimax:tool_call",
    b"seed:think",
    b"seed:tool_call",
];
/// Tokens in angle brackets whose other cases mean something else: `<pre>` is HTML.
const EXACT_ANGLE_NAMES: [&[u8]; 1] = [b"PRE"];

/// Tokens in square brackets, any case; each also with a slash before it.
const SQUARE_NAMES: [&[u8]; 9] = [
    b"inst",
    b"tool_calls",
    b"available_tools",
    b"tool_results",
    b"system_prompt",
    b"tool_content",
    b"model_settings",
    b"call_id",
    b"gmask",
];
/// Tokens in square brackets whose other cases index arrays all over source code.
const EXACT_SQUARE_NAMES: [&[u8]; 8] = [
    b"ARGS",
    b"THINK",
    b"PREFIX",
    b"SUFFIX",
    b"MIDDLE",
    b"IMG",
    b"IMG_END",
    b"IMG_BREAK",
];

/// Tokens between bars, any case, that are written without an underscore.
const BAR_NAMES: [&[u8]; 14] = [
    b"endoftext",
    b"endofprompt",
    b"start",
    b"end",
    b"eot",
    b"channel",
    b"message",
    b"return",
    b"call",
    b"constrain",
    b"system",
    b"user",
    b"assistant",
    b"tool",
];

/// Who speaks next, where the template of a family writes it after the token.
const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];
/// The words after an empty line that begin a turn; exact, as the models know them.
const TURNS: [&str; 2] = ["\nHuman:", "\nAssistant:"];

/// `text` with [`PLACEHOLDER`] for each token; `None` when it holds none.
///
/// A token is anything between `<|` and `|>` on one line, up to 64 visible characters, or the name of
/// a token between them over several lines; a word as in `<|turn>` or `<turn|>`; one of the names;
/// `<<SYS>>`; `Human:` or `Assistant:` after an empty line, or after a line break that begins the
/// text. All may be spelled as the module describes. Source code that happens to look like a token
/// (`f <| x |> g`) is removed too.
///
/// # Errors
/// There is no memory for it.
pub fn sanitize(text: &str) -> Result<Option<String>, TryReserveError> {
    let mut safe = Cow::Borrowed(text);
    for turn in TURNS {
        if let Some(changed) = without_turns(&safe, turn)? {
            safe = Cow::Owned(changed);
        }
    }
    if let Some(changed) = without_tokens(&safe)? {
        safe = Cow::Owned(changed);
    }
    Ok(match safe {
        Cow::Borrowed(_) => None,
        Cow::Owned(safe) => Some(safe),
    })
}

fn without_turns(text: &str, turn: &str) -> Result<Option<String>, TryReserveError> {
    let mut edited = Edited::new(text);
    for found in memmem::find_iter(text.as_bytes(), turn.as_bytes()) {
        let before = text.get(..found).unwrap_or_default();
        let before = before.strip_suffix('\r').unwrap_or(before);
        let start = match before.strip_suffix('\n') {
            Some(line) => line.strip_suffix('\r').unwrap_or(line),
            None if before.is_empty() => before,
            None => continue,
        };
        edited.replace(start.len(), found + turn.len(), PLACEHOLDER)?;
    }
    edited.finish()
}

fn without_tokens(text: &str) -> Result<Option<String>, TryReserveError> {
    let openers = Openers::new(text, true);
    let mut edited = Edited::new(text);
    let mut from = 0;
    while let Some(opener) = openers.next(from) {
        from = opener.end;
        if let Some(end) = token_end(text, opener) {
            edited.replace(opener.start, end, PLACEHOLDER)?;
            from = end;
        }
    }
    edited.finish()
}

/// Where the token ends that `opener` begins, if it begins one.
fn token_end(text: &str, opener: Opener) -> Option<usize> {
    let mut reader = Reader::new(Reading::Terminal);
    let end = reader.token_end(text, opener);
    if end.is_none() && reader.has_escape {
        return Reader::new(Reading::Text).token_end(text, opener);
    }
    end
}

/// Reads tokens one way, and notes whether there is another.
struct Reader {
    reading: Reading,
    /// Whether an escape character was passed.
    has_escape: bool,
}

impl Reader {
    fn new(reading: Reading) -> Self {
        Self {
            reading,
            has_escape: false,
        }
    }

    fn token_end(&mut self, text: &str, opener: Opener) -> Option<usize> {
        let rest = text.get(opener.end..)?;
        if opener.looks_like == b'[' {
            let inside = self.inside(rest, b']')?;
            let known = is_one_of(inside.name(), &SQUARE_NAMES, &EXACT_SQUARE_NAMES);
            return known.then_some(opener.end + inside.end);
        }
        if let Some(end) = self.double_bracketed(rest) {
            return Some(opener.end + end);
        }
        let inside = self.inside(rest, b'>')?;
        let end = opener.end + inside.end;
        if inside.is_between_bars() {
            return Some(end + role(text, end, &inside));
        }
        let is_named = is_one_of(inside.name(), &ANGLE_NAMES, &EXACT_ANGLE_NAMES);
        (inside.has_one_bar() || is_named).then_some(end)
    }

    /// Where `<SYS>>` or `</SYS>>` ends, the rest of its tag after the first bracket.
    fn double_bracketed(&mut self, rest: &str) -> Option<usize> {
        let second = self.first(rest, b'<')?;
        let inside = self.inside(rest.get(second..)?, b'>')?;
        let name = inside.name();
        let name = name.strip_prefix(b"/").unwrap_or(name);
        let closed = second + inside.end;
        let end = self.first(rest.get(closed..)?, b'>')?;
        name.eq_ignore_ascii_case(b"sys").then_some(closed + end)
    }

    /// Where the first glyph of `rest` ends, if it looks like `wanted`.
    fn first(&mut self, rest: &str, wanted: u8) -> Option<usize> {
        let mut seen = Seen::new(rest, self.reading);
        let glyph = seen.find(|glyph| glyph.looks_like != b'\n');
        self.has_escape |= seen.has_escape;
        glyph.and_then(|glyph| (glyph.looks_like == wanted).then_some(glyph.end))
    }

    /// What is before the first glyph of `rest` that looks like `closing`; `None` when it is too long
    /// or something ends it before.
    fn inside(&mut self, rest: &str, closing: u8) -> Option<Inside> {
        let mut seen = Seen::new(rest, self.reading);
        let inside = Inside::read(&mut seen, closing);
        self.has_escape |= seen.has_escape;
        inside
    }
}

/// The length of the role name that follows a token of the `ChatML` family and is removed with it.
fn role(text: &str, end: usize, inside: &Inside) -> usize {
    if !inside.name().eq_ignore_ascii_case(b"|im_start|") {
        return 0;
    }
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    let follows = |role: &&&str| {
        let beginning = rest.get(..role.len());
        beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(role.as_bytes()))
    };
    ROLES.iter().find(follows).map_or(0, |role| role.len())
}

fn is_one_of(name: &[u8], names: &[&[u8]], exact: &[&[u8]]) -> bool {
    let name = name.strip_prefix(b"/").unwrap_or(name);
    exact.contains(&name) || names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// What is seen between two brackets.
struct Inside {
    seen: [u8; INSIDE_MAX_CHARS],
    length: usize,
    /// Whether a blank or an invisible character is between them.
    spaced: bool,
    /// Whether a line break is between them.
    broken: bool,
    /// Where the closing bracket ends.
    end: usize,
}

impl Inside {
    fn read(seen: &mut Seen<'_>, closing: u8) -> Option<Self> {
        let mut inside = Self {
            seen: [0; INSIDE_MAX_CHARS],
            length: 0,
            spaced: false,
            broken: false,
            end: 0,
        };
        for glyph in seen {
            inside.spaced |= glyph.is_spaced;
            match glyph.looks_like {
                b'\n' => inside.broken = true,
                b'<' | b'[' => return None,
                looks_like if looks_like == closing => {
                    inside.end = glyph.end;
                    return Some(inside);
                }
                looks_like => {
                    *inside.seen.get_mut(inside.length)? = looks_like;
                    inside.length += 1;
                    if inside.seen.first() != Some(&b'|') && !may_be_named(looks_like) {
                        return None;
                    }
                }
            }
        }
        None
    }

    fn name(&self) -> &[u8] {
        self.seen.get(..self.length).unwrap_or_default()
    }

    /// `<|…|>` around something; over a line break only around the name of a token.
    fn is_between_bars(&self) -> bool {
        let inner = self.name().strip_prefix(b"|");
        let inner = inner.and_then(|inner| inner.strip_suffix(b"|"));
        inner.is_some_and(|inner| {
            inner.iter().any(|seen| *seen != b'|') && (!self.broken || is_bar_name(inner))
        })
    }

    /// `<|word>` or `<word|>`, unspaced: with blanks it is the code of some language.
    fn has_one_bar(&self) -> bool {
        let name = self.name();
        let word = name.strip_prefix(b"|").or_else(|| name.strip_suffix(b"|"));
        let is_word = |word: &[u8]| word.iter().all(|seen| is_word_character(*seen));
        !self.spaced && !self.broken && word.is_some_and(|word| !word.is_empty() && is_word(word))
    }
}

/// Whether `<|name|>` is a token even over a line break, where source code may have both operators.
fn is_bar_name(name: &[u8]) -> bool {
    let is_word = name.iter().all(|seen| is_word_character(*seen));
    let is_listed = BAR_NAMES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name));
    is_listed || (is_word && name.contains(&b'_'))
}

fn is_word_character(seen: u8) -> bool {
    seen != OTHER && (seen.is_ascii_alphanumeric() || seen == b'_')
}

fn may_be_named(seen: u8) -> bool {
    is_word_character(seen) || matches!(seen, b'/' | b'|' | b':' | b'-')
}

#[cfg(test)]
mod tests;
