//! The kept parts of one session, and how they are written.

use super::captured::Captured;
use super::collected::Collected;
use super::entry::{Entry, entry};
use super::failure::{Wanted, script_place};
use super::group::Groups;
use super::native;
use super::ruler::{is_collection, is_failure};
use super::warned::Warned;
use crate::line::shorten;
use crate::output::Output;
use crate::parsers::logs::traceback::Folder;
use crate::rows::report::squeezed;
use crate::rows::unknown::Unknown;
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

const LINE_CHARS: usize = 300;
pub(super) const WARNING_CHARS: usize = 160;
/// The longest text that is shown after the message of an internal error of pytest.
const INTERNAL_CHARS: usize = 150;
/// How many failing lines are remembered.
const KINDS: usize = 4_096;
/// Rows of coverage and durations that stay, and rows of skipped tests.
const ROWS: usize = 200;
const SKIPS: usize = 60;
/// From this many failures on, fewer lines that explain a message are shown.
const FEW_FAILURES: usize = 13;
const SOME_FAILURES: usize = 41;
const EXPLAINING_OF_FEW: usize = 4;
/// Lines of output captured in line mode.
const CAPTURED: usize = 10;

/// One failure as it is in the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    /// Its header; empty for lines without a header.
    pub(super) name: &'a str,
    /// The lines under the header.
    pub(super) body: &'a str,
    /// Whether it is an error, not a failure.
    pub(super) errors: bool,
}

/// The kept parts of a session.
#[derive(Debug, Default)]
pub(super) struct Report<'a> {
    comparisons: bool,
    pub(super) blocks: Vec<Block<'a>>,
    entries: Vec<Entry<'a>>,
    has_summary: bool,
    skips: Vec<&'a str>,
    failing_progress: Vec<&'a str>,
    pub(super) last_progress: Option<&'a str>,
    pub(super) interruptions: Vec<&'a str>,
    pub(super) internal: Vec<&'a str>,
    pub(super) durations: Vec<&'a str>,
    /// Rows of measured tests.
    pub(super) measured: Vec<&'a str>,
    /// Messages of plugins at the end, such as required coverage that was not reached.
    pub(super) closing: Vec<&'a str>,
    coverage: Vec<&'a str>,
    pub(super) warned: Warned<'a>,
    /// The counts that a plugin prints one per line, with the failed tests.
    pub(super) results: Vec<&'a str>,
    pub(super) verdict: Option<&'a str>,
    pub(super) collected: Collected<'a>,
}

impl<'a> Report<'a> {
    pub(super) fn new(comparisons: bool) -> Self {
        Self {
            comparisons,
            ..Self::default()
        }
    }

    /// A line that reports that a test failed, while tests run.
    pub(super) fn failing_progress(&mut self, line: &'a str) {
        if self.failing_progress.len() < KINDS {
            self.failing_progress.push(line);
        }
    }

    pub(super) fn coverage_row(&mut self, line: &'a str) {
        if self.coverage.len() < ROWS || !line.contains(" 100%") {
            self.coverage.push(line);
        }
    }

    /// Reads a line of the short summary; lines below an entry repeat its failure.
    pub(super) fn summary_line(&mut self, line: &'a str) {
        self.has_summary = true;
        let skip = ["SKIPPED ", "XFAIL ", "XPASS "];
        if skip.iter().any(|word| line.starts_with(word)) {
            if self.skips.len() < SKIPS {
                self.skips.push(line);
            }
        } else if line.starts_with("FAIL ") || line.starts_with("ERROR:") {
            self.closing.push(line);
        } else if let Some(found) = entry(line) {
            self.entries.push(found);
        }
    }

    /// Writes the session, and clears it.
    pub(super) fn write(&mut self, unknown: &mut Unknown<'a>, output: &mut Output) {
        let mut report = std::mem::replace(self, Self::new(self.comparisons));
        let only_collected = report.verdict.is_some_and(is_collection);
        if !only_collected {
            report.collected.give_back(unknown);
        }
        unknown.write(output);
        if only_collected {
            report.collected.write(output);
        }
        report.write_internal(output);
        report.write_failures(output);
        for line in &report.skips {
            output.context(&shorten(line, WARNING_CHARS));
        }
        report.warned.write(output);
        let durations = report.durations.iter().take(ROWS);
        for line in report.coverage.iter().chain(durations) {
            output.fact(&shorten(line.trim_end(), LINE_CHARS));
        }
        for line in report.measured.iter().take(ROWS) {
            output.fact(&shorten(&squeezed(line), LINE_CHARS));
        }
        for line in &report.closing {
            output.fact(line);
            if line.starts_with("FAIL ") || line.starts_with("ERROR") {
                output.failed();
            }
        }
        for line in &report.interruptions {
            output.fact(line);
            output.failed();
        }
        for line in &report.results {
            let named = line.starts_with("- ");
            if is_failure(&format!(" {line}")) {
                output.failed();
            }
            // The summary contains it.
            if !named || report.entries.is_empty() {
                output.fact(&shorten(line, LINE_CHARS));
            }
        }
        let last = report.last_progress.filter(|_| report.results.is_empty());
        if let Some(line) = report.verdict.or(last) {
            output.fact(&shorten(line, LINE_CHARS));
        }
    }

