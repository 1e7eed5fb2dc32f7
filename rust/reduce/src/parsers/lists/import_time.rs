//! What `python -X importtime` shows: how long each module took, alone and with all that it imports.

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::output::Output;
use crate::rows::unknown::Unknown;

pub(crate) const FAMILY: Family = Family {
    name: "import time",
    runs: |_| false,
    marks: Marks::OneOf(&[&["\nimport time: "]]),
    recognises,
    reduce,
};

const BEGINNING: &str = "import time: ";
/// Fewer rows prove nothing and stay.
const FEW_ROWS: usize = 40;
/// This many modules that took longest alone are shown, and this many with all that they import.
const SLOWEST_ALONE: usize = 16;
const SLOWEST: usize = 24;
/// Many may have taken as long as the last of them.
const MOST_ROWS: usize = 120;

fn recognises(input: &Input<'_>) -> Match {
    if input.beginning().filter_map(row).nth(FEW_ROWS).is_some() {
        Match::Certain
    } else {
        Match::No
    }
}

/// The microseconds of a module alone, and with all that it imports.
fn row(line: &str) -> Option<(u64, u64)> {
    let mut columns = line.strip_prefix(BEGINNING)?.split('|');
    let mut next = || columns.next()?.trim().parse().ok();
    Some((next()?, next()?))
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if output.asked_lines() > 0 {
        // A stage behind it chose the rows.
        output.stays();
        return;
    }
    let mut times: (Vec<u64>, Vec<u64>) = input.lines().filter_map(row).unzip();
    let least = (
        nth_longest(&mut times.0, SLOWEST_ALONE),
        nth_longest(&mut times.1, SLOWEST),
    );
    let mut unknown = Unknown::default();
    let mut left = MOST_ROWS;
    for line in input.lines() {
        match row(line) {
            Some((alone, all)) if left > 0 && (alone >= least.0 || all >= least.1) => {
                left -= 1;
                output.fact(line.trim_end());
            }
            Some(_) => {}
            None if line.starts_with(BEGINNING) => output.fact(line.trim_end()),
            None => unknown.push(line),
        }
    }
    unknown.write(output);
}

/// The time that this many of `times` are not below.
fn nth_longest(times: &mut [u64], count: usize) -> u64 {
    times.sort_unstable_by(|one, other| other.cmp(one));
    times.get(count.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;
    use crate::tested::reduced;

    #[test]
    fn the_slowest_modules_are_told_in_their_order() {
        let rows: String = (0..300)
            .map(|number| match number {
                150 => "import time:     90210 |      90400 |   oak.leaf\n".to_owned(),
                _ => format!(
                    "import time:       {number:03} |        {number:03} |     elm_{number}\n"
                ),
            })
            .collect();
        let text = format!(
            "import time: self [us] | cumulative | imported package\n{rows}import time:       28 |     193210 | oak\nleaves: 7\n"
        );
        let told = reduced(&FAMILY, &text, "python -X importtime -c x", Exit::Success);
        assert!(
            told.starts_with(
                "import time: self [us] | cumulative | imported package\nimport time:     90210 |"
            ),
            "{told}"
        );
        assert!(
            told.contains("\nimport time:       28 |     193210 | oak\nleaves: 7\n"),
            "{told}"
        );
        assert!(
            told.contains("elm_299") && !told.contains("elm_12\n"),
            "{told}"
        );
        assert!(told.lines().count() < 50, "{told}");
    }
}
