//! An input to a budget: the first characters, and a marker that states how many there were.

use crate::text::{Source, cluster_boundary};

const MARKER_HEAD: &str = "\n[truncated — ";
const MARKER_TAIL: &str = " chars total]";
/// The most digits a marker may hold: as many as always fit 64 bits.
const MARKER_DIGITS: usize = 19;

/// No well-formed marker has more characters than this.
pub const MARKER_MAX_CHARS: usize = 64;

/// What has to happen to an input so that it holds to a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    /// It passes unchanged; a number when it ends with a marker, which states how long it once was.
    Passes(Option<u64>),
    /// The text up to this position stays, and a marker follows it.
    CutAt(usize),
}

/// The marker that follows a result when `total_chars` characters entered the trim.
#[must_use]
pub fn marker(total_chars: usize) -> String {
    format!("{MARKER_HEAD}{total_chars}{MARKER_TAIL}")
}

/// How `source` comes down to `cap_chars` characters.
///
/// An input of at most `cap_chars` characters passes, and so does one that is followed by one
/// well-formed marker, that is one that counts more characters than are before it: what was cut
/// once is not cut again. A cap of 0 leaves the marker alone; an empty text stays empty.
///
/// # Errors
/// What the source reports.
pub fn trim<S: Source + ?Sized>(source: &S, cap_chars: usize) -> Result<Trim, S::Error> {
    let cut = source.position(cap_chars)?;
    let end = source.end();
    let (start, tail) = source.window(end.saturating_sub(MARKER_MAX_CHARS), end)?;
    if let Some((body, total_chars)) = marked(&tail) {
        let body_end = start.saturating_add(source.width(body));
        let fits = cut.is_none_or(|cut| body_end <= cut);
        if fits && total_chars > source.characters(0, body_end)? as u64 {
            return Ok(Trim::Passes(Some(total_chars)));
        }
    }
    match cut {
        None => Ok(Trim::Passes(None)),
        Some(position) => Ok(Trim::CutAt(keep(source, position)?)),
    }
}

/// Where an input that does not end at `position` is cut so that it keeps no more than that.
///
/// It is never cut inside an extended grapheme cluster, unless that cluster starts the text.
///
/// # Errors
/// What the source reports.
pub fn keep<S: Source + ?Sized>(source: &S, position: usize) -> Result<usize, S::Error> {
    if position == 0 {
        return Ok(0);
    }
    let boundary = cluster_boundary(source, position)?;
    Ok(if boundary == 0 { position } else { boundary })
}

/// What precedes the well-formed marker at the end of `tail`, and the number in it.
fn marked(tail: &str) -> Option<(&str, u64)> {
    let unclosed = tail.strip_suffix(MARKER_TAIL)?;
    let number = unclosed.trim_end_matches(|character: char| character.is_ascii_digit());
    let digits = unclosed.get(number.len()..)?;
    let well_formed = !digits.is_empty()
        && digits.len() <= MARKER_DIGITS
        && (digits == "0" || !digits.starts_with('0'));
    let body = number.strip_suffix(MARKER_HEAD)?;
    if well_formed {
        Some((body, digits.parse().ok()?))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::string_slice, reason = "tests may panic")]

    use super::*;

    fn trimmed(text: &str, cap_chars: usize) -> String {
        match trim(text, cap_chars) {
            Ok(Trim::Passes(_)) => text.to_owned(),
            Ok(Trim::CutAt(end)) => text[..end].to_owned() + &marker(text.chars().count()),
        }
    }

    #[test]
    fn the_first_characters_stay() {
        assert_eq!(trimmed("abcdef", 6), "abcdef");
        assert_eq!(trimmed("abcdef", 4), "abcd\n[truncated — 6 chars total]");
        assert_eq!(trimmed("abcdef", 0), "\n[truncated — 6 chars total]");
        assert_eq!(trimmed("", 0), "");
    }

    #[test]
    fn no_cluster_is_split_but_the_first() {
        assert_eq!(trimmed("ab\r\ncd", 3), "ab\n[truncated — 6 chars total]");
        assert_eq!(
            trimmed("e\u{301}\u{301}x", 2),
            "e\u{301}\n[truncated — 4 chars total]"
        );
        assert_eq!(trimmed("\r\nx", 1), "\r\n[truncated — 3 chars total]");
    }

    #[test]
    fn what_was_cut_once_is_not_cut_again() {
        let once = trimmed("abcdef", 4);
        assert_eq!(trim(once.as_str(), 4), Ok(Trim::Passes(Some(6))));
        assert_eq!(trim(once.as_str(), 9_999), Ok(Trim::Passes(Some(6))));
        assert_eq!(trimmed(&once, 3), "abc\n[truncated — 32 chars total]");
    }

    #[test]
    fn only_a_well_formed_marker_passes() {
        for forged in ["04", "4", "", "99999999999999999999", "5x"] {
            let text = format!("abcd\n[truncated — {forged} chars total]");
            assert_eq!(trim(text.as_str(), 4), Ok(Trim::CutAt(4)), "{forged}");
        }
    }
}
