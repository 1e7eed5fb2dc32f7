//! What a plugin draws in place of marks: rows with bars, and counts below each other.

/// How its sessions begin.
pub(super) const DRAWN_SESSION: &str = "Test session starts (platform: ";

/// Whether the counts follow: `Results (1.20s):`.
pub(super) fn is_results(line: &str) -> bool {
    let time = line
        .trim_end()
        .strip_prefix("Results (")
        .and_then(|rest| rest.strip_suffix("):"));
    time.is_some_and(|time| time.starts_with(|first: char| first.is_ascii_digit()))
}

/// Whether `line` is a row of marks, or none, with the share that is done and its bar: ` tests/test_a.py ✓✓⨯   35% ███▌`.
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
    use super::super::FAMILY;
    use super::*;
    use crate::input::Exit;
    use crate::tested;

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

    #[test]
    fn counts_that_stand_below_each_other_are_the_verdict() {
        let text = "Test session starts (platform: linux, Python 3.12.1, pytest 9.2.0, pytest-sugar 1.1.1)\nrootdir: /srv/shop\n\
                    plugins: sugar-1.1.1\ncollected 3 items\n\n tests/test_a.py ✓✓    66% ██████▋\n\n\
                    ―――――――― test_total ――――――――\n\n    def test_total():\n>       assert 3 == 4\nE       assert 3 == 4\n\n\
                    tests/test_a.py:9: AssertionError\n\n tests/test_a.py ⨯     100% ██████████\n\nResults (0.12s):\n       2 passed\n       1 failed\n         - tests/test_a.py:7 test_total\n";
        let reduced = tested::reduced(&FAMILY, text, "pytest", Exit::Failure);
        assert_eq!(
            reduced,
            "E assert 3 == 4\n_ test_total _ tests/test_a.py:9\n2 passed\n1 failed\n- tests/test_a.py:7 test_total\n[15 of 21 lines left out]"
        );
    }
}
