//! Hits of searches: `grep`, `rg` plain, with headings and `--json`, `git grep`.

mod hits;
mod json;

use std::fmt::Write as _;

use hits::{Hits, Row};

use super::beginnings::Beginnings;
use super::input::Input;
use super::line;
use super::names::key_without_numbers;
use super::output::Output;
use super::route::{Family, Marks, Match};
use super::source::is_head;

pub(super) const FAMILY: Family = Family {
    name: "search",
    runs,
    marks: Marks::OneOf(&[&["\n{\"type\":\"begin\""]]),
    recognises,
    reduce,
};

/// Up to so many hits are all shown with their text.
const HITS_WITH_TEXT: usize = 45;
/// The same where lines around the hits were asked for: they go first.
const HITS_WITH_LINES_AROUND: usize = 150;
/// The lines around the hits are all shown in outputs up to this size.
const CONTEXT_BYTES: usize = 6_000;
/// The same where the command asks for them.
const ASKED_CONTEXT_CHARS: usize = 24_000;
/// Long options that ask for lines around the hits.
const CONTEXT_OPTIONS: [&str; 3] = ["--context", "--after-context", "--before-context"];
/// A longer text of a hit is cut around what was searched for.
const TEXT_CHARS: usize = 160;
/// Line numbers of one file that are shown where not all texts are.
const NUMBERS: [usize; 4] = [12, 6, 3, 1];
/// Kinds of texts that are told apart at most.
const KINDS: usize = 16_384;
/// The texts of the hits have so many bytes at least.
const LEAST_BYTES: usize = 900;
/// Lines of no known form that are shown.
const UNKNOWN_LINES: usize = 30;
/// How lines begin in which these programs tell of an error.
static COMPLAINTS: Beginnings<7> = Beginnings::new([
    "grep: ", "egrep: ", "fgrep: ", "zgrep: ", "rg: ", "fatal: ", "ack: ",
]);

fn runs(input: &Input<'_>) -> bool {
    let searches = |program: &str| {
        matches!(
            program,
            "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack"
        )
    };
    let packages = || {
        let mut head = input.beginning().take(3);
        head.all(|line| line.starts_with("ii  "))
    };
    searches(input.program()) && !packages()
        || input.git_is(&["grep"])
        || (input.program() == "xargs" && input.words.iter().any(|word| searches(word)))
}

fn recognises(input: &Input<'_>) -> Match {
    if json::is_events(input) {
        Match::Certain
    } else if runs(input) {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let hits = if json::is_events(input) {
        json::read(input)
    } else if input.has("-c") || input.has("--count") || input.has("--count-matches") {
        return counts(input, output);
    } else {
        hits::read(input)
    };
    if hits.rows.is_empty() {
        // Lines of one file without numbers, or only names of files: nothing repeats there by form.
        return;
    }
    complain(input, output);
    let pattern = pattern(input);
    let most = if hits.has_context {
        HITS_WITH_LINES_AROUND
    } else {
        HITS_WITH_TEXT
    };
    let most = most.max(output.asked_lines());
    let asked = hits.has_context && asks_for_context(input);
    if asked && input.text.chars().count() <= ASKED_CONTEXT_CHARS {
        with_text(&hits, &pattern, true, output);
    } else if hits.found <= most {
        with_text(&hits, &pattern, input.text.len() <= CONTEXT_BYTES, output);
    } else {
        with_numbers(input, &hits, &pattern, output);
    }
    for line in hits.unknown.iter().take(UNKNOWN_LINES) {
        output.fact(&line::shorten(line, TEXT_CHARS));
    }
    output.stays_unless_shorter(input.text);
}

fn complain(input: &Input<'_>, output: &mut Output) {
    for line in input.lines() {
        if is_complaint(line) {
            output.failed();
            output.fact(&line::shorten(line, TEXT_CHARS));
        }
    }
}

fn is_complaint(line: &str) -> bool {
    COMPLAINTS.begin(line)
}

/// `grep -c`: the files that have hits.
fn counts(input: &Input<'_>, output: &mut Output) {
    complain(input, output);
    for line in input.lines().filter(|line| !is_complaint(line)) {
        if !line.ends_with(":0") {
            output.fact(line);
        }
    }
    output.stays_unless_shorter(input.text);
}

/// What was searched for, as plain pieces of it that may stand in a hit.
fn pattern<'a>(input: &Input<'a>) -> Vec<&'a str> {
    let arguments = input
        .words
        .iter()
        .skip(1 + usize::from(input.git_is(&["grep"])));
    let mut arguments = arguments.map(String::as_str);
    let first = arguments.find(|word| !word.starts_with('-')).unwrap_or("");
    let plain = |sign: char| !(sign.is_alphanumeric() || matches!(sign, '_' | ' ' | '-' | '='));
    let pieces = first.split(plain).filter(|piece| piece.len() > 1);
    pieces.collect()
}

/// `text` without the blanks around it; a long one only around what was searched for.
fn shown<'a>(text: &'a str, pattern: &[&str]) -> std::borrow::Cow<'a, str> {
    let text = text.trim();
    if text.len() <= TEXT_CHARS {
        return text.into();
    }
    let at = pattern.iter().find_map(|piece| text.find(piece));
    let Some(at) = at.filter(|at| *at > TEXT_CHARS / 2) else {
        return line::shorten(text, TEXT_CHARS);
    };
    let mut from = at - TEXT_CHARS / 4;
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let around: String = text
        .get(from..)
        .unwrap_or_default()
        .chars()
        .take(TEXT_CHARS)
        .collect();
    let left_out = text.len() - around.len();
    format!("...{around}...[{left_out} bytes more]").into()
}

