//! `tree`: a row a folder with the names in it, and the totals.

use super::{complain, folders, folds, is_complaint};
use crate::input::Input;
use crate::output::Output;

/// How many columns one level takes.
const LEVEL_COLUMNS: usize = 4;

/// Whether at least five of this many lines are branches, and most of them.
pub(super) fn is_tree(branches: usize, lines: usize) -> bool {
    branches >= 5 && branches * 2 > lines
}

/// The level of the name in `line`, from 1, and the name.
fn branch(line: &str) -> Option<(usize, &str)> {
    let (columns, name) = drawn(line)?;
    Some((columns / LEVEL_COLUMNS + 1, name))
}

/// The columns before the branch that is drawn in `line`, and what it bears.
pub(super) fn drawn(line: &str) -> Option<(usize, &str)> {
    let mut columns = 0;
    let mut at = 0;
    loop {
        // Bytes: of each line most symbols are blanks and bars.
        let rest = line.as_bytes().get(at..)?;
        let branch = match rest {
            // The bar and the blank that does not break.
            [0xE2, 0x94, 0x82, ..] => {
                at += 3;
                columns += 1;
                continue;
            }
            [0xC2, 0xA0, ..] => {
                at += 2;
                columns += 1;
                continue;
            }
            [b'|' | b'`' | b'+', b'-', b'-', b' ', ..] => "|-- ",
            [
                0xE2,
                0x94,
                0x9C | 0x94,
                0xE2,
                0x94,
                0x80,
                0xE2,
                0x94,
                0x80 | 0xAC,
                b' ',
                ..,
            ] => "├── ",
            [b' ' | b'|', ..] => {
                at += 1;
                columns += 1;
                continue;
            }
            _ => return None,
        };
        return Some((columns, line.get(at + branch.len()..)?));
    }
}

/// Whether `line` is the last one: `17 directories, 64 files`.
fn is_total(line: &str) -> bool {
    line.starts_with(|sign: char| sign.is_ascii_digit())
        && (line.contains(" director") || line.contains(" file"))
}

/// A folder that the branches that follow can be in.
struct Open<'a> {
    number: usize,
    level: usize,
    name: &'a str,
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let folds = folds(input, false, output);
    let mut folders = folders(input, folds, output);
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut totals = Vec::new();
    let mut lines = input.lines();
    let mut next = lines.next().map(|line| (line, branch(line)));
    while let Some((line, found)) = next {
        next = lines.next().map(|line| (line, branch(line)));
        let next_level = next
            .and_then(|(_, next)| next)
            .map_or(0, |(level, _)| level);
        match found {
            Some((level, name)) if next_level > level => {
                open.truncate(level);
                let number = folders.open(level, name);
                open.push(Open {
                    number,
                    level,
                    name,
                });
            }
            Some((level, name)) => {
                open.truncate(level);
                match open.last() {
                    Some(folder) => folders.add_to(folder.number, name, ""),
                    None => folders.add("", name, ""),
                }
            }
            None if line.trim_ascii().is_empty() => {}
            None if is_complaint(line) => complain(line, folders.output),
            None if is_total(line) => totals.push(line),
            None => {
                open.clear();
                let number = folders.open(0, line);
                open.push(Open {
                    number,
                    level: 0,
                    name: line,
                });
            }
        }
        if folders.is_full() {
            folders.write(lines.unread_bytes());
            for open in &mut open {
                open.number = folders.open_again(open.level, open.name);
            }
        }
    }
    folders.write(0);
    for total in totals {
        output.fact(total);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::super::{List, list};
    use super::*;
    use crate::input::Exit;

    const TREE: &str = "top\n├── a.c\n├── deep\n│\u{a0}\u{a0} ├── b.c\n│\u{a0}\u{a0} └── deeper\n\
                        │\u{a0}\u{a0}     └── c.c\n└── z.c\n\n3 directories, 4 files\n";

    fn reduced(text: &str) -> String {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Unknown,
        };
        assert_eq!(list(&input), Some(List::Tree));
        let mut output = Output::default();
        reduce(&input, &mut output);
        output.finish(text.lines().count(), usize::MAX)
    }

    #[test]
    fn a_folder_is_a_row_with_its_names() {
        assert_eq!(
            reduced(TREE),
            "top: a.c z.c\n deep: b.c\n  deeper: c.c\n3 directories, 4 files\n[1 of 9 lines left out]"
        );
    }

    #[test]
    fn other_line_drawings_are_read_too() {
        let text = TREE
            .replace("├── ", "|-- ")
            .replace("└── ", "`-- ")
            .replace("│\u{a0}\u{a0} ", "|   ");
        assert_eq!(reduced(&text), reduced(TREE));
    }

    #[test]
    fn a_name_may_hold_what_looks_like_a_branch() {
        assert_eq!(branch("├── a ├── b").unwrap(), (1, "a ├── b"));
        assert_eq!(branch("see ├── a"), None);
    }
}
