//! `strace -c`: what the program printed, and a table of its calls.

use std::fmt::Write as _;

use crate::input::Input;
use crate::line::is_bad;
use crate::output::Output;
use crate::rows::report::squeezed;
use crate::rows::unknown::Unknown;

/// How the line below the headers of the columns begins, and the one above the sums.
const RULER: &str = "------ ----------- ----------- ";
/// Of what the program printed this many lines are shown, the bad ones, and the last.
const FIRST_LINES: usize = 10;

/// Whether the text ends with a table.
pub(super) fn is_table(input: &Input<'_>) -> bool {
    input.ending().any(|line| line.starts_with(RULER))
}

/// Calls that took time or failed have a row of their own; of all others the numbers stand side by side.
pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut unknown = Unknown::default();
    let (mut heads, mut is_in_table) = ("", false);
    let mut others = String::new();
    let (mut quiet, mut printed, mut last) = (0, 0, "");
    for line in input.lines() {
        if line.starts_with("% time ") {
            heads = line;
        } else if line.starts_with(RULER) {
            if is_in_table {
                write_others(&mut others, &mut quiet, output);
            } else {
                unknown.push(std::mem::take(&mut last));
                unknown.write(output);
                if !heads.is_empty() {
                    output.fact(&squeezed(heads));
                }
            }
            is_in_table = !is_in_table;
        } else if let Some((name, calls)) = quiet_call(line).filter(|_| is_in_table) {
            // Writing to a `String` cannot fail.
            let _ = write!(others, "{calls} {name} ");
            quiet += 1;
        } else if is_in_table || line.trim_end().ends_with(" total") {
            output.fact(&squeezed(line));
        } else {
            printed += 1;
            if printed <= FIRST_LINES || is_bad(line) {
                unknown.push(line);
                last = "";
            } else {
                last = line;
            }
        }
    }
    write_others(&mut others, &mut quiet, output);
    unknown.push(last);
    unknown.write(output);
}

fn write_others(others: &mut String, calls: &mut usize, output: &mut Output) {
    if !others.is_empty() {
        output.context_of(others.trim_ascii_end(), std::mem::take(calls));
        others.clear();
    }
}

/// The name and number of a call that did not fail and took no hundredth of the time.
fn quiet_call(row: &str) -> Option<(&str, &str)> {
    let mut cells = row.split_ascii_whitespace();
    let share = cells.next()?;
    let count = cells.nth(2)?;
    let name = cells.next().filter(|_| share.starts_with("0."))?;
    (cells.next().is_none() && name.starts_with(|sign: char| sign.is_ascii_alphabetic()))
        .then_some((name, count))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use std::fmt::Write as _;

    use crate::input::Exit;
    use crate::tested::unmarked as terminal;

    #[test]
    fn slow_and_failed_calls_have_rows_and_all_others_their_numbers() {
        let mut text = String::from("oak grows\n");
        text.push_str("% time     seconds  usecs/call     calls    errors syscall\n");
        text.push_str("------ ----------- ----------- --------- --------- ----------------\n");
        text.push_str(" 93.10    0.001200          17        68        13 openat\n");
        for call in 0..20 {
            let _ = writeln!(
                text,
                "  0.30    0.000001           0        {call:2}           call_{call}"
            );
        }
        text.push_str("  0.00    0.000000           0         2         2 access\n");
        text.push_str("------ ----------- ----------- --------- --------- ----------------\n");
        text.push_str("100.00    0.001288                   349        18 total\n");
        let reduced = terminal::reduce(&text, Some("strace -c oak"), Exit::Success, usize::MAX)
            .unwrap()
            .0;
        for fact in [
            "oak grows\n% time seconds usecs/call calls errors syscall\n",
            "\n93.10 0.001200 17 68 13 openat\n0.00 0.000000 0 2 2 access\n",
            "\n0 call_0 1 call_1 ",
            "\n100.00 0.001288 349 18 total\n",
        ] {
            assert!(reduced.contains(fact), "{fact}: {reduced}");
        }
    }
}
