//! The "stylish" format of `eslint` and similar tools: a file, then its findings.

mod php;
mod ruled;
mod table;

use hashbrown::HashSet;

use crate::family::{Family, Marks, Match};
use crate::input::{Exit, Input};
use crate::line::beginnings::Beginnings;
use crate::line::{indent, shorten};
use crate::nested;
use crate::output::Output;
use crate::parsers::findings::diagnostics::finding;
use crate::parsers::findings::finding::is_code;
use crate::parsers::findings::finding::{Finding, Findings, by_message};
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "eslint",
    runs,
    marks: Marks::OneOf(&[
        &["| P:"],
        &["0:0"],
        &[": line 0", ", col 0"],
        &["0 | ERROR"],
        &["0 | WARNING"],
        &["\n  Line   "],
    ]),
    recognises,
    reduce,
};

/// Prefixes of a message after a location.
static SEVERITIES: Beginnings<9> = Beginnings::new([
    "error", "warning", "info", "Error", "Warning", "✖", "⚠", "×", "‼",
]);
const MAX_OTHERS: usize = 30;
/// How many findings in another form are kept.
const FORMER_FINDINGS: usize = 300;
const OTHER_CHARS: usize = 240;
const MAX_ENDS: usize = 4;
/// Up to this many findings are shown in rows of their own.
const FEW_FINDINGS: usize = 40;
/// Of more findings that have a code and no severity, a sample is shown.
const MANY_REMARKS: usize = 150;
/// With so few findings, repeated messages do not matter.
const VERY_FEW_FINDINGS: usize = 12;

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "eslint"
            | "eslint_d"
            | "stylelint"
            | "standard"
            | "xo"
            | "yamllint"
            | "textlint"
            | "remark"
            | "ruff"
            | "sqlfluff"
            | "phpcs"
            | "phpstan"
    )
}

fn recognises(input: &Input<'_>) -> Match {
    let mut header = false;
    if input.beginning().any(ruled::is_row) || php::holds(input) {
        return Match::Certain;
    }
    let mut worded = 0;
    for text in input.beginning() {
        worded += usize::from(worded_row(text).is_some());
        if worded == 2 || header && row(text).is_some() {
            return Match::Certain;
        }
        header = is_header(text);
    }
    Match::No
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let target = input.target_chars();
    if input.beginning().any(ruled::is_row) {
        return ruled::read(input).write(target, output);
    }
    if php::holds(input) {
        return php::read(input).write(target, output);
    }
    let (input, behind) = divided(input);
    let input = &input;
    let mut listed = Listed::default();
    let mut others: Vec<(usize, &str)> = Vec::new();
    let mut skipped = 0;
    let mut file = "";
    for text in input.lines() {
        // A multi-line message is equal for all of its findings.
        if !text.starts_with(' ') && others.iter().any(|(_, known)| *known == text) {
            skipped += usize::from(!text.is_empty());
            continue;
        }
        if let Some(found) = row(text) {
            listed.push(file, found);
        } else if let Some(found) = worded_row(text) {
            listed.push(found.path, found);
        } else if is_header(text) {
            file = text.trim_end().trim_end_matches(':');
        } else if !text.trimmed().is_empty() && !is_advice(text) {
            // The list in another format, before or after it, is equivalent.
            let is_listed = || others.len() < FORMER_FINDINGS && finding(text).is_some();
            if others.len() < MAX_OTHERS || is_listed() {
                others.push((listed.first.len(), text));
            } else {
                skipped += 1;
            }
        }
    }
    if listed.repeats() {
        listed.write(target, output);
        for (_, other) in &others {
            output.fact(&shorten(other, OTHER_CHARS));
        }
    } else {
        listed.write_below_files(&others, output);
    }
    let ends = totals(input, &others);
    output.gap(skipped.saturating_sub(ends.len()));
    for end in ends.into_iter().rev() {
        output.fact(&shorten(end, OTHER_CHARS));
    }
    nested::other(behind, &FAMILY, output);
}

/// `input` up to the last finding, and what follows a blank line below it if that is more than totals: the output of
/// another program.
fn divided<'a>(input: &Input<'a>) -> (Input<'a>, Option<Input<'a>>) {
    let mut lines = input.lines();
    let mut end = input.text.len();
    let mut goes_on = false;
    while let Some(text) = lines.next() {
        if row(text).is_some() || worded_row(text).is_some() {
            goes_on = true;
            end = input.text.len();
        } else if goes_on && text.is_empty() {
            goes_on = false;
            end -= lines.unread_bytes();
        }
    }
    let of = |text: &'a str, exit| Input {
        text,
        words: input.words,
        exit,
    };
    match input.text.split_at_checked(end) {
        Some((found, behind))
            if ethos_registry_core::lines::lines(behind)
                .nth(MAX_OTHERS)
                .is_some() =>
        {
            (
                of(found, input.exit),
                Some(Input {
                    words: &[],
                    ..of(behind, Exit::Unknown)
                }),
            )
        }
        _ => (of(input.text, input.exit), None),
    }
}

/// The last lines that are not findings, which contain the totals, if `others` is full without them.
fn totals<'a>(input: &Input<'a>, others: &[(usize, &str)]) -> Vec<&'a str> {
    if others.len() < MAX_OTHERS {
        return Vec::new();
    }
    let is_other = |text: &&str| {
        let known = others.iter().any(|(_, known)| known == text);
        !(known || text.trim().is_empty() || is_advice(text))
    };
    let is_found = |text: &str| row(text).is_some() || worded_row(text).is_some();
    let ends = input.ending().take_while(|text| !is_found(text));
    ends.filter(is_other).take(MAX_ENDS).collect()
}

