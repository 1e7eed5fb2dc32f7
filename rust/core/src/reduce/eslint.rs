//! The "stylish" list of `eslint` and its kin: a file, then its findings.

mod ruled;

use hashbrown::HashSet;

use super::diagnostics::is_code;
use super::findings::{Finding, Findings, by_message};
use super::input::Input;
use super::line::{indent, shorten};
use super::output::Output;
use super::route::{Family, Marks, Match};

pub(super) const FAMILY: Family = Family {
    name: "eslint",
    runs,
    marks: Marks::OneOf(&[&["| P:"], &["0:0"]]),
    recognises,
    reduce,
};

const MAX_OTHERS: usize = 30;
/// Of so few findings each has its row.
const FEW_FINDINGS: usize = 40;
/// Messages that are told apart before it is known that there are many findings.
const MANY_MESSAGES: usize = 1_000;

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
    )
}

fn recognises(input: &Input<'_>) -> Match {
    let mut header = false;
    if input.beginning().any(ruled::is_row) {
        return Match::Certain;
    }
    for text in input.beginning() {
        if header && row(text).is_some() {
            return Match::Certain;
        }
        header = is_header(text);
    }
    Match::No
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if input.beginning().any(ruled::is_row) {
        return write_ruled(&ruled::read(input), output);
    }
    let grouped = repeats(input);
    let mut findings = Findings::default();
    let mut file: Option<&str> = None;
    let mut others = 0;
    let mut spelled = Vec::new();
    for text in input.lines() {
        if let Some(found) = row(text) {
            output.failed();
            if grouped {
                if let Some(file) = file {
                    spelled.push((file, found));
                }
                continue;
            }
            if let Some(file) = file.take() {
                output.fact(file);
            }
            output.fact(&shorten(&squeezed(text), 240));
        } else if is_header(text) {
            file = Some(text.trim_end().trim_end_matches(':'));
        } else if !text.trim().is_empty() && !text.contains("potentially fixable") {
            others += 1;
            if others <= MAX_OTHERS {
                output.fact(&shorten(text, 240));
            }
        }
    }
    output.gap(others.saturating_sub(MAX_OTHERS));
    if !by_message::are_too_many(spelled.len()) {
        return by_message::write(&spelled, output);
    }
    let told: Vec<(String, String)> = spelled
        .iter()
        .map(|(file, found)| {
            let place = format!("{file}:{}", found.place);
            (place, squeezed(found.message))
        })
        .collect();
    for ((path, _), (place, message)) in spelled.iter().zip(&told) {
        findings.push(Finding {
            place,
            path,
            message,
            whole: "",
        });
    }
    findings.write(false, output);
}

fn write_ruled(ruled: &ruled::Ruled<'_>, output: &mut Output) {
    output.failed();
    if by_message::are_too_many(ruled.found.len()) {
        let places: Vec<String> = ruled
            .found
            .iter()
            .map(|(file, found)| format!("{file} {}", found.place))
            .collect();
        let mut findings = Findings::default();
        for ((_, found), place) in ruled.found.iter().zip(&places) {
            findings.push(Finding { place, ..*found });
        }
        findings.write(false, output);
    } else {
        by_message::write(&ruled.found, output);
    }
    for other in ruled.others.iter().take(MAX_OTHERS) {
        output.fact(&shorten(other, 240));
    }
    output.gap(ruled.others.len().saturating_sub(MAX_OTHERS));
}

/// Whether there are many findings, and a third of them says what others say.
fn repeats(input: &Input<'_>) -> bool {
    let mut messages: HashSet<&str> = HashSet::new();
    let mut findings = 0_usize;
    for found in input.lines().filter_map(row) {
        findings += 1;
        if messages.len() < MANY_MESSAGES {
            messages.insert(found.message);
        }
    }
    by_message::are_too_many(findings)
        || findings > FEW_FINDINGS && messages.len() * 3 <= findings * 2
}

/// A row `  1:27  error  message  rule`: its place in the file, and all that is said.
fn row(text: &str) -> Option<Finding<'_>> {
    if indent(text) == 0 {
        return None;
    }
    let (place, message) = text.trim().split_once(' ')?;
    let (line, column) = place.split_once(':')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let message = message.trim_start();
    let severe = ["error", "warning", "info", "✖", "⚠", "×", "‼"]
        .iter()
        .any(|severity| message.starts_with(severity))
        || message.split(' ').next().is_some_and(is_code);
    (digits(line) && digits(column) && severe).then_some(Finding {
        place,
        path: "",
        message,
        whole: "",
    })
}

/// Whether a line is the path of a file and nothing else.
fn is_header(text: &str) -> bool {
    let text = text.trim_end();
    let text = text.strip_suffix(':').unwrap_or(text);
    indent(text) == 0 && text.contains(['.', '/']) && !text.contains(": ") && !text.ends_with('.')
}

/// `text` with its columns one blank apart.
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
mod tests {
    use super::*;
    use crate::reduce::input::Exit;

    fn reduced(text: &str) -> String {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Failure,
        };
        assert_eq!(recognises(&input), Match::Certain);
        let mut output = Output::default();
        reduce(&input, &mut output);
        output.finish(text.lines().count(), usize::MAX)
    }

    #[test]
    fn findings_stand_below_their_file() {
        let text = "\n/app/a.js\n  1:27  error    Unexpected var        no-var\n  4:3   warning  Expected { after 'if'  curly\n\n\
                    /app/b.js\n  2:1  error  Parsing error: x\n\n✖ 3 problems (2 errors, 1 warning)\n  1 error potentially fixable with the `--fix` option.\n";
        assert_eq!(
            reduced(text),
            "/app/a.js\n1:27 error Unexpected var no-var\n4:3 warning Expected { after 'if' curly\n\
             /app/b.js\n2:1 error Parsing error: x\n✖ 3 problems (2 errors, 1 warning)\n[4 of 10 lines left out]"
        );
    }

    #[test]
    fn many_findings_are_told_by_message() {
        let row = "  7:1  error  Missing semicolon  semi\n";
        let rows = row.repeat(58) + "  9:1  error  Missing semicolon  semi\n";
        let text = format!("src/a.js\n{rows}\n✖ 59 problems (59 errors, 0 warnings)\n");
        let reduced = reduced(&text);
        assert!(
            reduced.contains("error Missing semicolon semi: src/a.js 7:1 7:1"),
            "{reduced}"
        );
    }
}
