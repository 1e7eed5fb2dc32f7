//! Strings that prove that an output has a format.

use super::format::FormatError;
use crate::input::Input;
use ethos_registry_core::find_text::FindText as _;

/// A shorter string could be anywhere.
const LEAST_BYTES: usize = 4;
const MOST_BYTES: usize = 200;

/// Groups of strings. All strings of one group are in the first or last lines of such an output.
#[derive(Debug)]
pub(super) struct Marks(Vec<Vec<String>>);

impl Marks {
    pub(super) fn of(groups: Vec<Vec<String>>) -> Result<Self, FormatError> {
        for mark in groups.iter().flatten() {
            let inner = mark.strip_prefix('\n').unwrap_or(mark);
            let inner = inner.strip_suffix('\n').unwrap_or(inner);
            if inner.contains('\n') || mark.len() < LEAST_BYTES || mark.len() > MOST_BYTES {
                return Err(FormatError(format!(
                    "marks: {mark:?} is not a text of {LEAST_BYTES} to {MOST_BYTES} bytes within one line; \\n may be first \
                     or last"
                )));
            }
        }
        Ok(Self(groups))
    }

    pub(super) fn groups(&self) -> &[Vec<String>] {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn are_in(&self, input: &Input<'_>) -> bool {
        self.0
            .iter()
            .any(|group| group.iter().all(|mark| is_in(mark, input)))
    }
}

fn is_in(mark: &str, input: &Input<'_>) -> bool {
    input.beginning().any(|line| is_of(mark, line))
        || !input.is_beginning() && input.ending().any(|line| is_of(mark, line))
}

fn is_of(mark: &str, line: &str) -> bool {
    let (first, mark) = match mark.strip_prefix('\n') {
        Some(mark) => (true, mark),
        None => (false, mark),
    };
    match (first, mark.strip_suffix('\n')) {
        (true, Some(mark)) => line == mark,
        (true, None) => line.starts_with(mark),
        (false, Some(mark)) => line.ends_with(mark),
        (false, None) => line.has_text(mark),
    }
}
