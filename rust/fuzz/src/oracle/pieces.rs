//! Lines of JSON that are shown in pieces.

use super::rows::piece_end;

/// Longer lines of JSON are shown in pieces.
const LONG_LINE: usize = 600;

/// Whether a line may be shown in pieces.
pub(super) fn is_long(line: &str) -> bool {
    let text = line.trim_ascii();
    line.trim_ascii_end().len() > LONG_LINE
        && text.starts_with(['{', '['])
        && text.ends_with(['}', ']', ','])
}

/// Whether nothing is between two pieces but blanks and line ends of a string.
fn is_blank(between: &str) -> bool {
    between.replace("\\n", "").trim().is_empty()
}

/// The bytes of `rest` that may be hidden: as many characters as are marked, or blanks and line ends of a string.
fn hidden(rest: &str, chars: Option<usize>) -> Vec<usize> {
    if let Some(chars) = chars {
        let offsets = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
        return offsets.skip(chars).take(1).collect();
    }
    let mut found = Vec::new();
    let mut here = rest;
    loop {
        let trimmed = here.trim_ascii_start();
        found.push(rest.len() - trimmed.len());
        match trimmed.strip_prefix("\\n") {
            Some(after) => here = after,
            None => return found,
        }
    }
}

/// The end of the piece of `rest` that `row` shows behind what is hidden.
pub(super) fn shown_end(row: &str, rest: &str, chars: Option<usize>) -> Option<usize> {
    hidden(rest, chars).into_iter().find_map(|hidden| {
        let length = piece_end(row, rest.get(hidden..)?)?;
        Some(hidden + length)
    })
}

/// What is left of a line behind its last piece.
#[derive(Clone, Copy)]
pub(super) struct Tail {
    pub(super) chars: usize,
    pub(super) is_blank: bool,
}

impl Tail {
    pub(super) fn of(rest: &str) -> Self {
        Self {
            chars: rest.chars().count(),
            is_blank: is_blank(rest),
        }
    }

    pub(super) fn is_hidden_in(self, chars: Option<usize>) -> bool {
        chars.map_or(self.is_blank, |chars| chars == self.chars)
    }
}
