//! A report whose first lines were cut off: `pytest | tail -n 80`.

use super::failure::script_place;
use super::ruler::{header, title, verdict};

/// How many lines are searched for the first ruler.
const MOST_LINES: usize = 400;

/// Whether `text` begins inside a failure: an error is above the first ruler, which belongs to another failure or to
/// what follows the failures.
pub(super) fn begins_in_failure(text: &str) -> bool {
    // The first line decides for most inputs: a report begins with a ruler or with test marks.
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
