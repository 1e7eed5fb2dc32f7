//! Findings in columns between bars, below a head that names their file, as sqlfluff prints them.
//!
//! ```text
//! == [a.sql] FAIL
//! L:   1 | P:  13 | LT01 | Expected single whitespace between comma and
//!                        | identifier. [layout.spacing]
//! ```

use super::table::{Line, Table};
use crate::input::Input;

/// Whether `line` is a finding: a line, a position, a code, a message.
pub(super) fn is_row(line: &str) -> bool {
    row(line).is_some()
}

/// The location in `line`, and where the code begins.
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

/// The file that a header names: `== [a.sql] FAIL`.
fn head(line: &str) -> Option<&str> {
    let (file, _) = line.strip_prefix("== [")?.rsplit_once(']')?;
    Some(file)
}

/// All findings of the text.
pub(super) fn read<'a>(input: &Input<'a>) -> Table<'a> {
    Table::of(input, |line, _| match (row(line), head(line)) {
        (Some((place, column)), _) => Line::Row(place, column),
        (None, Some(file)) if line.ends_with("FAIL") => Line::File(file),
        // A wrapped message continues in its column.
        _ if line.trim_start().starts_with("| ") => Line::More,
        _ => Line::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;

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
