//! How often each line came, as `uniq -c` shows it, or each rule of a linter was broken.
//!
//! ```text
//!      12 src/oak.py
//!       3 src/elm.py
//! ```

mod rules;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::{is_bad, shorten};
use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "tally",
    runs: |input| {
        let counts_rules = || input.words.iter().any(|word| word == "--statistics");
        input.program() == "uniq" || input.program() == "ruff" && counts_rules()
    },
    marks: Marks::OneOf(&[&["\n  ", "0 "], &["\t[ ] "], &["\t[*] "], &["\t[-] "]]),
    recognises,
    reduce,
};

/// Fewer rows prove nothing.
const LEAST_ROWS: usize = 8;
/// In this many columns the count is at the right.
const WIDTHS: [usize; 2] = [7, 4];
const LINE_CHARS: usize = 240;
/// Up to this many bytes all rows are shown: each is one already for all that are alike.
const ROWS_BYTES: usize = 8_000;
/// Of more rows a fifth of their bytes, within these bounds.
const MIN_SHOWN_BYTES: usize = 4_000;
const MAX_SHOWN_BYTES: usize = 16_000;
/// Of them this many for rows that report a failure, however seldom it came.
const BAD_BYTES: usize = 1_500;

/// Certain when most of the first lines are rows of one width.
fn recognises(input: &Input<'_>) -> Match {
    let is_tally = |width: &usize| {
        let (mut rows, mut lines) = (0, 0);
        for line in input.beginning() {
            lines += 1;
            rows += usize::from(is_row(line, *width));
        }
        rows >= LEAST_ROWS && rows * 5 >= lines * 4
    };
    let marked = || ["\t[ ] ", "\t[*] ", "\t[-] "].map(|mark| input.text.has_text(mark));
    if rules::is_of_rules(input) && marked().contains(&true) {
        return Match::Certain;
    }
    let is_padded = || input.beginning().any(|line| line.starts_with("  "));
    if WIDTHS.iter().any(is_tally) && is_padded() {
        Match::Certain
    } else {
        Match::No
    }
}

/// Whether `line` is a row whose count ends in this column, and not one of a table with more columns.
fn is_row(line: &str, width: usize) -> bool {
    let text = line.trim_start_matches(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let indent = line.len() - text.len();
    let is_wide = indent + digits == width || indent == 0 && digits > width;
    let told = text.get(digits..).and_then(|rest| rest.strip_prefix(' '));
    digits > 0 && is_wide && told.is_some_and(|told| told.trim_start().find_text("  ").is_none())
}

/// Every row, or those of the highest counts and the bad ones.
fn reduce(input: &Input<'_>, output: &mut Output) {
    if rules::is_of_rules(input) {
        return rules::reduce(input, output);
    }
    let bytes: usize = input.lines().map(|line| size(line.trim_start())).sum();
    let lines = input.lines().count();
    if bytes <= ROWS_BYTES || lines <= output.asked_lines() {
        for line in input.lines() {
            output.fact(&shorten(line.trim_start(), LINE_CHARS));
        }
    } else {
        let mut next = 0;
        for row in most(input) {
            output.gap(row.at - next);
            output.fact(&shorten(row.text, LINE_CHARS));
            next = row.at + 1;
        }
        output.gap(lines - next);
    }
    output.stays_unless_shorter(input.text);
}

/// A row and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row<'a> {
    at: usize,
    text: &'a str,
}

fn size(text: &str) -> usize {
    text.len().min(LINE_CHARS) + 1
}

/// The first bad rows, and of the others those of the highest counts, as many as there is room for, in
/// their order.
fn most<'a>(input: &Input<'a>) -> Vec<Row<'a>> {
    let room = input.text.len() * 19 / 100;
    let room = room.clamp(MIN_SHOWN_BYTES, MAX_SHOWN_BYTES) - BAD_BYTES;
    let mut bad = Vec::new();
    let mut bad_bytes = 0;
    let mut highest: BinaryHeap<Reverse<(u64, Reverse<Row<'a>>)>> = BinaryHeap::new();
    let mut bytes = 0;
    for (at, line) in input.lines().enumerate() {
        let text = line.trim_start();
        let row = Row { at, text };
        if bad_bytes + size(text) <= BAD_BYTES && is_bad(text) {
            bad_bytes += size(text);
            bad.push(row);
            continue;
        }
        let count = text.split(' ').next().and_then(|count| count.parse().ok());
        highest.push(Reverse((count.unwrap_or_default(), Reverse(row))));
        bytes += size(text);
        while bytes > room {
            let Some(Reverse((_, Reverse(least)))) = highest.pop() else {
                break;
            };
            bytes -= size(least.text);
        }
    }
    bad.extend(highest.into_iter().map(|Reverse((_, Reverse(row)))| row));
    bad.sort_unstable();
    bad
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;
    use crate::tested;

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
            &format!("{}{}", tally(9), "plain text\n".repeat(3)),
            &tally(9).replace("  ", ""),
            &"1234567 row\n".repeat(9),
            &"   1234 dev       20   0   43112 S   0.0 oak\n".repeat(9),
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
        assert!(told.len() < MAX_SHOWN_BYTES, "{told}");
    }

    #[test]
    fn of_rules_of_a_linter_every_code_stays_and_the_names_of_the_most_frequent() {
        let mut text = String::from("warning: `select` is deprecated\n");
        let rows = (0..60).map(|row| {
            let (count, mark) = (200 - row / 5, if row % 2 == 0 { ' ' } else { '*' });
            format!("{count:>4}\tOAK{row:<4}\t[{mark}] crate-{row}-on-the-floor\n")
        });
        text.extend(rows);
        text += "Found 11770 errors.\n[*] 30 fixable with `--fix`.\n";
        assert_eq!(known(&text), Match::Certain);
        let told = tested::reduced(&FAMILY, &text, "ruff check --statistics", Exit::Failure);
        assert!(
            told.starts_with(
                "warning: `select` is deprecated\n200 OAK0 crate-0-on-the-floor\n200 OAK1 [*] crate-1-on-the-floor\n"
            ),
            "{told}"
        );
        assert!(
            told.contains("\n192 OAK40 OAK41 OAK42 OAK43 OAK44; 191 OAK45 OAK46"),
            "{told}"
        );
        assert!(told.contains("OAK59\nFound 11770 errors.\n"), "{told}");
    }
}
