//! Output of `git status`: every path with its state, and the branch lines, unchanged.
//!
//! The long format loses what is not needed: hints about staging, padding, labels repeated
//! on each line. All other lines are kept, so a line of a newer git, in another language
//! or from another program is not lost or misread. The short formats contain only facts
//! and are not changed.

mod run;

use run::Run;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::join;
use crate::kinds::head_tail;
use crate::line::beginnings::Beginnings;
use crate::output::{Mark, Output};
use ethos_registry_core::lines::{Lines, lines};

pub(crate) const FAMILY: Family = Family {
    name: "git status",
    runs,
    marks: Marks::Never,
    recognises,
    reduce,
};

/// The beginning of the first line of the long format.
static FIRST_LINES: Beginnings<6> = Beginnings::new([
    "On branch ",
    "HEAD detached at ",
    "HEAD detached from ",
    "Not currently on any branch.",
    "interactive rebase in progress; onto ",
    "rebase in progress; onto ",
]);
/// Sections whose entries have a label, and the width to which git pads it.
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
/// Hints about staging and switching branches. Hints about ending an operation are kept.
static HINTS: Beginnings<7> = Beginnings::new([
    "  (use \"git add",
    "  (use \"git restore ",
    "  (use \"git rm ",
    "  (use \"git reset HEAD ",
    "  (use \"git checkout -- ",
    "  (use \"git push\" ",
    "  (use \"git pull\" ",
]);
/// Closing lines that end with a hint, and the part that is kept.
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
/// The first line of the diff that `git status -v` prints.
static DIFF_LINES: Beginnings<2> = Beginnings::new([
    "diff --",
    "--------------------------------------------------",
]);

/// A longer status may be cut in the middle.
const LONG_BYTES: usize = 80_000;

fn runs(input: &Input<'_>) -> bool {
    input.git_is(&["status"])
}

/// Never certain, so that the text is not read for other commands.
fn recognises(input: &Input<'_>) -> Match {
    let last = || lines(input.text).next_back();
    let known = runs(input)
        && (last().is_some_and(is_short)
            || short_start(input.text).is_some()
            || input.text.contains('\0')
            || is_porcelain_v2(input.text)
            || long_start(input.text).is_some());
    if known { Match::Likely } else { Match::No }
}

/// Writes the status; what other commands printed before it only by its first and last lines.
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
    let is_long = text.len() > LONG_BYTES;
    if shorter_before.is_none() && long.is_none() && !is_long {
        return output.stays();
    }
    let mut told = lines(shorter_before.as_deref().unwrap_or(before)).peekable();
    while let Some(line) = told.next() {
        if !told.peek().is_some_and(|next| names_same(line, next)) {
            output.line_of_all(line);
        }
    }
    if long.is_some() {
        Long::new(status, output).read();
    } else {
        lines(status).for_each(|line| output.line_of_all(line));
    }
    let ended = text.ends_with('\n');
    if !is_long && output.len() - usize::from(!ended) >= text.len() {
        return output.stays();
    }
    output.is_all(ended);
}

/// Whether `line` is `Auto-merging a.c` and `next` is a conflict in the same file: `CONFLICT (content): … in a.c`.
fn names_same(line: &str, next: &str) -> bool {
    let path = line.strip_prefix("Auto-merging ");
    path.is_some_and(|path| {
        next.starts_with("CONFLICT (")
            && next
                .strip_suffix(path)
                .is_some_and(|before| before.ends_with(' '))
    })
}

/// The start of the long format.
fn long_start(text: &str) -> Option<usize> {
    let mut lines = lines(text);
    loop {
        let unread = lines.unread_bytes();
        if FIRST_LINES.begin(lines.next()?) {
            return Some(text.len() - unread);
        }
    }
}