/// Findings below their files.
#[derive(Debug, Default)]
struct Listed<'a> {
    /// The findings that can be shown individually.
    first: Vec<(&'a str, Finding<'a>)>,
    all: Findings<'a>,
    /// Whether one of them reports how severe it is.
    is_graded: bool,
}

impl<'a> Listed<'a> {
    fn push(&mut self, file: &'a str, found: Finding<'a>) {
        let found = Finding {
            path: file,
            ..found
        };
        self.is_graded = self.is_graded || SEVERITIES.begin(found.message);
        if !by_message::are_too_many(self.first.len()) {
            self.first.push((file, found));
        }
        self.all.push(found);
    }

    /// Whether there are too many to show each location.
    fn are_too_many(&self) -> bool {
        let findings = self.first.len();
        by_message::are_too_many(findings) || findings > MANY_REMARKS && !self.is_graded
    }

    /// Whether there are many findings and a third of them repeat others. With fewer findings, two thirds must be
    /// repeats, or a third if most files have one finding.
    fn repeats(&self) -> bool {
        let messages = self.first.iter().map(|(_, found)| found.message);
        let messages: HashSet<u64> = messages.map(by_message::without_padding).collect();
        let findings = self.first.len();
        self.are_too_many()
            || findings > FEW_FINDINGS && messages.len() * 3 <= findings * 2
            || findings > VERY_FEW_FINDINGS && messages.len() * 3 <= findings
            || findings > VERY_FEW_FINDINGS
                && messages.len() * 3 <= findings * 2
                && self.files() * 2 >= findings
    }

    /// How often the file changes.
    fn files(&self) -> usize {
        self.first
            .chunk_by(|(one, _), (other, _)| one == other)
            .count()
    }

    fn write(&mut self, target_chars: usize, output: &mut Output) {
        output.failed();
        if self.are_too_many() {
            self.all.write(target_chars, output);
        } else {
            by_message::write(&self.first, false, output);
        }
    }

    /// Writes one row per finding; the other lines stay in place.
    fn write_below_files(&self, others: &[(usize, &str)], output: &mut Output) {
        let mut others = others.iter().peekable();
        let mut told = None;
        for (at, (file, found)) in self.first.iter().enumerate() {
            while let Some((_, other)) = others.next_if(|(before, _)| *before <= at) {
                output.fact(&shorten(other, OTHER_CHARS));
            }
            output.failed();
            if told != Some(file) {
                output.fact(file);
                told = Some(file);
            }
            let row = format!("{} {}", found.place, squeezed(found.message));
            output.fact(&shorten(&row, OTHER_CHARS));
        }
        for (_, other) in others {
            output.fact(&shorten(other, OTHER_CHARS));
        }
    }
}

/// A row `  1:27  error  message  rule`: its location in the file and its message.
fn row(text: &str) -> Option<Finding<'_>> {
    let depth = indent(text);
    let body = text.get(depth..).filter(|_| depth > 0)?;
    let digits = |from: usize| {
        let rest = body.as_bytes().get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let line = digits(0);
    let column = digits(line + 1);
    let (place, message) = body.split_at_checked(line + 1 + column)?;
    let is_place = line > 0 && column > 0 && place.as_bytes().get(line) == Some(&b':');
    if !(is_place && message.starts_with(' ')) {
        return None;
    }
    let message = message.trimmed();
    let severe = SEVERITIES.begin(message) || message.split(' ').next().is_some_and(is_code);
    severe.then_some(Finding {
        place,
        path: "",
        message,
        whole: "",
    })
}

/// A row `path: line 1, col 27, Error - message (rule)`.
fn worded_row(text: &str) -> Option<Finding<'_>> {
    let (path, rest) = text.split_text(": line ")?;
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (line, column) = rest.split_at_checked(digits(rest))?;
    let (column, message) = column
        .strip_prefix(", col ")
        .and_then(|column| column.split_at_checked(digits(column)))?;
    let message = message.strip_prefix(", ")?;
    let place_start = path.len() + ": ".len();
    let place_end = place_start + "line , col ".len() + line.len() + column.len();
    let named = !path.contains(' ') && !line.is_empty() && !column.is_empty();
    named.then_some(Finding {
        place: text.get(place_start..place_end)?,
        path,
        message,
        whole: "",
    })
}

/// Whether a line is advice of eslint or of the program that runs it.
fn is_advice(text: &str) -> bool {
    text.has_text("potentially fixable") || text.starts_with("(Use `node --trace-")
}

/// Whether a line is the path of a file and nothing else.
fn is_header(text: &str) -> bool {
    let text = text.trim_end();
    let text = text.strip_suffix(':').unwrap_or(text);
    // A message may continue without indentation, and end with the name of its rule: `- Use it.  @types/ban`.
    let one_word = !text.contains(' ');
    let rooted = || text.starts_with(['/', '.']) || text.get(1..3) == Some(":\\");
    indent(text) == 0
        && text.contains(['.', '/'])
        && (one_word || rooted())
        && !text.contains(": ")
        && !text.ends_with('.')
}

/// `text` with one blank between its columns.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    for part in text.trim().split("  ").filter(|part| !part.is_empty()) {
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(part.trim());
    }
    squeezed
}

#[cfg(test)]
mod tests;
