//! Findings in columns between bars, below a head that names their file, as sqlfluff prints them.
//!
//! ```text
//! == [a.sql] FAIL
//! L:   1 | P:  13 | LT01 | Expected single whitespace between comma and
//!                        | identifier. [layout.spacing]
//! ```

use super::super::findings::Finding;
use super::super::input::Input;
use super::super::line::shorten;
use super::super::output::Output;
use super::{Listed, MAX_OTHERS};

/// Findings with their files, and all other lines.
#[derive(Debug, Default)]
pub(super) struct Ruled<'a> {
    listed: Listed<'a>,
    others: Vec<&'a str>,
    skipped: usize,
}

impl Ruled<'_> {
    pub(super) fn write(mut self, target_chars: usize, output: &mut Output) {
        self.listed.write(target_chars, output);
        for other in &self.others {
            output.fact(&shorten(other, 240));
        }
        output.gap(self.skipped);
    }
}

impl<'a> Ruled<'a> {
    fn close(&mut self, open: &mut Option<(Finding<'a>, usize)>) {
        if let Some((finding, _)) = open.take() {
            self.listed.push(finding.path, finding);
        }
    }
}

/// Whether `line` is a finding: a line, a position, a code, a message.
pub(super) fn is_row(line: &str) -> bool {
    row(line).is_some()
}

/// The place in `line`, and where the code begins.
fn row(line: &str) -> Option<(&str, usize)> {
    if !line.starts_with("L:") {
        return None;
    }
    let place_end = line.match_indices(" | ").nth(1).map(|(at, _)| at)?;
    let place = line.get(..place_end)?;
    let (row, position) = place.split_once(" | ")?;
    let number = |text: &str, mark: &str| {
        text.strip_prefix(mark).is_some_and(|number| {
            let number = number.trim_start();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    (number(row, "L:") && number(position, "P:")).then_some((place, place_end + " | ".len()))
}

/// The file that a head names: `== [a.sql] FAIL`.
fn head(line: &str) -> Option<&str> {
    let (file, _) = line.strip_prefix("== [")?.rsplit_once(']')?;
    Some(file)
}

/// All findings of the text.
pub(super) fn read<'a>(input: &Input<'a>) -> Ruled<'a> {
    let mut ruled = Ruled::default();
    let mut file = "";
    // The last finding, and where its message begins.
    let mut open: Option<(Finding<'a>, usize)> = None;
    let mut start = 0;
    for line in input.text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        if let Some((place, code)) = row(line.trim_end()) {
            ruled.close(&mut open);
            let from = start + code;
            let finding = Finding {
                place,
                path: file,
                message: input.text.get(from..end).unwrap_or_default(),
                whole: "",
            };
            open = Some((finding, from));
        } else if let (true, Some((last, from))) =
            (line.trim_start().starts_with("| "), open.as_mut())
        {
            // A message that is broken at the width goes on in its column.
            last.message = input.text.get(*from..end).unwrap_or(last.message);
        } else {
            ruled.close(&mut open);
            match head(line) {
                Some(named) if line.trim_end().ends_with("FAIL") => file = named,
                _ if line.trim().is_empty() => {}
                _ if ruled.others.len() < MAX_OTHERS => ruled.others.push(line.trim_end()),
                _ => ruled.skipped += 1,
            }
        }
        start += line.len();
    }
    ruled.close(&mut open);
    ruled
}

#[cfg(test)]
mod tests {
    use super::super::super::input::Exit;
    use super::*;

    #[test]
    fn rows_have_a_file_a_place_and_all_of_their_message() {
        let text = "== [a.sql] FAIL\nL:   1 | P:  13 | LT01 | Expected single\n                       | blank. [layout]\n\
                    L:  10 | P:   3 | CP01 | Keywords. [case]\n== [b.sql] PASS\nAll Finished!\n";
        let input = Input {
            text,
            words: &[],
            exit: Exit::Failure,
        };
        let ruled = read(&input);
        let found: Vec<_> = ruled
            .listed
            .first
            .iter()
            .map(|(file, found)| (*file, found.place, found.message))
            .collect();
        assert_eq!(
            found,
            [
                (
                    "a.sql",
                    "L:   1 | P:  13",
                    "LT01 | Expected single\n                       | blank. [layout]"
                ),
                ("a.sql", "L:  10 | P:   3", "CP01 | Keywords. [case]"),
            ]
        );
        assert_eq!(ruled.others, ["== [b.sql] PASS", "All Finished!"]);
    }

    #[test]
    fn other_tables_are_none() {
        for line in ["a | b | c | d", "L: x | P: 1 | c", "L: 1 | P: | c | d"] {
            assert!(!is_row(line), "{line}");
        }
    }
}
