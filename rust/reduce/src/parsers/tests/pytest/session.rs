//! Reads the report of pytest section by section.

use super::cut::begins_in_failure;
use super::entry::entry;
use super::failure::script_place;
use super::line::{is_bare_node, is_benchmark, is_preamble, is_share_of_marks};
use super::native::is_within;
use super::report::{Block, Report};
use super::ruler::{
    Outcome, header, is_failure, is_marks, is_passed, is_share, outcome, title, verdict,
};
use super::stray::{Stray, tells_of_crash};
use super::sugar::{DRAWN_SESSION, is_drawn_row, is_results};
use crate::line::is_bad;
use crate::output::Output;

/// The section of the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// Before, between and after sessions.
    Outside,
    /// Tests run.
    Progress,
    /// Tests run, and the log of one of them is shown.
    LiveLog,
    Failures {
        errors: bool,
    },
    /// Output of tests that passed or failed as expected.
    Passes,
    Warnings,
    Summary,
    Coverage,
    Durations,
    /// The table of a benchmark plugin.
    Benchmark,
    /// The counts of a plugin that draws bars.
    Results,
}

/// A reader of reports.
pub(super) struct Session<'a> {
    text: &'a str,
    section: Section,
    /// The open failure: its name, and the start of its lines.
    open: Option<(&'a str, usize)>,
    /// Whether the open failure has captured output.
    captured: bool,
    /// Whether that output contains the report of another session, which a test ran.
    nested: bool,
    reads_nested: bool,
    report: Report<'a>,
    stray: Stray<'a>,
    sessions: usize,
}

impl<'a> Session<'a> {
    pub(super) fn new(text: &'a str, comparisons: bool, reads_nested: bool) -> Self {
        Self {
            text,
            section: Section::Outside,
            open: None,
            captured: false,
            nested: false,
            reads_nested,
            report: Report::new(comparisons),
            stray: Stray::default(),
            sessions: 0,
        }
    }

    /// Reads all of the text; returns `false` if a session within captured output did not end.
    pub(super) fn read(mut self, output: &mut Output) -> bool {
        let bytes = self.text.as_bytes();
        let mut start = 0;
        if begins_in_failure(self.text) {
            self.section = Section::Failures { errors: false };
            self.open = Some(("", 0));
        }
        while start < bytes.len() {
            let rest = bytes.get(start..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |length| start + length);
            self.line(self.text.get(start..end).unwrap_or_default(), start, output);
            start = end + 1;
        }
        let start = bytes.len();
        if self.nested {
            return false;
        }
        self.close(start);
        self.stray.end_warning();
        self.stray.write_picked(output);
        self.report.write(&mut self.stray.lines, output);
        self.stray.write(output);
        true
    }

    fn line(&mut self, line: &'a str, start: usize, output: &mut Output) {
        let first = line.as_bytes().first().copied().unwrap_or_default();
        if self.nested {
            self.nested = verdict(line).is_none();
            return;
        }
        match first {
            b'=' => {
                if let Some(found) = title(line, '=') {
                    self.section_starts(found, start, output);
                    return;
                }
            }
            b'_' | 0xE2 => {
                if let Some(found) = self.block_header(line) {
                    self.close(start);
                    if !matches!(self.section, Section::Failures { .. } | Section::Passes) {
                        self.section = Section::Failures { errors: false };
                    }
                    self.open = Some((found, start + line.len()));
                    return;
                }
            }
            b'!' => {
                if let Some(found) = title(line, '!') {
                    self.close(start);
                    self.report.interruptions.push(found);
                    return;
                }
            }
            b'0'..=b'9' | b'n' if !self.captured => {
                if let Some(found) = verdict(line) {
                    self.ends(found, start, output);
                    return;
                }
            }
            b'I' if line.starts_with("INTERNALERROR>") => {
                self.report
                    .internal
                    .push(line.get(14..).unwrap_or_default());
                return;
            }
            b'R' if is_results(line) => {
                self.close(start);
                self.section = Section::Results;
                return;
            }
            b'T' if line.starts_with(DRAWN_SESSION) => {
                self.section_starts("test session starts", start, output);
                return;
            }
            b'F' | b'E' | b'S' if self.is_stray_entry(line) => {
                // The ruler of the summary was cut off.
                self.close(start);
                self.section = Section::Summary;
            }
            _ => {}
        }
        if matches!(first, b'-' | b'_') && line.contains(" coverage: platform ") {
            self.close(start);
            self.section = Section::Coverage;
            return;
        }
        if first == b'-' && title(line, '-').is_some_and(is_benchmark) {
            self.close(start);
            self.section = Section::Benchmark;
            return;
        }
        self.content(line, first, start);
    }

