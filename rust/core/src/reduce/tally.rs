//! How often each line came, as `uniq -c` tells it.
//!
//! ```text
//!      12 src/oak.py
//!       3 src/elm.py
//! ```

use std::cmp::Reverse;

use super::input::Input;
use super::line::{is_bad, shorten};
use super::output::Output;
use super::route::{Family, Marks, Match};

pub(super) const FAMILY: Family = Family {
    name: "tally",
    runs: |input| input.program() == "uniq",
    marks: Marks::OneOf(&[&["\n  ", "0 "]]),
    recognises,
    reduce,
};

/// Fewer rows prove nothing.
const LEAST_ROWS: usize = 8;
/// In so many columns the count stands at the right.
const WIDTHS: [usize; 2] = [7, 4];
const LINE_CHARS: usize = 240;
/// Up to so many bytes all rows are told: each is one already for all that are alike.
const ROWS_BYTES: usize = 8_000;
/// Of them so many for rows that tell of a failure, however seldom it came.
const BAD_BYTES: usize = 2_000;

/// Certain when all of the first lines are rows of one width.
fn recognises(input: &Input<'_>) -> Match {
    let is_tally = |width: &usize| {
        let mut rows = 0;
        let mut lines = input.beginning();
        lines.all(|line| {
            rows += 1;
            row(line, *width).is_some()
        }) && rows >= LEAST_ROWS
    };
    let is_padded = || input.beginning().any(|line| line.starts_with("  "));
    if WIDTHS.iter().any(is_tally) && is_padded() {
        Match::Certain
    } else {
        Match::No
    }
}

/// The count of a row, and the row without its indent.
fn row(line: &str, width: usize) -> Option<(u64, &str)> {
    let text = line.trim_start_matches(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let indent = line.len() - text.len();
    let is_row = digits > 0 && text.as_bytes().get(digits) == Some(&b' ');
    let is_wide = indent + digits == width || indent == 0 && digits > width;
    let count = text.get(..digits).filter(|_| is_row && is_wide)?;
    Some((count.parse().ok()?, text))
}

/// Every row, or those of the highest counts and the bad ones.
fn reduce(input: &Input<'_>, output: &mut Output) {
    let rows: Vec<(u64, &str)> = input.lines().map(counted).collect();
    let size: usize = rows.iter().map(|(_, text)| size(text)).sum();
    let mut kept = vec![size <= ROWS_BYTES || rows.len() <= output.asked_lines(); rows.len()];
    if kept.first() == Some(&false) {
        keep_most(&rows, &mut kept);
    }
    let mut left_out = 0;
    for ((_, text), kept) in rows.iter().zip(kept) {
        if !kept {
            left_out += 1;
            continue;
        }
        output.gap(std::mem::take(&mut left_out));
        output.fact(&shorten(text, LINE_CHARS));
    }
    output.gap(left_out);
    output.stays_unless_shorter(input.text);
}

/// The count of a line in any width, 0 where there is none, and the line without its indent.
fn counted(line: &str) -> (u64, &str) {
    let text = line.trim_start_matches(' ');
    let count = text.split(' ').next().and_then(|count| count.parse().ok());
    (count.unwrap_or_default(), text)
}

fn size(text: &str) -> usize {
    text.len().min(LINE_CHARS) + 1
}

/// Keeps bad rows, and of the others those of the highest counts, as long as there is room.
fn keep_most(rows: &[(u64, &str)], kept: &mut [bool]) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| Reverse(rows.get(*at).map(|(count, _)| *count)));
    let mut used = 0;
    for (most, only_bad) in [(BAD_BYTES, true), (ROWS_BYTES, false)] {
        for at in &order {
            let (Some((_, text)), Some(kept)) = (rows.get(*at), kept.get_mut(*at)) else {
                continue;
            };
            if used + size(text) <= most && !*kept && (!only_bad || is_bad(text)) {
                *kept = true;
                used += size(text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::input::Exit;
    use crate::reduce::tested;

    fn known(text: &str) -> Match {
        recognises(&Input {
            text,
            words: &[],
            exit: Exit::Success,
        })
    }

    fn tally(rows: usize) -> String {
        (0..rows).fold(String::new(), |text, row| {
            text + &format!("{:>7} src/oak_{row}.py: unused name\n", rows - row)
        })
    }

    #[test]
    fn rows_of_one_width_are_a_tally() {
        assert_eq!(known(&tally(9)), Match::Certain);
        assert_eq!(
            known(
                &"   9 oak
  10 elm
"
                .repeat(5)
            ),
            Match::Certain
        );
        for text in [
            &tally(3),
            &format!("{}plain text\n", tally(9)),
            &tally(9).replace("  ", ""),
            &"1234567 row\n".repeat(9),
        ] {
            assert_eq!(known(text), Match::No, "{text}");
        }
    }

    #[test]
    fn every_row_stays_without_its_indent() {
        let told = tested::reduced(&FAMILY, &tally(60), "uniq -c", Exit::Success);
        for row in 0..60 {
            assert!(
                told.contains(&format!("\n{} src/oak_{row}.py", 60 - row)) || row == 0,
                "{told}"
            );
        }
        assert!(told.starts_with("60 src/oak_0.py"), "{told}");
    }

    #[test]
    fn of_very_many_rows_the_highest_counts_and_the_bad_ones_stay() {
        let text = format!("{}      1 ERROR oak is gone\n", tally(2_000));
        let told = tested::reduced(&FAMILY, &text, "uniq -c", Exit::Success);
        assert!(
            told.starts_with("2000 src/oak_0.py: unused name\n1999 src/oak_1.py"),
            "{told}"
        );
        assert!(told.contains("\n1 ERROR oak is gone\n"), "{told}");
        assert!(told.len() < ROWS_BYTES + 200, "{told}");
    }
}
