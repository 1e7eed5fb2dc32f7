//! Recognises single lines of `vitest`.

use crate::line::beginnings::Beginnings;
use crate::rows::report::{Names, add_title, javascript_place};
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

/// The last messages of a block about uncaught errors.
pub(super) const ORIGINS: [&str; 3] = [
    "This error originated in ",
    "The latest test that might've caused the error is ",
    "This error was caught after test environment was torn down",
];
/// Messages with general advice about a failure.
pub(super) static HINTS: Beginnings<5> = Beginnings::new([
    "- The error was thrown, while Vitest was running this test",
    "- If the error occurred after the test had been completed",
    "If this is a long-running test",
    "If this is a long-running hook",
    "This might cause false positive tests",
]);
/// Whether `line` is the first one of a run: ` RUN  v1.6.0 /srv/shop`.
pub(super) fn begins_run(line: &str) -> bool {
    let version = line
        .strip_prefix(" RUN  v")
        .or_else(|| line.strip_prefix(" DEV  v"));
    version.is_some_and(|version| version.starts_with(|sign: char| sign.is_ascii_digit()))
}

/// Prefixes of totals; two blanks follow.
const TOTALS: [&str; 6] = [
    "Test Files",
    "Tests",
    "Snapshots",
    "Errors",
    "Type Errors",
    "Duration",
];

/// The label and the rest of a line of totals.
pub(super) fn total(line: &str) -> Option<(&'static str, &str)> {
    let trimmed = line.strip_prefix(' ')?.trim_ascii_start();
    if !matches!(trimmed.as_bytes().first(), Some(b'T' | b'S' | b'E' | b'D')) {
        return None;
    }
    let label = TOTALS.iter().find(|label| trimmed.starts_with(*label))?;
    let value = trimmed.strip_prefix(label)?.strip_prefix("  ")?;
    let counts = value.starts_with(|sign: char| sign.is_ascii_digit()) || value.starts_with("no ");
    counts.then_some((*label, value))
}

/// The subjects of failure blocks: their titles, also without their first parts, and the files.
pub(super) fn blocks(text: &str) -> Names<'_> {
    let mut names = Names::default();
    for at in memchr::memmem::find_iter(text.as_bytes(), b" FAIL  ") {
        let from_start = text
            .get(..at)
            .is_some_and(|before| before.is_empty() || before.ends_with('\n'));
        let line = text.get(at..).and_then(|rest| lines(rest).next());
        let Some(title) = line.filter(|_| from_start).and_then(fail_title) else {
            continue;
        };
        let file = title.split(" > ").next().unwrap_or(title);
        let file = file.split(" [ ").next().unwrap_or(file);
        names.insert(file);
        add_title(&mut names, title, " > ");
    }
    names
}

/// The title in a line that opens a block: `FAIL  [|project|] file > suite > test`.
fn fail_title(line: &str) -> Option<&str> {
    let title = line.strip_prefix(" FAIL  ")?.trim();
    Some(without_project(title))
}

pub(super) fn without_project(title: &str) -> &str {
    let inside = title
        .strip_prefix('|')
        .and_then(|rest| rest.split_text("| "));
    inside.map_or(title, |(_, title)| title.trim_start())
}

/// Whether a line is an error: `TypeError: …`, `Caused by: …`, `Serialized Error: …`.
pub(super) fn is_error(trimmed: &str) -> bool {
    let Some((name, _)) = trimmed.split_text(": ") else {
        return false;
    };
    name == "Caused by" || (name.ends_with("Error") && name.len() < 60)
}

/// Whether an older version shows a failed test below its file: `   ❯ a.test.ts > suite > test`.
pub(super) fn is_failed_row(line: &str, title: &str) -> bool {
    line.starts_with("   ") && title.has_text(" > ") && javascript_place(title).is_none()
}

/// Whether `trimmed` shows counts while tests run: one blank follows their label.
fn is_interim(trimmed: &str) -> bool {
    const LABELS: [&str; 4] = ["Test Files ", "Tests ", "Start at ", "Duration "];
    let mut values = LABELS
        .iter()
        .filter_map(|label| trimmed.strip_prefix(label));
    values.any(|value| value.starts_with(|first: char| first.is_ascii_digit()))
}

/// Lines about the setup or the start of the run; if it was `counted`, also the counts before its end.
pub(super) fn is_noise(line: &str, trimmed: &str, counted: bool) -> bool {
    line.starts_with(" RUN  v")
        || line.starts_with(" DEV  v")
        || trimmed.starts_with("Start at  ")
        || trimmed.starts_with("% Coverage report from ")
        || trimmed.starts_with("Coverage enabled with ")
        || counted && line.starts_with(' ') && is_interim(trimmed)
}

/// Whether a line of a message consists of brackets.
pub(super) fn is_bracket(trimmed: &str) -> bool {
    trimmed.bytes().all(|sign| b"[]{}(),;\"'`".contains(&sign))
}