    /// A line that does not begin a section.
    fn content(&mut self, line: &'a str, first: u8, start: usize) {
        match self.section {
            Section::Failures { .. } => {
                if first == b'-' && line.starts_with("-----") {
                    self.captured = true;
                } else if self.captured && self.in_line_mode() && script_place(line).is_some() {
                    self.captured = false;
                }
            }
            Section::Passes => {}
            Section::Results => self.result(line, first),
            Section::Warnings => self.report.warned.line(line),
            Section::Summary => self.report.summary_line(line),
            Section::Coverage => self.coverage(line),
            Section::Durations => {
                if line
                    .trim_start()
                    .starts_with(|digit: char| digit.is_ascii_digit())
                {
                    self.report.durations.push(line);
                }
            }
            Section::Benchmark => {
                if !line.starts_with([' ', '-']) && line != "Legend:" && !line.is_empty() {
                    self.report.measured.push(line);
                }
            }
            Section::Progress | Section::LiveLog => self.progress(line, first, start),
            Section::Outside => {
                let is_test = || {
                    let named = line.starts_with("[gw") || is_bare_node(line);
                    named && outcome(line).is_some()
                };
                if first == b'.' && is_marks(line) || is_share_of_marks(line) || is_test() {
                    self.section = Section::Progress;
                    self.progress(line, first, start);
                } else if first == b' ' && self.sessions == 0 && is_within(self.text, start, line) {
                    // Everything before this traceback was cut off.
                    self.section = Section::Failures { errors: false };
                    self.open = Some(("", start.saturating_sub(1)));
                } else if !self.report.collected.take(line, true) {
                    self.stray.outside(line);
                }
            }
        }
    }

    fn section_starts(&mut self, found: &'a str, start: usize, output: &mut Output) {
        self.stray.end_warning();
        if found == "test session starts" && self.reads_nested && self.captured {
            self.nested = true;
            return;
        }
        if let Some(counts) = verdict(found) {
            self.ends(counts, start, output);
            return;
        }
        self.close(start);
        self.section = match found {
            "test session starts" => {
                self.report.write(&mut self.stray.lines, output);
                self.stray.write(output);
                self.sessions += 1;
                Section::Progress
            }
            "FAILURES" => Section::Failures { errors: false },
            "ERRORS" => Section::Failures { errors: true },
            "PASSES" | "XFAILURES" | "XPASSES" => Section::Passes,
            "short test summary info" | "rerun test summary info" => Section::Summary,
            "tests coverage" => Section::Coverage,
            _ if found.starts_with("warnings summary") => Section::Warnings,
            _ if found.starts_with("slowest ") => Section::Durations,
            _ => {
                self.stray.lines.push(found);
                Section::Outside
            }
        };
        if matches!(self.section, Section::Failures { .. }) {
            self.open = Some(("", start));
        }
    }

    fn ends(&mut self, counts: &'a str, start: usize, output: &mut Output) {
        self.stray.end_warning();
        self.close(start);
        self.report.verdict = Some(counts);
        if is_failure(counts) {
            output.failed();
        }
        self.stray.write_picked(output);
        self.report.write(&mut self.stray.lines, output);
        self.section = Section::Outside;
    }

