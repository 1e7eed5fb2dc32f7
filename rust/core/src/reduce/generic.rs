//! What is done to an output of no known family: its first, its last and its bad lines.

use super::input::Input;
use super::line;
use super::output::Output;

const HEAD_LINES: usize = 40;
const TAIL_LINES: usize = 20;
const LINE_CHARS: usize = 300;
/// Bad lines between head and tail that are shown.
const BAD_LINES: usize = 60;

/// The first and the last lines, and those between them that tell of something bad.
pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let lines = input.text.lines().count();
    let tail_from = lines.saturating_sub(TAIL_LINES);
    let mut bad = 0;
    let mut skipped = 0;
    for (number, source) in input.lines().enumerate() {
        let inside = number >= HEAD_LINES && number < tail_from;
        if inside && (bad >= BAD_LINES || !line::is_bad(source)) {
            skipped += 1;
            continue;
        }
        bad += usize::from(inside);
        output.gap(std::mem::take(&mut skipped));
        output.context(&line::shorten(source, LINE_CHARS));
    }
}
