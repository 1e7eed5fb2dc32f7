//! Test Anything Protocol: `node --test`, `tape`, `ava --tap`, `bats`, and the reports of `prove`.
//!
//! Of a failed test the title is kept, and what explains it: comments, and in a YAML block the
//! error, the values and the locations.

mod shape;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::{indent, shorten};
use crate::output::{Output, Weight};
use crate::parsers::tests::node_error::NodeError;
use crate::rows::report::{
    MESSAGE_CHARS, Names, is_coverage_row, is_script_line, javascript_place, says, squeezed,
    without_time,
};
use crate::rows::unknown::in_place::UnknownInPlace;
use ethos_registry_core::find_text::FindText as _;
use shape::{
    Point, asks_for_protocol, commented, difference, is_passed_file, is_plan, key_value, opens,
    opens_value,
};

pub(crate) const FAMILY: Family = Family {
    name: "tap",
    runs,
    marks: Marks::OneOf(&[&["\nTAP version 1"], &["0..0"], &["\nFiles="]]),
    recognises,
    reduce,
};

/// How many lines of a multi-line value are shown.
const VALUE_LINES: usize = 2;
const CHANGED_LINES: usize = 4;
const CHANGED_CHARS: usize = 100;
/// How many comments on one failed test are shown.
const COMMENT_LINES: usize = 8;
/// Fields of a failure that are shown; of `stack` and the locations only those in the user's code.
const FIELDS: [&str; 10] = [
    "error", "message", "expected", "actual", "wanted", "found", "diff", "exitcode", "stderr",
    "name",
];
/// Fields with a value that the message may contain.
const VALUES: [&str; 4] = ["expected", "actual", "wanted", "found"];
const PLACE_FIELDS: [&str; 4] = ["at", "location", "stack", "line"];
/// Counts that are left out when they are zero.
const MINOR_COUNTS: [&str; 6] = [
    "# suites ",
    "# cancelled ",
    "# skipped ",
    "# todo ",
    "# skip ",
    "# duration_ms ",
];
/// Counts that close a report.
const COUNTS: [&str; 4] = ["# tests ", "# pass ", "# fail ", "# failed "];

fn runs(input: &Input<'_>) -> bool {
    let programs = ["prove", "bats", "tape", "tap", "ava", "borp"];
    programs.contains(&input.program()) || input.has("--test") || asks_for_protocol(input.words)
}

fn recognises(input: &Input<'_>) -> Match {
    let mut plan = false;
    let mut points = 0;
    for line in input.beginning() {
        if line.starts_with("TAP version 1") {
            return Match::Certain;
        }
        plan |= is_plan(line.trim());
        points += usize::from(Point::read(line.trim()).is_some_and(|point| point.numbered));
    }
    plan |= input.ending().any(|line| is_plan(line.trim()));
    if plan && points > 0 {
        return Match::Certain;
    }
    let mut files = false;
    for line in input.ending() {
        files |= line.starts_with("Files=") && line.contains(", Tests=");
    }
    if files && input.ending().any(|line| line.starts_with("Result: ")) {
        return Match::Certain;
    }
    if points > 0 { Match::Likely } else { Match::No }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut report = Report {
        title: None,
        message: "",
        comments: COMMENT_LINES,
        yaml: None,
        error: NodeError::default(),
        codes: Names::default(),
        commented: commented(input.text),
        summed_up: memchr::memmem::find(input.text.as_bytes(), b"\nTest Summary Report").is_some(),
        in_summary: false,
        last: None,
        unknown: UnknownInPlace::default(),
        output,
    };
    for line in input.lines() {
        report.line(line);
    }
    report.close();
    if let Some(last) = report.last.filter(|_| !report.output.saw_failure()) {
        report.output.context(&shorten(last, MESSAGE_CHARS));
    }
}

/// The block of YAML after a test point.
#[derive(Clone, Copy)]
struct Yaml<'a> {
    /// The indentation of its fields.
    indent: usize,
    field: &'a str,
    lines: usize,
}

struct Report<'a, 'o> {
    /// The title that is not written yet: a suite is not shown for failed tests inside it.
    title: Option<&'a str>,
    /// The message of the failure, once it was shown.
    message: &'a str,
    /// How many comments were shown; none are shown without a failure.
    comments: usize,
    yaml: Option<Yaml<'a>>,
    error: NodeError<'a>,
    codes: Names<'a>,
    /// Titles of failures that a comment shows in more detail.
    commented: Names<'a>,
    /// Whether a summary repeats the result of each file, and whether it has started.
    summed_up: bool,
    in_summary: bool,
    /// The last test that passed, if no counts close the report.
    last: Option<&'a str>,
    unknown: UnknownInPlace,
    output: &'o mut Output,
}

