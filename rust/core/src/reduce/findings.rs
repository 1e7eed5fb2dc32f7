//! Findings of linters, type checkers and compilers: the same message told once, with all its places.

pub(super) mod by_message;

use hashbrown::{HashMap, HashSet};

use super::diagnostics::is_code;
use super::line::shorten;
use super::output::Output;

/// Up to this many errors of a type checker or compiler every place is told; beyond it the first
/// ones of each message, and how many each file has. Messages that differ only in numbers and quoted
/// names are one message then.
const ALL_ERRORS: usize = 600;
/// The same for what linters say, most of which is taste.
const ALL_REMARKS: usize = 150;
const FIRST_PLACES: usize = 5;
/// The places of a file that has no more findings than this are always told, unless there are more
/// such files than `FEW_FILES`.
const FEW: usize = 8;
const FEW_FILES: usize = 10;
/// Of how many different messages of one rule each is told; the others share a row then.
const RULE_GROUPS: usize = 8;
const MESSAGE_CHARS: usize = 240;
const MAX_GROUPS: usize = 4_096;

/// One message at one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding<'a> {
    /// Path, line and column as the tool wrote them, or what else names the place.
    pub(super) place: &'a str,
    /// The path alone.
    pub(super) path: &'a str,
    /// What is said about the place, with severity and code.
    pub(super) message: &'a str,
    /// The line that says both, as the tool wrote it; empty when they stand on different lines.
    pub(super) whole: &'a str,
}

#[derive(Debug)]
struct Group<'a> {
    /// Which finding is the first of it.
    first: usize,
    count: usize,
    /// The rule whose other messages share this row.
    rest_of: Option<&'a str>,
}

/// Findings in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Findings<'a> {
    all: Vec<Finding<'a>>,
    /// Lines that go on with the message of a finding, by its index.
    continued: Vec<(usize, &'a str)>,
}

impl<'a> Findings<'a> {
    pub(super) fn push(&mut self, finding: Finding<'a>) {
        self.all.push(finding);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether the last finding only announced its message, which `message` is: `path:1 in f:`.
    pub(super) fn takes_message(&mut self, message: &'a str) -> bool {
        let announces = |message: &str| {
            message.ends_with(':') && (message.starts_with("in ") || message.starts_with("at "))
        };
        match self.all.last_mut().filter(|last| announces(last.message)) {
            Some(last) => {
                last.message = message;
                last.whole = "";
                true
            }
            None => false,
        }
    }

    /// What continues the message of the last finding, which a tool has broken into lines.
    pub(super) fn continue_last(&mut self, more: &'a str) {
        if let Some(last) = self.all.len().checked_sub(1) {
            self.continued.push((last, more.trim()));
        }
    }

    /// The lines that go on with the message of a finding.
    fn continuation(&self, index: usize) -> impl Iterator<Item = &'a str> {
        let start = self.continued.partition_point(|(owner, _)| *owner < index);
        let rest = self.continued.get(start..).unwrap_or_default();
        rest.iter()
            .take_while(move |(owner, _)| *owner == index)
            .map(|(_, line)| *line)
    }

    /// One row a message: alone with its place as the tool wrote it, or followed by all its places.
    ///
    /// Unless `exact`, very many messages are told as one where they differ in names only. Severe
    /// ones are told each, with all their places.
    pub(super) fn write(&self, exact: bool, output: &mut Output) {
        let all_places = self.all.len() <= self.most_told(exact);
        let (groups, group_of) = self.grouped(!exact && !all_places);
        let files = if all_places { Vec::new() } else { self.files() };
        let mut few: HashSet<&str> = files
            .iter()
            .filter(|(_, count)| *count <= FEW)
            .map(|(path, _)| *path)
            .collect();
        if few.len() > FEW_FILES {
            few.clear();
        }
        let mut places: Vec<String> = vec![String::new(); groups.len()];
        let mut told: Vec<usize> = vec![0; groups.len()];
        for (number, (finding, index)) in self.all.iter().zip(&group_of).enumerate() {
            let (Some(row), Some(told), Some(group)) = (
                places.get_mut(*index),
                told.get_mut(*index),
                groups.get(*index),
            ) else {
                continue;
            };
            if number == group.first {
                *told += 1;
            } else if all_places
                || *told < FIRST_PLACES
                || is_severe(finding.message)
                || few.contains(finding.path)
            {
                let first = self.all.get(group.first).map(|first| first.place);
                if !row.ends_with(finding.place) && first != Some(finding.place) {
                    row.push(' ');
                    row.push_str(finding.place);
                }
                *told += 1;
            }
        }
        for ((group, places), told) in groups.iter().zip(&places).zip(&told) {
            output.summary(&self.row(group, places, *told), group.count);
        }
        if !all_places {
            let counts: Vec<String> = files
                .iter()
                .map(|(path, count)| format!("{path} ({count})"))
                .collect();
            output.summary(&counts.join(" "), 0);
        }
        if !self.all.is_empty() {
            output.failed();
        }
    }

    /// Of how many findings every place is told.
    fn most_told(&self, exact: bool) -> usize {
        let is_error = |finding: &&Finding<'_>| finding.message.starts_with("error: ");
        if exact || self.all.iter().filter(is_error).count() * 2 > self.all.len() {
            ALL_ERRORS
        } else {
            ALL_REMARKS
        }
    }

