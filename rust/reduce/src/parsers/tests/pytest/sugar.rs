//! Output of the plugin pytest-sugar: rows with bars, and one count per line.

/// The prefix of its sessions.
pub(super) const DRAWN_SESSION: &str = "Test session starts (platform: ";

/// Whether the counts follow: `Results (1.20s):`.
pub(super) fn is_results(line: &str) -> bool {
    let time = line
        .trim_end()
        .strip_prefix("Results (")
        .and_then(|rest| rest.strip_suffix("):"));
    time.is_some_and(|time| time.starts_with(|first: char| first.is_ascii_digit()))
}

/// Whether `line` is a row of zero or more test marks, with the percentage and its bar: ` tests/test_a.py ✓✓⨯   35%
/// ███▌`.
pub(super) fn is_drawn_row(line: &str) -> bool {
    let row = line.trim_end();
    let bar = row.trim_end_matches(|sign| matches!(sign, '\u{2588}'..='\u{258f}'));
    if row.is_ascii() || bar.len() == row.len() && !row.ends_with('%') {
        return false;
    }
    let Some(share) = bar.trim_end().strip_suffix('%') else {
        return false;
    };
    let marks = share.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let marks = marks.trim_end();
    let marks = marks.rsplit(' ').next().unwrap_or(marks);
    marks.chars().all(|mark| "✓⨯✗sxXEF.".contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_marks_end_with_their_share_and_a_bar() {
        for row in [
            " tests/test_a.py ✓✓⨯s      35% ███▌      ",
            "      ✓✓✓    7% ▋",
            "     100% ██████████",
            " tests/test_a.py ✓   3% ",
        ] {
            assert!(is_drawn_row(row), "{row}");
        }
        for other in ["tests/test_a.py ..F [ 35%]", "35%", "über 35%", "✓ done"] {
            assert!(!is_drawn_row(other), "{other}");
        }
    }
}
