//! `wc`: the counts of many files, below their folders.

use crate::input::Input;
use crate::output::Output;
use crate::rows::names::{FOLDS, Folders};

pub(super) fn is_counts(input: &Input<'_>) -> bool {
    let lines = input.beginning().count();
    let rows = input.beginning().filter(|line| row(line).is_some()).count();
    rows > 0 && rows + rows / 8 >= lines
}

/// Every file has its counts after its name.
pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let folds = FOLDS.get(..1).unwrap_or_default();
    let mut folders = Folders::new(folds, usize::MAX, input.text.len(), output);
    let mut lines = input.lines();
    while let Some(line) = lines.next() {
        match row(line) {
            Some((counts, path)) if path != "total" => {
                let slash = memchr::memrchr(b'/', path.as_bytes());
                let parts = slash.and_then(|at| Some((path.get(..at)?, path.get(at + 1..)?)));
                let (folder, name) = parts.unwrap_or(("", path));
                folders.add(folder, name, counts);
                if folders.is_full() {
                    folders.write(lines.unread_bytes());
                }
            }
            _ if line.trim().is_empty() => {}
            _ => {
                folders.write(lines.unread_bytes());
                folders.output.fact(line.trim());
            }
        }
    }
    folders.write(0);
}

/// The counts of a line `  12  40 300 a/b.py`, and the path.
fn row(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_ascii();
    let is_other = |byte: &u8| !byte.is_ascii_digit() && *byte != b' ';
    let from = line.as_bytes().iter().position(is_other)?;
    let (counts, path) = line.split_at_checked(from)?;
    (counts.ends_with(' ') && !counts.trim_ascii().is_empty()).then_some((counts, path))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use crate::input::Exit;
    use crate::pipeline::terminal;

    fn reduced(text: &str) -> String {
        terminal::reduce(text, Some("wc -l src/*.py"), Exit::Success, usize::MAX)
            .unwrap()
            .0
    }

    #[test]
    fn names_stand_with_their_counts_below_their_folder() {
        let rows: String = (10..60).fold(String::new(), |rows, number| {
            rows + &format!("   {number} src/deep/folder/module_{number}.py\n")
        });
        let reduced = reduced(&format!("{rows}  1725 total\n"));
        assert!(
            reduced.starts_with("src/deep/folder: module_10.py 10 module_11.py 11 "),
            "{reduced}"
        );
        assert!(
            reduced.contains("module_59.py 59\n1725 total\n"),
            "{reduced}"
        );
    }
}
