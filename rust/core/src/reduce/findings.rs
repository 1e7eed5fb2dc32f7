//! Findings of linters, type checkers and compilers: the same message told once, with all its places.

pub(super) mod by_message;

use hashbrown::HashMap;

use super::line::shorten;
use super::output::Output;

/// Up to this many findings every place is told; beyond it the first ones of each message, and how
/// many each file has.
const ALL_PLACES: usize = 600;
const FIRST_PLACES: usize = 5;
/// From here on messages that differ only in numbers and quoted names are told as one.
const MASKED_FROM: usize = 600;
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
struct Group {
    /// Which finding is the first of it.
    first: usize,
    count: usize,
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
    /// Unless `exact`, very many messages are told as one where they differ in names only.
    pub(super) fn write(&self, exact: bool, output: &mut Output) {
        let masked = !exact && self.all.len() > MASKED_FROM;
        let (groups, group_of) = self.grouped(masked);
        let all_places = self.all.len() <= ALL_PLACES;
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
            } else if all_places || *told < FIRST_PLACES {
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
            self.write_files(output);
        }
        if !self.all.is_empty() {
            output.failed();
        }
    }

    fn grouped(&self, masked: bool) -> (Vec<Group>, Vec<usize>) {
        let mut groups: Vec<Group> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut group_of = Vec::with_capacity(self.all.len());
        let mut key = String::new();
        for (number, finding) in self.all.iter().enumerate() {
            key.clear();
            if masked {
                mask(finding.message, &mut key);
            } else {
                key.push_str(without_object(finding.message));
                self.continuation(number)
                    .for_each(|line| key.push_str(line));
            }
            let index = match known.get(key.as_str()) {
                Some(index) => *index,
                None if groups.len() < MAX_GROUPS => {
                    groups.push(Group {
                        first: number,
                        count: 0,
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

    fn row(&self, group: &Group, places: &str, told: usize) -> String {
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
        let text = shorten(&text, MESSAGE_CHARS);
        match group.count - told {
            0 if places.is_empty() => text.into_owned(),
            0 => format!("{text}; also{places}"),
            rest => format!("{text} (×{}); also{places} +{rest}", group.count),
        }
    }

    /// Every file with its number of findings.
    fn write_files(&self, output: &mut Output) {
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
        let files: Vec<String> = counts
            .iter()
            .map(|(path, count)| format!("{path} ({count})"))
            .collect();
        output.summary(&files.join(" "), 0);
    }
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
mod tests {
    use super::*;

    fn reduced(findings: &[(&'static str, &'static str)]) -> String {
        let mut all = Findings::default();
        for (place, message) in findings {
            all.push(Finding {
                place,
                path: place.split(':').next().unwrap_or_default(),
                message,
                whole: "",
            });
        }
        let mut output = Output::default();
        all.write(false, &mut output);
        output.finish(findings.len(), usize::MAX)
    }

    #[test]
    fn the_same_message_is_told_once_with_every_place() {
        let text = reduced(&[
            ("a.x:1", "error: no"),
            ("b.x:2", "warning: odd"),
            ("c.x:3", "error: no"),
        ]);
        assert_eq!(
            text,
            "a.x:1: error: no; also c.x:3\nb.x:2: warning: odd\n[0 of 3 lines left out]"
        );
    }

    #[test]
    fn a_message_is_the_same_whatever_it_quotes() {
        let text = reduced(&[
            ("a.md:1", "MD034 Bare URL [Context: \"oak\"]"),
            ("a.md:1", "MD034 Bare URL [Context: \"oak\"]"),
            ("b.md:2", "MD034 Bare URL [Context: \"elm\"]"),
            ("c.md:3", "MD001 Level [Expected: h2]"),
            ("c.md:3", "MD001 Level [Expected: h2]"),
        ]);
        assert_eq!(
            text,
            "a.md:1: MD034 Bare URL [Context: \"oak\"]; also b.md:2\nc.md:3: MD001 Level [Expected: h2]\n\
             [0 of 5 lines left out]"
        );
    }

    #[test]
    fn of_very_many_findings_every_message_and_file_stays() {
        let places: Vec<String> = (0..700)
            .map(|line| format!("f{}.x:{line}", line % 7))
            .collect();
        let mut all = Findings::default();
        for place in &places {
            let path = place.split(':').next().unwrap_or_default();
            all.push(Finding {
                place,
                path,
                message: "E1 too long (80 > 79)",
                whole: "",
            });
        }
        let mut output = Output::default();
        all.write(false, &mut output);
        let text = output.finish(700, usize::MAX);
        assert!(
            text.starts_with("f0.x:0: E1 too long (80 > 79) (×700); also f1.x:1"),
            "{text}"
        );
        assert!(text.contains("f6.x (100)"), "{text}");
    }
}