    /// Ends the open failure before the line at `end`.
    fn close(&mut self, end: usize) {
        self.captured = false;
        let Some((name, start)) = self.open.take() else {
            return;
        };
        if self.section == Section::Passes {
            return;
        }
        let body = self.text.get(start..end).unwrap_or_default();
        // The first line is the ruler, unless it was cut off.
        let body = if start > 0 || body.starts_with(['=', '_']) {
            body.split_once('\n').map_or("", |(_, body)| body)
        } else {
            body
        };
        if !body.trim().is_empty() || !name.is_empty() {
            let errors = self.section == Section::Failures { errors: true };
            self.report.blocks.push(Block { name, body, errors });
        }
    }

    fn is_stray_entry(&self, line: &str) -> bool {
        let words = ["FAILED ", "ERROR ", "SUBFAILED"];
        matches!(
            self.section,
            Section::Failures { .. } | Section::Progress | Section::Outside
        ) && words.iter().any(|word| line.starts_with(word))
            && entry(line).is_some_and(|found| found.node.contains(".py::"))
    }

    fn in_line_mode(&self) -> bool {
        self.open.is_some_and(|(name, _)| name.is_empty())
    }

    fn block_header(&self, line: &'a str) -> Option<&'a str> {
        let found = header(line)?;
        let coverage = found.starts_with("coverage: platform ");
        (!coverage && !matches!(self.section, Section::Warnings | Section::Coverage))
            .then_some(found)
    }

    fn progress(&mut self, line: &'a str, first: u8, start: usize) {
        match first {
            0 => return,
            b' ' if is_share(line) => return,
            b'E' if line.starts_with("E   ") => {
                // The middle was cut out: this is a failure without its header.
                self.section = Section::Failures { errors: false };
                self.open = Some(("", start.saturating_sub(1)));
                return;
            }
            b'-' if line.contains(" live log ") => {
                self.section = Section::LiveLog;
                return;
            }
            _ => {}
        }
        if is_passed(line) {
            self.section = Section::Progress;
            self.report.last_progress = Some(line);
            return;
        }
        if is_drawn_row(line) {
            self.report.last_progress = Some(line);
            return;
        }
        if is_marks(line) {
            self.report.last_progress = Some(line);
            let failing = line.rsplit_once(' ').is_some_and(|_| {
                let marks = line.split('[').next().unwrap_or(line).trim_end();
                let marks = marks.rsplit(' ').next().unwrap_or(marks);
                marks.contains(['F', 'E', '⨯', '✗'])
            });
            if failing {
                self.report.failing_progress(line);
            }
            return;
        }
        match outcome(line) {
            Some(Outcome::Failed) => {
                self.section = Section::Progress;
                // The log of a test is between its node id and its result.
                let alone = self
                    .report
                    .last_progress
                    .filter(|last| !line.contains("::") && is_bare_node(last));
                self.report.failing_progress(alone.unwrap_or(line));
                self.report.last_progress = Some(line);
                return;
            }
            Some(Outcome::Other) => {
                self.section = Section::Progress;
                self.report.last_progress = Some(line);
                return;
            }
            None => {}
        }
        if self.section == Section::LiveLog {
            if is_bad(line) {
                self.stray.lines.push(line);
            }
        } else if is_bare_node(line) && !tells_of_crash(line) {
            self.report.last_progress = Some(line);
            self.report.collected.take(line, false);
        } else if self.report.collected.take(line, true) {
            // Shown if nothing ran.
        } else if !is_preamble(line) {
            self.stray.push(line);
        }
    }

    /// A line below `Results (1.20s):`, a count or a failed test: `  - tests/test_a.py:9 test_b`.
    fn result(&mut self, line: &'a str, first: u8) {
        if first == b' ' {
            self.report.results.push(line.trim());
        } else if !line.is_empty() {
            self.section = Section::Outside;
            self.content(line, first, 0);
        }
    }

    fn coverage(&mut self, line: &'a str) {
        let row = line.ends_with('%') || line.contains("% ");
        if row || line.starts_with("TOTAL") || line.starts_with("Name ") {
            self.report.coverage_row(line);
        } else if line.starts_with("FAIL ") || line.contains("overage") {
            self.report.closing.push(line);
        } else {
            self.stray.lines.push(line);
        }
    }
}

#[cfg(test)]
mod tests;
