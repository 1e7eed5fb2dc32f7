//! Rows of `go tool cover -func`: how much of each function is covered.

/// Whether `line` is such a row: `app/oak.go:12:\tGrow\t\t66.7%`, or the total.
pub(super) fn is_row(line: &str) -> bool {
    line.ends_with('%')
        && line.split_once('\t').is_some_and(|(place, _)| {
            place == "total:" || place.ends_with(':') && place.contains(".go:")
        })
}

/// Whether all of the function in `row` is covered.
pub(super) fn is_whole(row: &str) -> bool {
    row.ends_with("\t100.0%") && !row.starts_with("total:")
}
