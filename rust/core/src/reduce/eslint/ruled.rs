//! Findings in columns between bars, below a head that names their file, as sqlfluff prints them.
//!
//! ```text
//! == [a.sql] FAIL
//! L:   1 | P:  13 | LT01 | Expected single whitespace between comma and
//!                        | identifier. [layout.spacing]
//! ```

use super::super::findings::Finding;
use super::super::input::Input;

/// Findings with their files, and all other lines.
#[derive(Debug, Default)]
pub(super) struct Ruled<'a> {
    pub(super) found: Vec<(&'a str, Finding<'a>)>,
    pub(super) others: Vec<&'a str>,
}

/// Whether `line` is a finding: a line, a position, a code, a message.
pub(super) fn is_row(line: &str) -> bool {
    row(line).is_some()
}

/// The place in `line`, and where the code begins.
fn row(line: &str) -> Option<(&str, usize)> {
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
    // Where the message of the last finding begins.
    let mut message: Option<usize> = None;
    let mut start = 0;
    for line in input.text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        if let Some((place, code)) = row(line.trim_end()) {
            let from = start + code;
            message = Some(from);
            let finding = Finding {
                place,
                path: file,
                message: input.text.get(from..end).unwrap_or_default(),
                whole: "",
            };
            ruled.found.push((file, finding));
        } else if let (Some(from), Some((_, last))) = (
            message.filter(|_| line.trim_start().starts_with("| ")),
            ruled.found.last_mut(),
        ) {
            // A message that is broken at the width goes on in its column.
            last.message = input.text.get(from..end).unwrap_or(last.message);
        } else {
            message = None;
            match head(line) {
                Some(named) if line.trim_end().ends_with("FAIL") => file = named,
                _ if line.trim().is_empty() => {}
                _ => ruled.others.push(line.trim_end()),
            }
        }
        start += line.len();
    }
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
            .found
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
