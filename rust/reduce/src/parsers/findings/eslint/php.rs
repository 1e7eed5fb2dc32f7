//! Findings in a table of their own for each file, as the linters of PHP print them: `phpcs`, `phpstan`.
//!
//! ```text
//! FILE: src/Jar.php                                    ------ -------------------------
//! -----------------------------------                   Line   src/Jar.php
//! FOUND 1 ERROR AFFECTING 1 LINE                       ------ -------------------------
//! -----------------------------------                   12     Method oak() has no return
//!   3 | ERROR | [x] Opening brace must                         type specified.
//!     |       |     be on a line by itself              ------ -------------------------
//! ```

use super::table::{Line, Table};
use crate::input::Input;
use crate::line::{indent, is_number};
use ethos_registry_core::clean::is_progress;

/// Whether `input` contains such a table.
pub(super) fn holds(input: &Input<'_>) -> bool {
    let mut last = "";
    input.beginning().any(|line| {
        let ruled = is_rule(last);
        last = line;
        bar_row(line).is_some() || ruled && lined_head(line).is_some()
    })
}

/// The file that a header names: `FILE: src/Jar.php`, `  Line   src/Jar.php`.
fn head(line: &str) -> Option<&str> {
    line.strip_prefix("FILE: ")
        .map(str::trim_end)
        .or_else(|| lined_head(line))
}

fn lined_head(line: &str) -> Option<&str> {
    let file = line.strip_prefix("  Line   ")?.trim();
    (!file.is_empty()).then_some(file)
}

/// The line number in a row `  3 | ERROR | message`, and where its message begins.
fn bar_row(line: &str) -> Option<(&str, usize)> {
    let (place, rest) = line.split_once(" | ")?;
    let said = ["ERROR", "WARNING"]
        .iter()
        .any(|severity| rest.starts_with(severity));
    let number = place.trim_start();
    (said && is_number(number)).then_some((number, place.len() + " | ".len()))
}

/// The line number in a row `  12     message`, and where its message begins.
fn blank_row(line: &str) -> Option<(&str, usize)> {
    let depth = indent(line);
    let body = line.get(depth..).filter(|_| depth > 0)?;
    let (place, message) = body.split_once("  ")?;
    let number = place.strip_prefix(':').unwrap_or(place);
    let blanks = message.len() - message.trim_start().len();
    let from = depth + place.len() + 2 + blanks;
    (is_number(number) && blanks < message.len()).then_some((place, from))
}

/// All findings of the text.
pub(super) fn read<'a>(input: &Input<'a>) -> Table<'a> {
    Table::of(input, |line, file| {
        let in_blanks = || blank_row(line).filter(|_| !file.is_empty());
        if let Some((place, column)) = bar_row(line).or_else(in_blanks) {
            Line::Row(place, column)
        } else if let Some(file) = head(line) {
            Line::File(file)
        } else if is_rule(line) || is_progress(line) {
            Line::Form
        } else if goes_on(line) {
            Line::More
        } else {
            Line::Other
        }
    })
}

/// Whether a line separates a header or the columns: ` ------ -------- `.
fn is_rule(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("---") && text.bytes().all(|byte| matches!(byte, b'-' | b' '))
}

/// Whether a line continues the message above it, in its column.
fn goes_on(text: &str) -> bool {
    indent(text) > 3
}
