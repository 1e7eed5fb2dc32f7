//! The tests that `--list` prints: all of them, those of one target in a row.

use super::line::without_binary;
use crate::input::Input;
use crate::output::Output;
use crate::parsers::findings::rustc::Reader;

/// The approximate length of a row of names.
const ROW_BYTES: usize = 160;
/// How many names prove that it is a list.
const ENOUGH_NAMES: usize = 3;

/// Whether the output contains requested names, and no test ran.
pub(super) fn is_list(input: &Input<'_>) -> bool {
    let asked = input.program() == "cargo" && input.has("--list");
    let lines = input.beginning().chain(input.ending());
    (asked || input.ending().any(is_count))
        && lines.filter(|line| listed(line).is_some()).count() >= ENOUGH_NAMES
}

/// The name in `cart::sums: test`.
fn listed(line: &str) -> Option<&str> {
    let name = line
        .strip_suffix(": test")
        .or_else(|| line.strip_suffix(": benchmark"))?;
    (!name.is_empty() && !name.starts_with(' ')).then_some(name)
}

/// Whether `line` counts what is above it: `4 tests, 0 benchmarks`, `1 test, 1 benchmark`.
fn is_count(line: &str) -> bool {
    line.starts_with(|first: char| first.is_ascii_digit())
        && (line.ends_with(" benchmarks") || line.ends_with(" benchmark"))
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut build = Reader::default();
    let mut names = Vec::new();
    let mut target = None;
    for line in input.lines() {
        let body = line.trim_ascii_start();
        if let Some(name) = listed(line) {
            names.push(name);
        } else if is_count(line) {
            write(&mut names, &mut target, output);
            output.fact(line);
        } else if body.starts_with("Running ") || body.starts_with("Doc-tests ") {
            build.forget_result();
            build.write(output);
            build = Reader::default();
            target = Some(without_binary(body));
        } else {
            build.line(line, output);
        }
    }
    write(&mut names, &mut target, output);
    build.write(output);
    output.stays_unless_shorter(input.text);
}

/// Writes the target and its names; a name with blanks gets its own row.
fn write(names: &mut Vec<&str>, target: &mut Option<&str>, output: &mut Output) {
    if let Some(target) = target.take() {
        output.fact(target);
    }
    let mut row = String::new();
    let mut lines = 0;
    for name in names.drain(..) {
        let is_full =
            row.len() > ROW_BYTES || name.contains(' ') || row.contains(' ') && lines == 1;
        if is_full && lines > 0 {
            output.summary(&std::mem::take(&mut row), std::mem::take(&mut lines));
        }
        if lines > 0 {
            row.push(' ');
        }
        row.push_str(name);
        lines += 1;
    }
    if lines > 0 {
        output.summary(&row, lines);
    }
}
