//! Tests that started and did not finish, because the run was stopped or its output cut.

use hashbrown::HashMap;

use super::frames::LATE;
use super::packages::packages;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::report::{MAX_NAMES, MESSAGE_CHARS};
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

/// How many of them are listed.
const NAMED: usize = 10;
/// How many more of them are listed because they logged something.
const SAYING: usize = 40;
/// How many lines of each are shown.
const LINES: usize = 10;
/// The prefix of the last line of a package that finished.
const ENDS: [&str; 7] = [
    "FAIL",
    "PASS",
    "ok  \t",
    "?   \t",
    "coverage: ",
    "exit status ",
    "DONE ",
];

/// Writes those of `package`, which timed out, unless the output lists them itself.
pub(super) fn write_late(package: &str, output: &mut Output) {
    let before = package
        .split_text(LATE)
        .map_or(package, |(before, _)| before);
    if !package.has_text("\nrunning tests:\n") {
        write_of(before, output);
    }
}

/// Writes those of the last package of `text`.
pub(super) fn write(text: &str, output: &mut Output) {
    let text = packages(text).last().unwrap_or_default();
    let last = text
        .trim_ascii_end()
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    if last.starts_with('{') || ENDS.iter().any(|end| last.starts_with(end)) {
        return;
    }
    write_of(text, output);
}

/// Writes the tests that started in `text` and did not finish.
fn write_of(text: &str, output: &mut Output) {
    let mut begun: Vec<&str> = Vec::new();
    let mut open: HashMap<&str, isize> = HashMap::new();
    // The log lines of unfinished tests.
    let mut said: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut running = "";
    for line in lines(text) {
        if let Some(name) = line.strip_prefix("=== RUN   ") {
            running = name.trim_end();
            if begun.len() < MAX_NAMES {
                begun.push(running);
            }
            *open.entry(running).or_default() += 1;
        } else if let Some(rest) = line.strip_prefix("=== ") {
            running = rest.split_ascii_whitespace().nth(1).unwrap_or_default();
        } else if let Some(verdict) = line.trim_start().strip_prefix("--- ") {
            let name = verdict.split_once(": ").map_or(verdict, |(_, name)| name);
            let name = name.split(" (").next().unwrap_or(name);
            said.remove(name);
            if let Some(times) = open.get_mut(name) {
                *times -= 1;
            }
        } else if line.starts_with("panic: ") {
            // The run itself lists the running tests.
            return;
        } else if !line.trim().is_empty() && (said.len() < SAYING || said.contains_key(running)) {
            let said = said.entry(running).or_default();
            if said.len() < LINES {
                said.push(line);
            }
        }
    }
    begun.retain(|name| open.get(name).is_some_and(|times| *times > 0));
    if begun.is_empty() {
        return;
    }
    output.failed();
    let first = begun.len().saturating_sub(NAMED);
    let mut left_out = 0;
    for (index, name) in begun.iter().enumerate() {
        let said = said.remove(name).unwrap_or_default();
        if index < first && said.is_empty() {
            left_out += 1;
            continue;
        }
        output.gap(std::mem::take(&mut left_out));
        output.fact(&format!("=== RUN   {name}"));
        for line in said {
            output.fact(&shorten(line, MESSAGE_CHARS));
        }
    }
}