/// Whether lines around the hits were asked for: `-C3`, `-rnA 3`, `-5`, `--context=3`.
fn asks_for_context(input: &Input<'_>) -> bool {
    let short = |word: &String| {
        let options = word.strip_prefix('-').unwrap_or_default();
        // What follows these is a pattern, a file or a number.
        let options = options.split(['e', 'f', 'g', 'j', 'm', 't']).next();
        options.is_some_and(|options| {
            let letters = options.trim_end_matches(|sign: char| sign.is_ascii_digit());
            letters.bytes().all(|byte| byte.is_ascii_alphabetic())
                && (letters.contains(['A', 'B', 'C']) || letters.len() < options.len())
        })
    };
    CONTEXT_OPTIONS.iter().any(|option| input.has(option)) || input.words.iter().skip(1).any(short)
}

/// Every hit with its text; of the lines around them all, or only heads of definitions.
fn with_text(hits: &Hits<'_>, pattern: &[&str], whole_context: bool, output: &mut Output) {
    let repeats_path = hits.has_context && !hits.headings;
    let mut path = None;
    let mut around = hashbrown::HashSet::new();
    for row in &hits.rows {
        let Row { number, text, hit } = *row.row();
        // A line near a hit that says what another one said tells nothing.
        let known = !hit && around.len() < KINDS && !around.insert(text.trim());
        if !hit && (known || text.trim().is_empty() || !(whole_context || is_head(text))) {
            continue;
        }
        let new = path != Some(row.path());
        path = Some(row.path());
        if new && hits.headings {
            output.summary(row.path(), 1);
        }
        let text = shown(text, pattern);
        let mark = if hit { ":" } else { "-" };
        let before = if !hits.headings && (new || repeats_path && hit) {
            row.path()
        } else {
            ""
        };
        let between = if before.is_empty() { "" } else { mark };
        let after = if number.is_empty() { "" } else { mark };
        output.summary(&format!("{before}{between}{number}{after}{text}"), 1);
    }
}

/// Every file with the numbers of its first hits, and each text once as long as there is room.
fn with_numbers(input: &Input<'_>, hits: &Hits<'_>, pattern: &[&str], output: &mut Output) {
    let target = input.target_chars();
    let files = files(hits);
    let size = |numbers: usize| -> usize {
        let of_file = |(path, rows): &(&str, Vec<Row<'_>>)| {
            let rows = rows.iter().take(numbers);
            path.len() + 2 + rows.map(|row| row.number.len() + 1).sum::<usize>()
        };
        files.iter().map(of_file).sum()
    };
    let numbers = NUMBERS
        .into_iter()
        .find(|numbers| size(*numbers) * 4 <= target * 3);
    let numbers = numbers.unwrap_or(1);
    let mut room = target.saturating_sub(size(numbers) + 200).max(LEAST_BYTES);
    let mut seen = hashbrown::HashSet::new();
    for (path, rows) in &files {
        let mut texts = Vec::new();
        let mut plain = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let text = shown(row.text, pattern);
            let cost = text.len() + 2;
            // A file is told by its first text if there is room for all files.
            let fits = cost <= room && seen.len() < KINDS;
            if fits && seen.insert(key_without_numbers(text.get(..40).unwrap_or(&text))) {
                room -= cost;
                texts.push((row.number, text));
            } else if index < numbers && !row.number.is_empty() {
                plain.push(row.number);
            }
        }
        let left_out = rows.len() - texts.len() - plain.len();
        write_file(path, &texts, &plain, left_out, output);
    }
}

fn write_file(
    path: &str,
    texts: &[(&str, std::borrow::Cow<'_, str>)],
    plain: &[&str],
    left_out: usize,
    output: &mut Output,
) {
    let mut row = path.to_owned();
    let mut between = ":";
    for (number, text) in texts {
        row.push_str(between);
        row.push_str(number);
        row.push_str(if number.is_empty() { "" } else { ":" });
        row.push_str(text);
        output.summary(&row, 1);
        row.clear();
        between = "";
    }
    for number in plain {
        row.push_str(between);
        row.push_str(number);
        between = " ";
    }
    if left_out > 0 {
        // Writing to a `String` cannot fail.
        let _ = write!(row, " … (+{left_out})");
    }
    if !row.is_empty() {
        output.summary(row.trim_start(), plain.len());
    }
}

/// The hits by file, in the order in which the files came.
fn files<'a>(hits: &Hits<'a>) -> Vec<(&'a str, Vec<Row<'a>>)> {
    let mut files: Vec<(&str, Vec<Row<'_>>)> = Vec::new();
    for row in &hits.rows {
        if !row.row().hit {
            continue;
        }
        match files.last_mut() {
            Some((path, rows)) if *path == row.path() => rows.push(*row.row()),
            _ => files.push((row.path(), vec![*row.row()])),
        }
    }
    files
}

#[cfg(test)]
mod tests;
