//! Recognises single lines of `jest`.

use crate::line::beginnings::Beginnings;
use crate::rows::report::{Names, add_title, is_excerpt, javascript_place, without_time};
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

/// Prefixes of lines with expected and received values: they are facts of a failure.
pub(super) static COMPARISONS: Beginnings<7> = Beginnings::new([
    "Expected",
    "Received",
    "Thrown ",
    "Snapshot name: ",
    "Snapshot: ",
    "Number of calls: ",
    "Number of returns: ",
]);
/// Messages with general advice about a failure.
pub(super) static HINTS: Beginnings<10> = Beginnings::new([
    "({\"Object.<anonymous>\"",
    "Details:",
    "Out of the box Jest supports ",
    "https://jestjs.io/",
    "Add a timeout value to this test",
    "By default ",
    "Here's what you can do:",
    "You'll find more details and examples",
    "For information about custom transformations",
    "Jest failed to parse a file",
]);
/// The verdict and the file in the header of a suite: `FAIL src/a.test.js (5.1 s)`.
pub(super) fn suite(line: &str) -> Option<(bool, &str)> {
    let line = line.strip_prefix(' ').unwrap_or(line);
    let (failed, file) = match line.strip_prefix("FAIL ") {
        Some(file) => (true, file),
        None => (false, line.strip_prefix("PASS ")?),
    };
    let file = without_time(file.trim());
    let path = file.rsplit(' ').next().unwrap_or(file);
    (path.contains(['.', '/'])).then_some((failed, file))
}

/// The titles of the blocks, also without their first parts: the outline shows only the last one.
pub(super) fn blocks(text: &str) -> Names<'_> {
    let mut names = Names::default();
    for at in memchr::memmem::find_iter(text.as_bytes(), "\n  ● ") {
        let rest = text.get(at + "\n  ● ".len()..);
        if let Some(title) = rest.and_then(|rest| lines(rest).next()) {
            add_title(&mut names, title.trim(), " › ");
        }
    }
    names
}

/// Whether a line is one of a failure whose title was cut off.
pub(super) fn is_detail(line: &str, trimmed: &str) -> bool {
    line.starts_with("    ")
        && (COMPARISONS.begin(trimmed)
            || is_excerpt(trimmed)
            || trimmed
                .strip_prefix("at ")
                .and_then(javascript_place)
                .is_some())
}

pub(super) fn is_console(trimmed: &str) -> bool {
    trimmed
        .strip_prefix("console.")
        .is_some_and(|method| method.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Whether a line is a frame of a stack: `      at total (src/cart.js:4:9)`.
pub(super) fn is_frame(line: &str, trimmed: &str) -> bool {
    let placed = || {
        let numbered = trimmed.ends_with(|sign: char| sign.is_ascii_digit());
        trimmed.ends_with(')') || numbered && trimmed.contains(':')
    };
    line.starts_with("    ") && trimmed.starts_with("at ") && placed()
}

/// Lines that only frame others.
pub(super) fn is_noise(line: &str) -> bool {
    line.starts_with("Ran all test suites")
        || line.starts_with("Snapshot Summary")
        || line.starts_with("RUNS ")
        || line.starts_with("Determining test suites to run")
        || line.starts_with("Test results written to")
}

/// Whether a line is an error of a compiler: `src/a.ts:1:2 - error TS2304: Cannot find name 'x'.`
pub(super) fn is_typescript(trimmed: &str) -> bool {
    trimmed
        .split_text(" - error TS")
        .is_some_and(|(_, code)| code.starts_with(|sign: char| sign.is_ascii_digit()))
}