    /// An error of pytest itself.
    fn write_internal(&self, output: &mut Output) {
        if self.internal.is_empty() {
            return;
        }
        output.failed();
        output.fact("INTERNALERROR>");
        let mut folder = Folder::default();
        let mut said = "";
        let mut keep = |line: &'a str| {
            said = line;
            output.fact(&shorten(line, LINE_CHARS));
        };
        for line in &self.internal {
            // The error of a worker is shown like a message.
            folder.line(line.strip_prefix(" E   ").unwrap_or(line), &mut keep);
        }
        folder.finish(&mut keep);
        let last = self.internal.iter().rfind(|line| !line.trim().is_empty());
        if let Some(last) = last.filter(|last| last.trim() != said) {
            output.fact(&shorten(last.trim(), INTERNAL_CHARS));
        }
    }

    fn write_failures(&self, output: &mut Output) {
        let from_progress: Vec<Entry<'a>>;
        let entries = if self.has_summary {
            &self.entries
        } else {
            from_progress = self
                .failing_progress
                .iter()
                .filter_map(|line| in_progress(line))
                .collect();
            &from_progress
        };
        let usual = match self.blocks.len() {
            _ if self.comparisons => Wanted::Comparisons,
            SOME_FAILURES.. => Wanted::Some(1),
            FEW_FAILURES.. => Wanted::Some(2),
            _ => Wanted::Some(EXPLAINING_OF_FEW),
        };
        let mut groups = Groups::default();
        for block in &self.blocks {
            if block.name.is_empty() {
                write_lines(block.body, output);
            } else {
                let wanted = if block.name.starts_with("ERROR collecting") {
                    Wanted::All
                } else {
                    usual
                };
                groups.add(*block, wanted, entries);
            }
        }
        let written = groups.write(entries, output);
        for (entry, written) in entries.iter().zip(written) {
            if !written {
                output.fact(&shorten(entry.line, LINE_CHARS));
            }
        }
        let no_names = entries.is_empty() && groups.is_empty();
        for line in self.failing_progress.iter().filter(|_| no_names) {
            // If the failures are shown, test marks without a file name are not needed.
            if self.blocks.is_empty() || line.contains(".py") {
                output.fact(line.trim_end());
            }
        }
        if !entries.is_empty() || !self.blocks.is_empty() || !self.failing_progress.is_empty() {
            output.failed();
        }
    }
}

/// The entry that `line`, printed when a test had failed, makes: `tests/a.py::test_b FAILED`.
///
/// Where several processes run the tests the outcome comes first: `[gw0] [ 12%] FAILED tests/a.py::test_b`.
fn in_progress(line: &str) -> Option<Entry<'_>> {
    if line.starts_with("[gw") {
        let start = line
            .split_text("] ")
            .map_or(0, |(before, _)| before.len() + 2);
        let line = line.get(start..)?.trim_end();
        let line = line.split_text("] ").map_or(line, |(_, rest)| rest);
        let (_, node) = line.split_once(' ')?;
        return node.contains("::").then_some(Entry {
            head: line,
            node,
            line,
        });
    }
    let end = line
        .find_text(" FAILED")
        .or_else(|| line.find_text(" ERROR"));
    let node = line.get(..end.unwrap_or(line.len()))?.trim_end();
    let Some(end) = end.filter(|_| node.contains("::")) else {
        return node.contains("::").then_some(Entry {
            head: node,
            node,
            line: node,
        });
    };
    let word_end = line
        .get(end + 1..)?
        .find(' ')
        .map_or(line.len(), |at| end + 1 + at);
    let head = line.get(..word_end)?;
    Some(Entry {
        head,
        node,
        line: head,
    })
}

/// Writes failures without a header: `--tb=line`, or the rest of a failure whose middle was cut out.
///
/// A location with its message is kept; a message that such a line repeats is not.
fn write_lines(body: &str, output: &mut Output) {
    let mut messages: Vec<&str> = Vec::new();
    let mut captured: Option<Captured<'_>> = None;
    let mut shown = 0;
    let mut last: Option<(&str, usize)> = None;
    let mut printed = |captured: Option<Captured<'_>>, output: &mut Output| {
        for line in captured.map(Captured::finish).unwrap_or_default() {
            shown += 1;
            if shown <= CAPTURED {
                output.context(&shorten(line, WARNING_CHARS));
            }
        }
    };
    for line in lines(body) {
        if line.starts_with("-----") {
            // The output of a test is above its own location, and below that of the previous test.
            write_times(last.take(), output);
            let captured = captured.get_or_insert_with(|| Captured::new(true));
            captured.section(line);
        } else if let Some(place) = script_place(line) {
            printed(captured.take(), output);
            let repeated = messages
                .first()
                .is_some_and(|first| place.rest.starts_with(first));
            if let Some((_, times)) = last.as_mut().filter(|(known, _)| *known == line) {
                *times += 1;
                messages.clear();
                continue;
            }
            write_times(last.replace((line, 1)), output);
            for message in messages.drain(..).filter(|_| !repeated) {
                output.fact(&shorten(message, WARNING_CHARS));
            }
        } else if let Some(captured) = &mut captured {
            captured.line(line);
        } else if let Some(message) = line.strip_prefix("E  ")
            && messages.len() < CAPTURED
        {
            messages.push(message.trim());
        }
    }
    printed(captured, output);
    if last.is_none() && messages.is_empty() && body.find_text("  File \"").is_some() {
        messages = native::kept(body);
    }
    write_times(last, output);
    for message in messages {
        output.fact(&shorten(message, WARNING_CHARS));
    }
}

/// Writes a line, and how often it occurred.
fn write_times(line: Option<(&str, usize)>, output: &mut Output) {
    let Some((line, times)) = line else {
        return;
    };
    let line = shorten(line, LINE_CHARS);
    if times > 1 {
        output.summary(&format!("{line} \u{d7}{times}"), times);
    } else {
        output.fact(&line);
    }
}
