//! Rows of a report of coverage.

use std::borrow::Cow;

use crate::find_text::FindText as _;

/// A report of so few files shows each of its lines.
const FEW_ROWS: usize = 10;
/// About so many bytes of missing lines are told of each file of a longer one.
const MISSING_BYTES: usize = 60;

/// A row of a report of so many rows; of a long list of missing lines the first, and how many more there
/// are: `src/oak.py  410  42  90%   73-80, 86-88, 119 ... 30 more`.
pub(super) fn shown(row: &str, rows: usize) -> Cow<'_, str> {
    let row = row.trim_end();
    let missing = row
        .rsplit_text("% ")
        .map_or(row.len(), |(head, _)| head.len() + 2);
    let list = row.get(missing..).unwrap_or_default();
    if rows <= FEW_ROWS || list.len() <= 2 * MISSING_BYTES {
        return Cow::Borrowed(row);
    }
    let mut ends = list.match_indices(", ").map(|(at, _)| at);
    let Some(end) = ends.find(|at| *at >= MISSING_BYTES) else {
        return Cow::Borrowed(row);
    };
    let shown = row.get(..missing + end).unwrap_or(row);
    Cow::Owned(format!("{shown} ... {} more", ends.count() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_missing_lines_the_first_are_told_and_the_others_counted() {
        let list: Vec<String> = (0..90).map(|line| (line * 7).to_string()).collect();
        let row = format!("src/oak.py     410     42    90%   {}", list.join(", "));
        let told = shown(&row, 40);
        assert!(
            told.starts_with("src/oak.py     410     42    90%   0, 7, 14, 21, "),
            "{told}"
        );
        assert!(told.ends_with(", 105 ... 74 more"), "{told}");
        assert_eq!(shown(&row, 3), row);
        for row in [
            "src/elm.py   12  4  66%   3, 7-9",
            "src/elm.py  12  0  100%",
            "TOTAL  9  2  80%",
        ] {
            assert_eq!(shown(row, 40), row);
        }
    }
}
