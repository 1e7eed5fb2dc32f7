//! Lists of findings with locations: `path:line:column: message` in its many variants.

mod block;
mod forms;
mod reader;

use crate::line::annotation::Annotation;
use crate::parsers::findings::finding::is_code;
pub(crate) use block::is_asked_for;
pub(crate) use forms::{bare_place, finding, is_caret, is_excerpt};

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::frame::is_goroutine;
use crate::line::{indent, is_number, is_play};
use crate::output::{Output, Weight};
use crate::parsers::findings::finding::Finding;
use forms::{arrow, is_judged, pointed};
use reader::Reader;

pub(crate) const FAMILY: Family = Family {
    name: "diagnostics",
    runs,
    marks: Marks::OneOf(&[
        &[":0"],
        &["(0"],
        &["ould reformat"],
        &["\nDiff in "],
        &["^ "],
        &["^-"],
        &["\n::"],
    ]),
    recognises,
    reduce,
};

const PROGRAMS: [&str; 35] = [
    "actionlint",
    "ansible-lint",
    "bandit",
    "biome",
    "basedpyright",
    "black",
    "clang-tidy",
    "codespell",
    "cppcheck",
    "cspell",
    "dmypy",
    "eslint",
    "flake8",
    "golangci-lint",
    "hadolint",
    "luacheck",
    "markdownlint",
    "mypy",
    "oxlint",
    "perl",
    "pycodestyle",
    "pydocstyle",
    "pyflakes",
    "pylint",
    "pyright",
    "rubocop",
    "ruff",
    "rustfmt",
    "shellcheck",
    "standard",
    "stylelint",
    "svelte-check",
    "swiftlint",
    "vale",
    "yamllint",
];
const OTHER_CHARS: usize = 240;
/// How many rules are counted separately.
const MAX_COUNTED: usize = 1_000;

/// If most of this many lines are findings, the rest need not be examined.
const ENOUGH_LINES: usize = 24;

fn runs(input: &Input<'_>) -> bool {
    // A formatter that shows its changes writes a diff.
    PROGRAMS.contains(&input.program()) && !(input.program() == "black" && input.has("--diff"))
        || (input.program() == "cargo" && input.subcommand() == "fmt")
}

fn recognises(input: &Input<'_>) -> Match {
    let mut lines = 0;
    let mut findings = 0;
    let mut judged = 0;
    let mut placed = 0;
    for text in input.beginning() {
        placed += usize::from(
            arrow(text).is_some() || pointed(text).is_some() || bare_place(text).is_some(),
        );
        if lines == ENOUGH_LINES && judged * 4 > lines * 3 {
            return Match::Certain;
        }
        let found = finding(text);
        findings += usize::from(found.is_some());
        if text.starts_with("+++ ") || is_play(text) || is_goroutine(text) {
            return Match::No;
        }
        let says_so = forms::unformatted(text).is_some() || Annotation::read(text).is_some();
        let is_judged = |found: Finding<'_>| says_so || is_judged(found.message);
        judged += usize::from(found.is_some_and(is_judged));
        lines += usize::from(found.is_some() || (indent(text) == 0 && !text.trim().is_empty()));
    }
    if judged >= 3 && judged * 2 > lines || placed >= 3 {
        Match::Certain
    } else if findings + placed > 0 {
        Match::Likely
    } else {
        Match::No
    }
}

/// Whether the first finding `path:1:2: E501 message` has its source below it, above a caret.
fn shows_source(input: &Input<'_>) -> bool {
    let mut lines = input.beginning();
    let first = lines.find_map(finding);
    let coded = first.is_some_and(|found| {
        let code = found.message.split(' ').next().unwrap_or_default();
        is_code(code) && code.ends_with(|sign: char| sign.is_ascii_digit())
    });
    let mut source = lines.take_while(|line| finding(line).is_none());
    coded
        && source
            .nth(1)
            .is_some_and(|line| forms::is_caret(line) || source.any(forms::is_caret))
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader::new(is_exact(input.program()), shows_source(input));
    let mut counted = Vec::new();
    for text in input.lines() {
        if is_counted(text) && counted.len() < MAX_COUNTED {
            counted.push(text);
        } else {
            reader.line(text);
        }
    }
    reader.tell_asked();
    reader.end_finding();
    if reader.findings.is_empty() {
        return;
    }
    if reader.findings.are_sampled() {
        // If only a sample is shown, it is not visible which finding a note belongs to.
        reader.others.retain(|line| !is_aside(line));
    }
    let room = input.target_chars();
    let room = room.saturating_sub(reader.others.size(OTHER_CHARS));
    reader.findings.write(room, output);
    for row in counted {
        output.fact(row);
    }
    reader.others.write(Weight::Fact, OTHER_CHARS, output);
}

/// Whether a line is a row of a table that counts the findings of each rule: ` 12\tE501\tline-too-long`.
fn is_counted(line: &str) -> bool {
    if !matches!(line.as_bytes().first(), Some(b' ' | b'0'..=b'9')) {
        return false;
    }
    line.split_once('\t').is_some_and(|(count, rule)| {
        let code = rule.split(['\t', ' ']).next().unwrap_or_default();
        is_number(count.trim_start()) && is_code(code)
    })
}

/// Whether a line explains the finding before it; a requested answer of a type checker does not.
fn is_aside(line: &str) -> bool {
    line.strip_prefix("note: ")
        .is_some_and(|note| !note.starts_with("Revealed "))
}

/// Whether findings are shown by location, as linters similar to eslint print them.
fn is_exact(program: &str) -> bool {
    matches!(program, "eslint" | "standard" | "xo")
}

#[cfg(test)]
mod tests;
