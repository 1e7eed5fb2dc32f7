//! Tracebacks that Rich draws in a box: the location of each frame, with source and local variables below it.

use super::folder::{Folder, State};
use ethos_registry_core::find_text::FindText as _;

/// The title in the upper edge of the box.
const HEAD: &str = " Traceback (most recent call last) ";
const CORNER: &str = "╭─";
const LOWER_CORNER: &str = "╰─";
const EDGE: &str = "│ ";

/// The frame in a row of the box: `path:3 in function`.
fn frame(row: &str) -> Option<&str> {
    let text = row.strip_prefix(EDGE)?.trim_end_matches(['│', ' ']);
    let (place, function) = text.split_text(" in ")?;
    let (path, number) = place.rsplit_once(':')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !path.is_empty() && !path.starts_with(' ') && !function.contains(' '))
        .then_some(text)
}

impl<'a> Folder<'a> {
    /// Whether `body` is the upper edge of a box that opens a traceback.
    pub(super) fn opens_box(&mut self, body: &str) -> bool {
        let opens = body.starts_with(CORNER) && body.has_text(HEAD);
        if opens {
            self.state = State::Boxed;
        }
        opens
    }

    pub(super) fn boxed(&mut self, body: &'a str, keep: &mut impl FnMut(&'a str)) -> Option<bool> {
        if body.starts_with(LOWER_CORNER) {
            // The exception is below the box.
            self.state = State::Python { indent: 0 };
            return Some(true);
        }
        let belongs = body.starts_with('│');
        if let Some(frame) = frame(body) {
            self.python_frame(frame, keep);
        }
        belongs.then_some(true)
    }
}
