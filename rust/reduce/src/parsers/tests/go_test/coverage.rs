//! Rows of `go tool cover -func`: how much of each function is covered.

/// Whether `line` is such a row: `app/oak.go:12:\tGrow\t\t66.7%`, or the one of all of them.
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

#[cfg(test)]
mod tests {
    use super::super::FAMILY;
    use crate::input::Exit;
    use crate::tested::reduced;

    #[test]
    fn functions_that_are_covered_are_not_told() {
        let rows = "app/oak.go:12:\t\tGrow\t\t100.0%\napp/oak.go:20:\t\tFall\t\t66.7%\n".repeat(30);
        let text = format!(
            "ok  \tapp\t0.4s\tcoverage: 81.2% of statements\n{rows}total:\t\t(statements)\t100.0%\n"
        );
        for command in ["go test -cover ./...", "go tool cover -func=c.out"] {
            let told = reduced(&FAMILY, &text, command, Exit::Success);
            assert!(told.contains("\napp/oak.go:20: Fall 66.7%\n"), "{told}");
            assert!(told.contains("\ntotal: (statements) 100.0%\n"), "{told}");
            assert!(!told.contains("Grow"), "{told}");
        }
    }
}