    fn grouped(&self, masked: bool) -> (Vec<Group<'a>>, Vec<usize>) {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut of_rule: HashMap<&str, usize> = HashMap::new();
        let mut group_of = Vec::with_capacity(self.all.len());
        let mut key = String::new();
        for (number, finding) in self.all.iter().enumerate() {
            key.clear();
            let folds = masked && !is_severe(finding.message);
            if folds {
                mask(finding.message, &mut key);
            } else {
                key.push_str(without_object(finding.message));
                self.continuation(number)
                    .for_each(|line| key.push_str(line));
            }
            let mut rest_of = None;
            if folds && !known.contains_key(key.as_str()) {
                let rule = rule(finding.message);
                let told = of_rule.entry(rule).or_insert(0);
                *told += 1;
                if *told > RULE_GROUPS {
                    key.clear();
                    key.push_str(rule);
                    rest_of = Some(rule);
                }
            }
            let index = match known.get(key.as_str()) {
                Some(index) => *index,
                None if groups.len() < MAX_GROUPS => {
                    groups.push(Group {
                        first: number,
                        count: 0,
                        rest_of,
                    });
                    known.insert(key.clone(), groups.len() - 1);
                    groups.len() - 1
                }
                None => MAX_GROUPS - 1,
            };
            if let Some(group) = groups.get_mut(index) {
                group.count += 1;
            }
            group_of.push(index);
        }
        (groups, group_of)
    }

    fn row(&self, group: &Group<'_>, places: &str, told: usize) -> String {
        let Some(Finding {
            place,
            message,
            whole,
            ..
        }) = self.all.get(group.first)
        else {
            return String::new();
        };
        let mut text = match (whole.is_empty(), place.is_empty()) {
            (false, _) => (*whole).to_owned(),
            (true, true) => (*message).to_owned(),
            (true, false) => format!("{place}: {message}"),
        };
        for line in self.continuation(group.first) {
            text.push(' ');
            text.push_str(line);
        }
        let text = shorten(&text, MESSAGE_CHARS + place.chars().count());
        let others = match (group.rest_of, places.is_empty()) {
            (Some(rule), _) => format!("; others of {rule}{places}"),
            (None, false) => format!("; also{places}"),
            (None, true) => String::new(),
        };
        match group.count - told {
            0 => format!("{text}{others}"),
            rest if group.rest_of.is_some() => format!("{text}{others} +{rest}"),
            rest => format!("{text} (×{}){others} +{rest}", group.count),
        }
    }

    /// Every file with its number of findings.
    fn files(&self) -> Vec<(&'a str, usize)> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for finding in &self.all {
            let index = *known.entry(finding.path).or_insert_with(|| {
                counts.push((finding.path, 0));
                counts.len() - 1
            });
            if let Some((_, count)) = counts.get_mut(index) {
                *count += 1;
            }
        }
        counts
    }
}

/// Whether a linter calls this an error that keeps the program from working: `E0602: …` and
/// `F0001: …` of pylint, `E999 …` and `F821 …` of flake8 and ruff.
fn is_severe(message: &str) -> bool {
    let message = message.trim_start_matches('[');
    let (letter, digits) = match message.as_bytes() {
        [letter @ (b'E' | b'F'), rest @ ..] => (*letter, rest),
        _ => return false,
    };
    match digits {
        [a, b, c, d, end, ..] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()) => {
            !end.is_ascii_alphanumeric()
        }
        [b'9', _, _, end, ..] => letter == b'E' && !end.is_ascii_alphanumeric(),
        [b'8', b'2', _, end, ..] => letter == b'F' && !end.is_ascii_alphanumeric(),
        _ => false,
    }
}

/// The rule that a message names: the code before it, or what closes it.
fn rule(message: &str) -> &str {
    let first = message.split([' ', ':']).next().unwrap_or_default();
    if is_code(first) {
        return first;
    }
    let opening = match message.as_bytes().last() {
        Some(b']') => message.rfind('['),
        Some(b')') => message.rfind('('),
        _ => message.rfind(' '),
    };
    opening
        .and_then(|opening| message.get(opening..))
        .unwrap_or(message)
        .trim()
}

/// What `[C0116(rule), object] message` says of any object: the message without the brackets; without
/// what it quotes of the text as well: `message [Context: "..."]`.
fn without_object(message: &str) -> &str {
    let message = message
        .rsplit_once(" [Context: ")
        .map_or(message, |(message, _)| message);
    let bracketed = message
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    match bracketed {
        Some((inside, text)) if inside.contains("), ") => text,
        _ => message,
    }
}

/// `message` with numbers and quoted names left out.
fn mask(message: &str, key: &mut String) {
    let mut quote = None;
    for character in message.chars() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => (),
            None if matches!(character, '"' | '`') => quote = Some(character),
            // An apostrophe within a word opens nothing.
            None if character == '\'' && !key.ends_with(char::is_alphanumeric) => {
                quote = Some(character);
            }
            None if character.is_ascii_digit()
                && !key.ends_with(|last: char| last.is_ascii_alphanumeric()) =>
            {
                key.push('#');
            }
            None if character.is_ascii_digit() && key.ends_with('#') => (),
            None => key.push(character),
        }
    }
}

#[cfg(test)]
mod tests;
