//! A unified diff: files and hunks are headings, changed lines count, context does not.

use hashbrown::HashMap;

use crate::source::{Kind, Line, Part, Source, real};
use crate::template::mixed;

/// Changed lines that are shown together.
const MOST_TOGETHER: usize = 6;
/// How much a changed line loses for each one before it in its file that differs only in values.
const REPEAT_DECAY: f64 = 0.3;
/// Lines of the header of a file.
const HEADER_LINES: usize = 8;

#[derive(Default)]
struct State {
    file: Option<usize>,
    hunk: Option<usize>,
    /// Lines of the old and the new side that the hunk still has.
    left: usize,
    right: usize,
    /// Changed lines of the file by template and sign.
    repeats: HashMap<u64, usize>,
}

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let mut state = State::default();
    let mut is_change = vec![false; part.end - part.start];
    for number in part.start..part.end {
        let text = source.at(number);
        let next = source.at(number + 1);
        let kind = state.line(number, text, next, &mut source.lines[number]);
        if let Some(slot) = is_change.get_mut(number - part.start) {
            *slot = kind;
        }
    }
    let mut at = 0;
    while at < is_change.len() {
        let length = is_change
            .iter()
            .skip(at)
            .take(MOST_TOGETHER)
            .take_while(|is_change| **is_change)
            .count();
        if length > 1 {
            let first = part.start + at;
            source.bundle((first..first + length).collect());
        }
        at += length.max(1);
    }
}

impl State {
    /// Reads a line; whether it is a changed one.
    fn line(&mut self, number: usize, text: &str, next: &str, line: &mut Line) -> bool {
        let is_in_hunk = self.hunk.is_some() && (self.left > 0 || self.right > 0);
        let is_old_name = text.starts_with("--- ") && next.starts_with("+++ ");
        if text.starts_with("diff -") || text.starts_with("Index: ") || is_old_name && !is_in_hunk {
            let is_of_file =
                self.file.is_some_and(|file| number - file < HEADER_LINES) && self.hunk.is_none();
            if is_old_name && is_of_file {
                (line.kind, line.weight, line.heading) = (Kind::Noise, 0.8, self.file);
            } else {
                (self.file, self.hunk) = (Some(number), None);
                self.repeats.clear();
                (line.kind, line.weight, line.heading) = (Kind::Heading, 5.0, None);
            }
        } else if let Some((left, right)) = hunk(text) {
            (self.hunk, self.left, self.right) = (Some(number), left, right);
            (line.kind, line.weight, line.heading, line.template) = (Kind::Hunk, 1.6, self.file, 0);
        } else if is_in_hunk && (text.is_empty() || text.starts_with(['+', '-', ' ', '\\'])) {
            let sign = text.bytes().next().unwrap_or(b' ');
            self.left -= usize::from(sign != b'+' && sign != b'\\').min(self.left);
            self.right -= usize::from(sign != b'-' && sign != b'\\').min(self.right);
            line.heading = self.file.or(self.hunk);
            (line.unit, line.detail, line.has_cells) = (None, 0, false);
            let is_changed = matches!(sign, b'+' | b'-') && text.trim().len() > 1;
            line.kind = if is_changed {
                Kind::Change
            } else {
                Kind::Context
            };
            if is_changed {
                let repeats = self
                    .repeats
                    .entry(mixed(line.template, u64::from(sign)))
                    .or_default();
                line.weight = Kind::Change.weight() / (1.0 + REPEAT_DECAY * real(*repeats));
                *repeats += 1;
            }
            line.template = mixed(u64::from(sign), self.file.unwrap_or(usize::MAX) as u64);
            return is_changed;
        } else if let (Some(file), None) = (self.file, self.hunk) {
            const PLAIN: [&str; 3] = ["index ", "--- ", "+++ "];
            const CHANGED: [&str; 7] = [
                "similarity ",
                "old mode",
                "new mode",
                "deleted file mode",
                "new file mode",
                "rename ",
                "Binary ",
            ];
            let is_changed = CHANGED.iter().any(|beginning| text.starts_with(beginning));
            if is_changed || PLAIN.iter().any(|beginning| text.starts_with(beginning)) {
                line.heading = Some(file);
                (line.kind, line.weight) = if is_changed {
                    (Kind::Detail, 3.0)
                } else {
                    (Kind::Noise, 0.5)
                };
            }
        } else if self.hunk.is_some() {
            (self.hunk, self.file) = (None, None);
        }
        false
    }
}

/// The numbers of lines on both sides of a hunk, by its heading.
fn hunk(text: &str) -> Option<(usize, usize)> {
    let rest = text
        .strip_prefix("@@")?
        .trim_start_matches('@')
        .strip_prefix(" -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => range.parse::<usize>().ok().map(|_| 1),
    };
    Some((count(old)?, count(new)?))
}
