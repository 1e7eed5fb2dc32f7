//! What `file` states of files: the names of each kind under their folder.

use hashbrown::HashMap;

use super::{complain, is_complaint};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;

const KIND_CHARS: usize = 160;
/// How many kinds are distinguished; a file of any other is shown as it is.
const MOST_KINDS: usize = 256;
/// What a link points to is its own.
const LINK: &str = "symbolic link to ";
/// After these words is what is of one file alone.
const OWN: [&str; 2] = [", BuildID[", ", interpreter "];

/// A file and its kind: `/usr/bin/oak:   ASCII text`.
fn typed(line: &str) -> Option<(&str, &str)> {
    let (path, kind) = line.split_text(":")?;
    let text = kind.trim_start();
    let apart = text.len() < kind.len();
    // What `stat` states of a file is indented.
    let is_path = !path.is_empty() && !path.starts_with(' ');
    (apart && !text.is_empty() && is_path).then_some((path, text))
}

/// Whether most of the first lines describe a file.
pub(super) fn is_types(input: &Input<'_>) -> bool {
    let (mut known, mut all) = (0, 0);
    for line in input.beginning() {
        all += 1;
        known += usize::from(typed(line).is_some());
    }
    known >= 4 && known * 10 >= all * 9
}

/// `kind` up to what is of this file alone, and what it ends with after that: `, not stripped`.
fn of_many(kind: &str) -> (&str, &str) {
    let end = OWN.iter().filter_map(|word| kind.find_text(word)).min();
    let Some((head, own)) = end.and_then(|end| kind.split_at_checked(end)) else {
        return (kind, "");
    };
    let last = own.rfind(", ").filter(|at| *at > 0);
    (head, last.and_then(|at| own.get(at..)).unwrap_or_default())
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut rows: Vec<(String, usize)> = Vec::new();
    let mut known: HashMap<(&str, &str, &str), usize> = HashMap::new();
    for line in input.lines() {
        let read = typed(line).filter(|_| !is_complaint(line));
        let Some((path, kind)) = read else {
            complain(line, output);
            continue;
        };
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let ((kind, last), target) = match kind.strip_prefix(LINK) {
            Some(target) => ((LINK.trim_end(), ""), Some(target)),
            None => (of_many(kind), None),
        };
        let at = match known.get(&(folder, kind, last)) {
            Some(at) => *at,
            None if rows.len() < MOST_KINDS => {
                let slash = if folder.is_empty() { "" } else { "/" };
                let head = [&shorten(kind, KIND_CHARS), last, ": ", folder, slash].concat();
                known.insert((folder, kind, last), rows.len());
                rows.push((head, 0));
                rows.len() - 1
            }
            None => {
                output.fact(&shorten(line, KIND_CHARS));
                continue;
            }
        };
        if let Some((row, lines)) = rows.get_mut(at) {
            *lines += 1;
            row.push(' ');
            row.push_str(name);
            if let Some(target) = target {
                row.push_str(" -> ");
                row.push_str(target);
            }
        }
    }
    for (row, lines) in &rows {
        output.summary(row, *lines);
    }
}