/// The start of the short format at the end of the text.
fn short_start(text: &str) -> Option<usize> {
    let mut lines = lines(text);
    let mut at = text.len();
    while let Some(line) = lines.next_back() {
        let from = lines.unread_bytes();
        if !(is_short(line) || from == 0 && is_entry(line, 1)) {
            break;
        }
        at = from;
    }
    (at < text.len()).then_some(at)
}

/// Whether `line` is one of the short format.
fn is_short(line: &str) -> bool {
    is_state(line) || line.starts_with("## ")
}

/// Whether `line` shows the state of a file in the short format, in which a blank is a state too.
pub(crate) fn is_state(line: &str) -> bool {
    is_entry(line, 2)
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
struct Long<'a, 'o> {
    rest: Lines<'a>,
    output: &'o mut Output,
    section: Section,
    /// What follows its heading, in the text and in the output.
    start: (Lines<'a>, Mark),
    /// The label of the entries that are written as they come, the first one of the section; none of
    /// those without a label.
    first: Option<&'static str>,
    run: Run<'a>,
    /// The other entries of the section by label, in the order in which the labels first come.
    groups: Vec<(&'static str, Vec<&'a str>)>,
    /// The label that a line of its own gives to the entries after it.
    current: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    /// Its entries carry labels padded to that width.
    Labelled(usize),
    Plain,
}

impl<'a, 'o> Long<'a, 'o> {
    fn new(text: &'a str, output: &'o mut Output) -> Self {
        Self {
            rest: lines(text),
            start: (lines(text), output.mark()),
            output,
            section: Section::None,
            first: None,
            run: Run::default(),
            groups: Vec::new(),
            current: None,
        }
    }

    fn read(mut self) {
        loop {
            let unread = self.rest.clone();
            match self.rest.next() {
                Some(line) if !DIFF_LINES.begin(line) => self.line(line),
                _ => {
                    self.end_section();
                    return unread.for_each(|line| self.output.line_of_all(line));
                }
            }
        }
    }

    fn line(&mut self, line: &'a str) {
        let in_section = self.section != Section::None;
        if in_section && let Some(entry) = line.strip_prefix('\t') {
            return self.entry(entry);
        }
        if line.is_empty() || is_hint(line) {
            return;
        }
        if in_section && let Some(label) = LABELS.iter().find(|label| **label == line) {
            self.current = Some(label);
            return;
        }
        self.end_section();
        let closing = CLOSING_LINES.iter().find(|(whole, _)| *whole == line);
        self.output
            .line_of_all(closing.map_or(line, |(_, kept)| kept));
        self.section = section(line);
        self.start = (self.rest.clone(), self.output.mark());
    }

    fn entry(&mut self, entry: &'a str) {
        let (label, path) = match (self.current, self.section) {
            (Some(label), _) => (label, entry),
            (None, Section::Labelled(width)) => labelled(entry, width).unwrap_or(("", entry)),
            (None, _) => ("", entry),
        };
        if self.first.is_none() && !label.is_empty() {
            self.output.line_of_all(label);
        }
        let first = *self.first.get_or_insert(label);
        if first == label {
            self.run.push(path, self.output);
            return;
        }
        if label.is_empty() {
            return self.read_again();
        }
        match self.groups.iter_mut().find(|(known, _)| *known == label) {
            Some((_, paths)) => paths.push(path),
            None => self.groups.push((label, vec![path])),
        }
    }

    /// Reads the section again, which has entries without a label: they are directly under its heading.
    fn read_again(&mut self) {
        let (rest, mark) = self.start.clone();
        self.rest = rest;
        self.output.back_to(mark);
        self.run = Run::default();
        self.groups.clear();
        self.first = Some("");
    }

    fn end_section(&mut self) {
        self.run.end(self.output);
        for (label, paths) in std::mem::take(&mut self.groups) {
            if !label.is_empty() {
                self.output.line_of_all(label);
            }
            for path in paths {
                self.run.push(path, self.output);
            }
            self.run.end(self.output);
        }
        self.first = None;
        self.current = None;
        self.section = Section::None;
    }
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
