//! Single lines of Playwright's reporters.

use crate::line::is_number;
use crate::rows::report::without_time;
use ethos_registry_core::find_text::FindText as _;

/// Marks of tests in the outline, with whether they failed.
const MARKS: [(&str, bool); 6] = [
    ("✘", true),
    ("x ", true),
    ("✓", false),
    ("ok ", false),
    ("- ", false),
    ("°", false),
];
const TOTALS: [&str; 6] = [
    "failed",
    "interrupted",
    "flaky",
    "skipped",
    "did not run",
    "passed",
];

/// Whether a run begins: `Running 24 tests using 2 workers`.
pub(super) fn is_beginning(line: &str) -> bool {
    line.strip_prefix("Running ").is_some_and(|rest| {
        let (tests, workers) = rest.split_once(" using ").unwrap_or_default();
        is_count_of(tests, "test")
            && workers
                .split(',')
                .next()
                .is_some_and(|workers| is_count_of(workers, "worker"))
    })
}

fn is_count_of(text: &str, what: &str) -> bool {
    let (number, word) = text.trim_end().split_once(' ').unwrap_or_default();
    is_number(number) && word.trim_end_matches('s') == what
}

/// The number and the title with which the block of a failed test begins: `  1) [web] › a.ts:3:3 › opens ───`.
pub(super) fn head(line: &str) -> Option<(&str, &str)> {
    let (number, title) = line.strip_prefix("  ")?.trim_start().split_text(") ")?;
    (is_number(number) && title.has_text(" › ")).then(|| (number, unruled(title)))
}

/// `text` without the ruler that fills its line.
pub(super) fn unruled(text: &str) -> &str {
    text.trim_end_matches(['─', '=', ' '])
}

/// What a line of totals counts: `  10 passed (18.3s)`.
pub(super) fn total(line: &str) -> Option<&'static str> {
    let line = line.strip_prefix("  ")?;
    let (number, rest) = line.split_once(' ')?;
    if !is_number(number) {
        return None;
    }
    let outside = || rest.starts_with("error") && rest.has_text(" not a part of any test");
    let word = TOTALS.into_iter().find(|word| {
        rest.strip_prefix(word)
            .is_some_and(|end| end.trim_end().is_empty() || end.starts_with(" ("))
    });
    word.or_else(|| outside().then_some("error"))
}

/// Whether a test of the outline failed, and its title: `✘  3 [web] › a.ts:3:3 › opens (retry #1) (4ms)`.
pub(super) fn outlined(trimmed: &str) -> Option<(bool, &str)> {
    let (mark, failed) = MARKS
        .into_iter()
        .find(|(mark, _)| trimmed.starts_with(mark))?;
    let rest = trimmed.get(mark.len()..)?.trim_start();
    let (number, title) = rest.split_once(' ')?;
    if !is_number(number) || !title.has_text(" › ") {
        return None;
    }
    let title = without_time(title.trim());
    let title = title
        .split_text(" (retry #")
        .map_or(title, |(title, _)| title);
    Some((failed, title.trim_end()))
}

/// Whether a line only states which test runs: `[3/24] [web] › a.ts:3:3 › opens`, `··F×`.
pub(super) fn is_step(trimmed: &str) -> bool {
    let counted = || {
        let (count, rest) = trimmed.strip_prefix('[')?.split_once(']')?;
        let (here, all) = count.split_once('/')?;
        (is_number(here) && is_number(all) && rest.has_text(" › ")).then_some(())
    };
    counted().is_some()
        || trimmed
            .chars()
            .all(|sign| matches!(sign, '·' | '×' | '±' | 'F' | 'T' | '°'))
}
