//! What `git status` says: every path with its state, and the branch lines, byte for byte.
//!
//! The long format loses what an agent does not need: hints how to stage, padding, labels repeated
//! on each line. Everything that is not known to be one of these stays, so a line of a newer git,
//! of another language or of another program is kept, not misread. The short formats hold nothing
//! else than facts and stay as they are.

use super::beginnings::Beginnings;
use super::input::Input;
use super::output::Output;
use super::route::{Family, Marks, Match};
use super::{head_tail, join};
use crate::lines::lines;

pub(super) const FAMILY: Family = Family {
    name: "git status",
    runs,
    marks: Marks::Never,
    recognises,
    reduce,
};

/// How the first line of the long format begins.
static FIRST_LINES: Beginnings<6> = Beginnings::new([
    "On branch ",
    "HEAD detached at ",
    "HEAD detached from ",
    "Not currently on any branch.",
    "interactive rebase in progress; onto ",
    "rebase in progress; onto ",
]);
/// Sections whose entries carry a label, and the width to which git pads it.
const LABELLED_SECTIONS: [(&str, usize); 3] = [
    ("Changes to be committed:", 12),
    ("Changes not staged for commit:", 12),
    ("Unmerged paths:", 17),
];
const PLAIN_SECTIONS: [&str; 2] = ["Untracked files:", "Ignored files:"];
const LABELS: [&str; 13] = [
    "modified:",
    "new file:",
    "deleted:",
    "renamed:",
    "copied:",
    "typechange:",
    "both modified:",
    "both added:",
    "both deleted:",
    "added by us:",
    "added by them:",
    "deleted by us:",
    "deleted by them:",
];
/// Hints how to stage, unstage and exchange commits. Those that say how to end an operation stay.
static HINTS: Beginnings<7> = Beginnings::new([
    "  (use \"git add",
    "  (use \"git restore ",
    "  (use \"git rm ",
    "  (use \"git reset HEAD ",
    "  (use \"git checkout -- ",
    "  (use \"git push\" ",
    "  (use \"git pull\" ",
]);
/// Closing lines that end with a hint, and what of them stays.
const CLOSING_LINES: [(&str, &str); 2] = [
    (
        "no changes added to commit (use \"git add\" and/or \"git commit -a\")",
        "no changes added to commit",
    ),
    (
        "nothing added to commit but untracked files present (use \"git add\" to track)",
        "nothing added to commit but untracked files present",
    ),
];
/// So many paths that count up are told by the first and the last.
const RUN: usize = 4;
/// From here on `git status -v` prints a diff.
static DIFF_LINES: Beginnings<2> = Beginnings::new([
    "diff --",
    "--------------------------------------------------",
]);

fn runs(input: &Input<'_>) -> bool {
    input.git_is(&["status"])
}

/// Never certain: for other commands the text need not be read.
fn recognises(input: &Input<'_>) -> Match {
    let known = runs(input)
        && (long_start(input.text).is_some()
            || input.text.contains('\0')
            || is_porcelain_v2(input.text)
            || short_start(input.text).is_some());
    if known { Match::Likely } else { Match::No }
}

/// The status; what other commands printed before it only by its first and last lines.
fn reduce(input: &Input<'_>, output: &mut Output) {
    let text = input.text;
    if text.contains('\0') || is_porcelain_v2(text) {
        return output.stays();
    }
    let long = long_start(text);
    let Some(at) = long.or_else(|| short_start(text)) else {
        return;
    };
    let (before, status) = text.split_at_checked(at).unwrap_or_default();
    let Ok(pieces) = head_tail::reduce(before, 0, before.len());
    let shorter_before = pieces.and_then(|pieces| join(before, &pieces));
    let shorter_status = long.and_then(|_| Long::default().read(status));
    if shorter_before.is_none() && shorter_status.is_none() {
        return output.stays();
    }
    let mut whole = shorter_before.unwrap_or_else(|| before.to_owned());
    whole.push_str(shorter_status.as_deref().unwrap_or(status));
    if whole.len() >= text.len() {
        return output.stays();
    }
    output.complete(&whole);
}

/// Where the long format begins.
fn long_start(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if FIRST_LINES.begin(line) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Where the lines of the short format begin that end the text.
fn short_start(text: &str) -> Option<usize> {
    let mut at = text.len();
    for line in text.split_inclusive('\n').rev() {
        let from = at - line.len();
        let trimmed_first = from == 0 && is_entry(line, 1);
        if !(is_entry(line, 2) || line.starts_with("## ") || trimmed_first) {
            break;
        }
        at = from;
    }
    (at < text.len()).then_some(at)
}

/// Whether `line` is a state of `width` letters, a blank and a path. The first line of a trimmed
/// text has lost the blank that was its first letter.
fn is_entry(line: &str, width: usize) -> bool {
    let Some((state, rest)) = line.split_at_checked(width) else {
        return false;
    };
    state.bytes().all(|letter| b" MADRCTU?!m".contains(&letter))
        && state.bytes().any(|letter| letter != b' ')
        && rest
            .strip_prefix(' ')
            .is_some_and(|path| !path.trim_end().is_empty())
}

fn is_porcelain_v2(text: &str) -> bool {
    lines(text).all(|line| {
        line.split_once(' ').is_some_and(|(kind, rest)| {
            !rest.is_empty() && matches!(kind, "#" | "1" | "2" | "u" | "?" | "!")
        })
    })
}

/// The long format, line by line.
#[derive(Default)]
struct Long<'a> {
    written: String,
    section: Section,
    /// The entries of the section by label, in the order in which the labels first come; the
    /// entries that have none stand directly under the heading.
    groups: Vec<(&'static str, Vec<&'a str>)>,
    /// The label that a line of its own gives to the entries after it.
    current: Option<&'static str>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    #[default]
    None,
    /// Its entries carry labels padded to that width.
    Labelled(usize),
    Plain,
}

