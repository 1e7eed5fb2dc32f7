//! Lines of a panic in a test.

use super::LINE_CHARS;
use crate::line::frame::is_rust_function;
use crate::line::shorten;
use crate::output::{Output, Weight};
use ethos_registry_core::find_text::FindText as _;

/// Writes `line` of a panic, below a row that may show its `test`.
pub(super) fn show(test: &str, line: &str, output: &mut Output) {
    let told = without_thread(test, line);
    let row = shorten(told, LINE_CHARS);
    if told.len() < line.len() {
        output.place(&row, 1, [(told, told)]);
    } else if line.starts_with("thread '") {
        output.open_failure(&row, 1);
    } else if let Some(place) = line.strip_prefix("at ") {
        output.place(&row, 1, [(place, place)]);
    } else if is_rust_function(line) {
        output.place(&row, 1, []);
    } else {
        output.compared(line, LINE_CHARS, Weight::Fact);
    }
}

/// `line` without the thread, if it has the name of the `test` in the row above.
fn without_thread<'a>(test: &str, line: &'a str) -> &'a str {
    let of_thread = line.strip_prefix("thread '");
    let named = of_thread.and_then(|rest| rest.split_text("' "));
    match named {
        Some((name, rest)) if !name.is_empty() && test.ends_with(name) => rest
            .find_text("panicked at ")
            .and_then(|at| rest.get(at..))
            .unwrap_or(line),
        _ => line,
    }
}
