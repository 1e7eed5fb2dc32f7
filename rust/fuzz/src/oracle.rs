//! What must hold of every reduced text, whatever the text was.

use std::collections::HashSet;
use std::fmt;
use std::panic::catch_unwind;

use ethos_registry_core::clean;
use ethos_registry_core::reduce::{Kind, Request, family, reduce};

use crate::mutation::Case;

/// Words by which programs say that all is well.
const GREEN: [&str; 5] = ["passed", "ok", "0 errors", "Success", "no issues found"];

/// A guard that did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Panicked,
    Longer,
    ChangedTwice,
    NotDeterministic,
    Coordinate,
    GreenLine,
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Panicked => "a panic",
            Self::Longer => "longer than the text",
            Self::ChangedTwice => "reduced twice is not reduced once",
            Self::NotDeterministic => "not the same the second time",
            Self::Coordinate => "a place that the text does not name",
            Self::GreenLine => "a line of success that the failed command did not print",
        })
    }
}

/// What was seen of a case.
pub(crate) struct Judged {
    pub(crate) family: &'static str,
    /// Whether the text is so long that it may be reduced at all.
    pub(crate) behind_guard: bool,
    pub(crate) is_reduced: bool,
    pub(crate) broken: Option<Broken>,
}

/// Runs a case and holds the result to the guards.
pub(crate) fn judge(case: &Case) -> Judged {
    let mut judged = Judged {
        family: "none",
        behind_guard: case.text.chars().count() > Kind::Terminal.whole_chars(),
        is_reduced: false,
        broken: None,
    };
    let seen = catch_unwind(|| {
        let family = family(&case.text, case.command.as_deref());
        let once = reduced(case, &case.text);
        let broken = once.as_deref().and_then(|once| broken(case, once));
        (family, once.is_some(), broken)
    });
    match seen {
        Ok((family, is_reduced, broken)) => {
            judged.family = family;
            judged.is_reduced = is_reduced;
            judged.broken = broken;
        }
        Err(_) => judged.broken = Some(Broken::Panicked),
    }
    judged
}

/// The reduced text of a case; nothing when it stays, or when there is a panic.
pub(crate) fn reduced_text(case: &Case) -> Option<String> {
    catch_unwind(|| reduced(case, &case.text)).unwrap_or_default()
}

fn reduced(case: &Case, text: &str) -> Option<String> {
    let request = Request {
        command: case.command.as_deref(),
        ranged: false,
        ok: case.exit_code == Some(0),
        exit_code: case.exit_code,
        budget_chars: case.budget_chars,
    };
    reduce(Kind::Terminal, &request, text)
}

fn broken(case: &Case, once: &str) -> Option<Broken> {
    if once.chars().count() > case.text.chars().count() {
        return Some(Broken::Longer);
    }
    if reduced(case, &case.text).as_deref() != Some(once) {
        return Some(Broken::NotDeterministic);
    }
    if reduced(case, once).is_some_and(|twice| twice != once) {
        return Some(Broken::ChangedTwice);
    }
    let cleaned = clean::terminal(&case.text);
    // Most lines stand in the text as they are, and looking for each in all of it takes long.
    let lines: HashSet<&str> = cleaned.lines().collect();
    let mut other = once.lines().filter(|line| !lines.contains(line));
    if !other.all(|line| coordinates_stand_in(line, &cleaned)) {
        return Some(Broken::Coordinate);
    }
    let failed = case.exit_code.is_some_and(|code| code != 0);
    if failed
        && once
            .lines()
            .any(|line| is_green(line) && !stands_in(line, &cleaned))
    {
        return Some(Broken::GreenLine);
    }
    None
}

/// What stands between the marks of what was left out or folded in a line.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split(['…', '[', ']', '×']);
    parts.map(|part| part.trim_matches(|c: char| c == '.' || c.is_whitespace()))
}

/// Whether each `path:line` of a line stands in the text: as it is, or path and line number alone,
/// where a format names the path once above its lines.
fn coordinates_stand_in(line: &str, text: &str) -> bool {
    pieces(line).all(|piece| {
        let mut colons = piece.match_indices(':').map(|(colon, _)| colon);
        colons.all(|colon| {
            let before = piece.get(..colon).unwrap_or_default();
            let after = piece.get(colon + 1..).unwrap_or_default();
            let in_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
            let path = before
                .rsplit(|c: char| !in_path(c))
                .next()
                .unwrap_or_default();
            let number = after
                .split(|c: char| !c.is_ascii_digit())
                .next()
                .unwrap_or_default();
            let is_path = path.contains('.') && path.contains(char::is_alphabetic);
            let stands = |part: &str| text.contains(part);
            !is_path || number.is_empty() || (stands(path) && stands(number))
        })
    })
}

/// Whether a line has a word of success in it that stands free: not in a path, not in quotes.
fn is_green(line: &str) -> bool {
    GREEN.iter().any(|word| {
        line.match_indices(word).any(|(at, _)| {
            let before = line.get(..at).and_then(|part| part.chars().next_back());
            let after = line
                .get(at + word.len()..)
                .and_then(|part| part.chars().next());
            let ends =
                |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | ')' | ']' | '!');
            before.is_none_or(char::is_whitespace) && after.is_none_or(ends)
        })
    })
}

/// Whether a line, or the green pieces between its places and what was left out of it, stand in the
/// text, however wide the space between their words.
fn stands_in(line: &str, text: &str) -> bool {
    let words = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    text.contains(line.trim())
        || pieces(line)
            .flat_map(|piece| piece.split(": "))
            .filter(|piece| is_green(piece))
            .all(|piece| text.contains(piece) || words(text).contains(&words(piece)))
}