impl<'a> Long<'a> {
    /// The reduced text; `None` when there is no memory for it.
    fn read(mut self, text: &'a str) -> Option<String> {
        self.written.try_reserve(text.len()).ok()?;
        let mut rest = text;
        while let Some(line) = rest.split_inclusive('\n').next() {
            if DIFF_LINES.begin(line) {
                break;
            }
            rest = rest.get(line.len()..).unwrap_or_default();
            self.line(line.strip_suffix('\n').unwrap_or(line));
        }
        self.end_section();
        self.written.push_str(rest);
        if !text.ends_with('\n') {
            self.written
                .truncate(self.written.trim_end_matches('\n').len());
        }
        Some(self.written)
    }

    fn line(&mut self, line: &'a str) {
        let words = line.strip_suffix('\r').unwrap_or(line);
        let in_section = self.section != Section::None;
        if words.is_empty() || is_hint(words) {
            return;
        }
        if in_section && let Some(entry) = line.strip_prefix('\t') {
            return self.entry(entry);
        }
        if in_section && let Some(label) = LABELS.iter().find(|label| **label == words) {
            self.current = Some(label);
            return;
        }
        self.end_section();
        let closing = CLOSING_LINES.iter().find(|(whole, _)| *whole == words);
        self.write(closing.map_or(line, |(_, kept)| kept));
        self.section = section(words);
    }

    fn entry(&mut self, entry: &'a str) {
        let (label, path) = match (self.current, self.section) {
            (Some(label), _) => (label, entry),
            (None, Section::Labelled(width)) => labelled(entry, width).unwrap_or(("", entry)),
            (None, _) => ("", entry),
        };
        match self.groups.iter_mut().find(|(known, _)| *known == label) {
            Some((_, paths)) => paths.push(path),
            None if label.is_empty() => self.groups.insert(0, (label, vec![path])),
            None => self.groups.push((label, vec![path])),
        }
    }

    fn end_section(&mut self) {
        for (label, paths) in std::mem::take(&mut self.groups) {
            if !label.is_empty() {
                self.write(label);
            }
            let mut rest = paths.as_slice();
            while let Some((first, after)) = rest.split_first() {
                self.written.push('\t');
                let run = run_length(rest);
                match rest.get(run - 1) {
                    Some(last) if run >= RUN => {
                        self.write(&format!("{first} … {last} ({run})"));
                        rest = rest.get(run..).unwrap_or_default();
                    }
                    _ => {
                        self.write(first);
                        rest = after;
                    }
                }
            }
        }
        self.current = None;
        self.section = Section::None;
    }

    fn write(&mut self, line: &str) {
        self.written.push_str(line);
        self.written.push('\n');
    }
}

/// How many of the first `paths` differ by a number only that goes up by one.
fn run_length(paths: &[&str]) -> usize {
    let pairs = paths.iter().zip(paths.iter().skip(1));
    let follows = |(one, two): &(&&str, &&str)| {
        let (Some(one), Some(two)) = (numbered(one), numbered(two)) else {
            return false;
        };
        one.before == two.before
            && one.after == two.after
            && one.number.checked_add(1) == Some(two.number)
            && (one.digits == two.digits || !(one.is_padded || two.is_padded))
    };
    1 + pairs.take_while(follows).count()
}

/// A path with a number in it: the last one.
struct Numbered<'a> {
    before: &'a str,
    after: &'a str,
    number: u64,
    digits: usize,
    is_padded: bool,
}

fn numbered(path: &str) -> Option<Numbered<'_>> {
    let end = path.rfind(|sign: char| sign.is_ascii_digit())? + 1;
    let head = path.get(..end)?;
    let before = head.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let digits = head.get(before.len()..)?;
    Some(Numbered {
        before,
        after: path.get(end..)?,
        number: digits.parse().ok()?,
        digits: digits.len(),
        is_padded: digits.len() > 1 && digits.starts_with('0'),
    })
}

fn is_hint(line: &str) -> bool {
    line.ends_with(')') && HINTS.begin(line)
}

fn section(line: &str) -> Section {
    if PLAIN_SECTIONS.contains(&line) {
        return Section::Plain;
    }
    let labelled = LABELLED_SECTIONS
        .iter()
        .find(|(heading, _)| *heading == line);
    labelled.map_or(Section::None, |(_, width)| Section::Labelled(*width))
}

/// The label of an entry and the path after its padding. A path may begin with blanks, so the
/// padding must have exactly the width that git gives it.
fn labelled(entry: &str, width: usize) -> Option<(&'static str, &str)> {
    let label = LABELS.iter().find(|label| entry.starts_with(**label))?;
    let (field, path) = entry.split_at_checked(width)?;
    let padding = field.strip_prefix(label)?;
    let padded = padding.bytes().all(|byte| byte == b' ');
    (padded && !path.is_empty()).then_some((label, path))
}

#[cfg(test)]
mod tests;