impl<'a> Report<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return;
        }
        if let Some(yaml) = self.yaml {
            if trimmed == "..." && indent(line) <= yaml.indent {
                self.close();
                return;
            }
            if Point::read(trimmed).is_none() || indent(line) > yaml.indent {
                self.field(line, trimmed, yaml);
                return;
            }
        }
        if let Some(point) = Point::read(trimmed) {
            self.close();
            if point.excused && trimmed.starts_with("not ok") {
                self.output.context(trimmed);
            }
            if point.failed {
                self.output.failed();
                let title = trimmed
                    .split_text(" - ")
                    .map_or(trimmed, |(_, title)| title);
                if self.commented.contains(title) {
                    return;
                }
                self.title = Some(trimmed);
                self.message = "";
                self.comments = 0;
            } else {
                self.last = Some(trimmed);
            }
        } else if trimmed == "---" {
            let (indent, field) = (usize::MAX, "");
            self.yaml = Some(Yaml {
                indent,
                field,
                lines: 0,
            });
        } else if let Some(comment) = trimmed.strip_prefix('#') {
            self.comment(trimmed, comment);
        } else {
            self.other(line, trimmed);
        }
    }

    fn close(&mut self) {
        self.head();
        self.error.close(self.output);
        self.yaml = None;
        self.comments = COMMENT_LINES;
    }

    fn head(&mut self) {
        if let Some(title) = self.title.take() {
            let title = title.trim_end_matches([' ', '{']);
            let title = title.split(" # time=").next().unwrap_or(title);
            let title = title.split(" # duration").next().unwrap_or(title);
            self.output
                .summary(&shorten(&squeezed(without_time(title)), MESSAGE_CHARS), 1);
        }
    }

    fn field(&mut self, line: &'a str, trimmed: &'a str, yaml: Yaml<'a>) {
        let depth = indent(line);
        let first = yaml.indent == usize::MAX;
        let key = key_value(trimmed);
        let Some((key, value)) = key.filter(|_| first || depth <= yaml.indent) else {
            self.value(trimmed, yaml);
            return;
        };
        let indent = if first { depth } else { yaml.indent };
        self.yaml = Some(Yaml {
            indent,
            field: key,
            lines: 0,
        });
        let value = value.trim();
        if value.contains("subtestsFailed") || key == "location" && self.title.is_none() {
            // The location of a suite is not useful.
            self.error = NodeError::default();
        } else if PLACE_FIELDS.contains(&key) {
            self.place(value);
        } else if key == "name" || value.is_empty() || opens_value(value) {
            // The lines that follow, or the message, show what it is.
        } else if key == "code" {
            if !value.contains("ERR_ASSERTION") && self.codes.insert(value) {
                self.output.fact(trimmed);
            }
        } else if FIELDS.contains(&key) {
            if key == "message" || key == "error" {
                self.message = value;
            } else if VALUES.contains(&key) && (says(self.message, value) || opens(value)) {
                return;
            }
            self.head();
            self.output
                .fact(&shorten(&squeezed(trimmed), MESSAGE_CHARS));
        }
    }

    /// Reads a line of a multi-line value.
    fn value(&mut self, trimmed: &'a str, yaml: Yaml<'a>) {
        if PLACE_FIELDS.contains(&yaml.field) {
            self.place(trimmed);
            return;
        }
        let nested = key_value(trimmed).map(|(key, _)| key);
        if nested.is_some_and(|key| PLACE_FIELDS.contains(&key)) {
            self.place(trimmed);
        } else if nested == Some("name") {
            // The message contains more.
        } else if yaml.field == "error" || yaml.field == "message" {
            self.head();
            let text = match key_value(trimmed) {
                Some(("message", message)) => {
                    self.message = message.trim_start();
                    self.message
                }
                _ => trimmed,
            };
            self.error.line(text, self.output);
        } else if matches!(yaml.field, "diff" | "values") {
            if let Some(line) = difference(trimmed).filter(|_| yaml.lines < CHANGED_LINES) {
                self.yaml = Some(Yaml {
                    lines: yaml.lines + 1,
                    ..yaml
                });
                self.head();
                self.output.compared(&line, CHANGED_CHARS, Weight::Context);
            }
        } else if FIELDS.contains(&yaml.field) && yaml.lines < VALUE_LINES && !self.error.is_open()
        {
            self.yaml = Some(Yaml {
                lines: yaml.lines + 1,
                ..yaml
            });
            self.head();
            let row = if yaml.lines == 0 {
                format!("{}: {trimmed}", yaml.field)
            } else {
                trimmed.to_owned()
            };
            self.output.summary(&shorten(&row, MESSAGE_CHARS), 1);
        }
    }

    fn place(&mut self, text: &str) {
        if self.title.is_some() || !self.output.is_empty() {
            let text = text.trim_matches(['"', '\'']);
            if let Some(place) = javascript_place(text) {
                self.error.place(place);
            }
        }
    }

    fn comment(&mut self, trimmed: &'a str, comment: &'a str) {
        let repeat = comment.starts_with(" Looks like you failed ") && self.summed_up;
        if comment.starts_with(" Subtest: ") || repeat {
            return;
        }
        // Every count begins with one of these letters.
        let word = comment.trim_ascii_start().as_bytes().first();
        let may_count = matches!(word, Some(b't' | b'p' | b'f' | b's' | b'c' | b'd'));
        let row = may_count.then(|| squeezed(trimmed)).filter(|row| {
            let mut starts = COUNTS.iter().chain(&MINOR_COUNTS);
            starts.any(|start| row.starts_with(start))
        });
        if let Some(squeezed) = row {
            self.close();
            self.last = None;
            let minor = MINOR_COUNTS.iter().any(|start| squeezed.starts_with(start));
            if !minor || !(squeezed.ends_with(" 0") || squeezed.starts_with("# duration")) {
                if squeezed.starts_with("# fail") && !squeezed.ends_with(" 0") {
                    self.output.failed();
                }
                self.output.fact(&squeezed);
            }
        } else if comment.trim_start().starts_with("Failed test") {
            self.head();
            self.comments = 1;
            self.output.failed();
            self.output.fact(&squeezed(trimmed));
        } else if is_coverage_row(comment) {
            self.output.fact(comment.trim_end());
        } else if self.comments < COMMENT_LINES {
            self.comments += 1;
            self.head();
            self.output
                .fact(&shorten(&squeezed(trimmed), MESSAGE_CHARS));
        } else if !trimmed.trim_matches(['#', ' ']).is_empty() && !comment.starts_with("  ") {
            self.other_comment(trimmed);
        }
    }

    /// Reads a comment that belongs to no failure: titles of `tape`, notes of `prove`.
    fn other_comment(&mut self, trimmed: &str) {
        if crate::line::is_bad(trimmed) {
            self.unknown.show(trimmed, self.output);
        }
    }

    fn other(&mut self, line: &'a str, trimmed: &'a str) {
        if is_plan(trimmed)
            || trimmed.starts_with("TAP version ")
            || trimmed == "}"
            || is_script_line(line)
        {
            return;
        }
        let verdict = [
            "Result: ",
            "Files=",
            "Bail out!",
            "Failed ",
            "Dubious, ",
            "Test Summary Report",
        ];
        if let Some(start) = verdict.iter().find(|start| trimmed.starts_with(*start)) {
            self.close();
            let repeated = ["Dubious, ", "Failed "].contains(start) && trimmed != *start;
            if *start == "Test Summary Report" || repeated && self.summed_up && !self.in_summary {
                self.in_summary |= *start == "Test Summary Report";
                self.output.failed();
                return;
            }
            if trimmed != "Result: PASS" && *start != "Files=" {
                self.output.failed();
            }
            let short = if *start == "Files=" {
                trimmed.split(" (").next().unwrap_or(trimmed)
            } else {
                trimmed
            };
            self.output.fact(&squeezed(short));
        } else if is_passed_file(trimmed)
            || self.in_summary && trimmed.starts_with("Non-zero exit status: ")
        {
            self.close();
        } else if let Some((module, path)) = trimmed.split_text(" (you may need to install the ") {
            // Perl lists every folder that it searched for a module.
            let place = path.rsplit_text(") ").map_or("", |(_, place)| place);
            self.output.summary(&format!("{module} {place}"), 1);
        } else if line.starts_with(' ') && (self.title.is_some() || self.error.is_open()) {
            self.head();
            self.error.line(trimmed, self.output);
        } else {
            self.unknown.show(line, self.output);
        }
    }
}

#[cfg(test)]
mod tests;
