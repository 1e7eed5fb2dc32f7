//! Forms of lines that are recognised by more than their words.

use memchr::{memchr, memchr_iter, memchr2};

use super::kind::DRAWN;
use crate::line::{heading_level, is_bad};
use ethos_registry_core::clean;
use ethos_registry_core::find_text::FindText as _;

/// Whether `text` ends with the total time: `3 examples in 0.942 seconds`.
pub(super) fn ends_with_time(text: &str) -> bool {
    text.strip_suffix(" seconds").is_some_and(|spent| {
        let before = spent.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
        let number = spent.as_bytes().get(before.len());
        before.ends_with(" in ") && number.is_some_and(u8::is_ascii_digit)
    })
}

/// Whether `text` is a Markdown heading of the second level or below; a single number sign also begins comments.
pub(super) fn is_heading(text: &str) -> bool {
    matches!(heading_level(text), Some(2 | 3))
}

/// Whether `text` sets a time limit: `timeout: 30m`, `connect_timeout=5`.
pub(super) fn is_limit(text: &str) -> bool {
    let set = text.split_once([':', '=']);
    set.is_some_and(|(name, value)| {
        let (name, value) = (name.trim(), value.trim());
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        name.bytes().all(plain)
            && (name.starts_with("timeout") || name.ends_with("timeout"))
            && value.starts_with(|sign: char| sign.is_ascii_digit())
            && value.bytes().all(plain)
    })
}

/// Whether `text` contains a percent sign that does not encode a byte as in `a%0Ab`.
pub(super) fn holds_share(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr_iter(b'%', bytes).any(|at| {
        bytes
            .get(at + 1..at + 3)
            .is_none_or(|behind| !behind.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Whether `text` is the title of one of several failures: `3) title`.
pub(super) fn is_title(text: &str) -> bool {
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    rest.len() < text.len() && rest.starts_with(") ") && rest.len() > 2
}

/// Whether `text` is a state of a progress bar: a percentage, and a bar or a speed.
pub(super) fn is_progress(text: &str) -> bool {
    let bytes = text.as_bytes();
    let first = bytes.first().copied().unwrap_or_default();
    let may_be =
        memchr2(b'%', DRAWN, bytes).is_some() || text.ends_with("/s") || text.ends_with("/s]");
    let moves = || {
        holds_share(text)
            || ["B/s", "it/s", "s/it", "eta ", "--:--"]
                .iter()
                .any(|sign| text.has_text(sign))
    };
    // A row about a file begins with its path.
    let is_path = matches!(first, b'/' | b'_') || text.starts_with("./");
    may_be
        && moves()
        && clean::is_progress(text)
        && (first == b'['
            || !first.is_ascii_alphanumeric() && !is_path
            || holds_rate(text)
            || text.has_text("##")
            || text.has_text("==")
            || text.has_text("... [") && !is_bad(text)
            || memchr(DRAWN, bytes).is_some())
}

/// Whether `text` contains a rate per second: `2.4MB/s`, not `src/shop`.
fn holds_rate(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"/s").any(|at| {
        let after = bytes.get(at + 2);
        after.is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"_-/.".contains(byte))
    })
}

/// Whether `text` is nothing but a frame in the code of Ruby or of a gem: a location, the word `in` and a quoted name.
/// The first frame of an error also contains the message.
pub(super) fn is_frame_of_ruby(text: &str) -> bool {
    text.ends_with('\'')
        && text.has_text(":in ")
        && ["/ruby/", "/gems/"]
            .iter()
            .any(|folder| text.has_text(folder))
}
