//! A report whose first lines were cut away: `pytest | tail -n 80`.

use super::failure::script_place;
use super::ruler::{header, title, verdict};

/// So far down the first ruler is looked for.
const MOST_LINES: usize = 400;

/// Whether `text` begins within a failure: an error is above the first ruler, which is that of a further
/// failure or of what follows all of them.
pub(super) fn begins_in_failure(text: &str) -> bool {
    // The first line alone shows most inputs: a report begins with a ruler or with marks.
    if text.starts_with(['=', '.']) {
        return false;
    }
    let (mut error, mut place) = (false, false);
    for line in text.lines().take(MOST_LINES) {
        let ends = title(line, '=').is_some_and(|title| {
            title == "FAILURES"
                || title == "short test summary info"
                || title.starts_with("warnings summary")
        });
        if ends || header(line).is_some() {
            return error && place;
        }
        if title(line, '=').is_some() || verdict(line).is_some() {
            return false;
        }
        error |= line.starts_with("E   ");
        place |= error && !line.starts_with([' ', 'E', '>']) && script_place(line).is_some();
    }
    false
}
