//! How time and memory of the reducers grow with inputs that are made to take long.

pub(crate) mod inputs;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{Write, stderr};
use std::time::Duration;

use crate::case::Case;
use crate::clock::time;
use crate::corpus::Corpus;
use crate::oracle::{Reduced, core};
use inputs::Input;

const TIMES: u32 = 8;
/// Eight times the text may take a little more than eight times as long: caches are not endless.
const MOST_RATIO: f64 = 9.5;
/// What a line or a kilobyte may take, whichever the text has more of.
const MOST_NANOSECONDS: f64 = 10_000.0;
/// Times of less are not known well enough to be compared.
const LEAST_TIME: Duration = Duration::from_millis(40);
const TRIES: usize = 3;

/// What was measured of an input.
struct Growth {
    family: Option<&'static str>,
    small: Duration,
    large: Duration,
    /// For each line or kilobyte of the large text, whichever it has more of.
    nanoseconds: f64,
}

impl Growth {
    fn ratio(&self) -> f64 {
        self.large.as_secs_f64() / self.small.as_secs_f64().max(1e-9)
    }

    fn is_steep(&self) -> bool {
        self.large > LEAST_TIME && self.ratio() > MOST_RATIO
    }

    fn is_slow(&self) -> bool {
        self.nanoseconds > MOST_NANOSECONDS
    }
}

pub(crate) fn case(input: &Input, bytes: usize) -> Case<'_> {
    let mut case = Case::empty();
    case.text = input.text(bytes);
    case.command = Some(Cow::Borrowed(&input.command));
    case.exit_code = input.exit_code;
    case
}

/// The shortest time of one reduction, of some tries of `times` reductions each, and the last result.
pub(crate) fn shortest(case: &Case<'_>, times: u32, tries: usize) -> (Duration, Option<Reduced>) {
    let run = || time(|| (1..times).fold(core(case), |_, _| core(case)));
    let mut best = run();
    for _ in 1..tries {
        let again = run();
        if again.0 < best.0 {
            best = again;
        }
    }
    (best.0 / times, best.1)
}

/// The growth from `bytes` to eight times that number, as the best of `tries` shows it.
fn growth(input: &Input, bytes: usize, tries: usize) -> Growth {
    let small = case(input, bytes);
    let large = case(input, bytes * TIMES as usize);
    // A carriage return or a control sequence ends what is read at once, as a newline does.
    let ends = |byte: &&u8| matches!(**byte, b'\n' | b'\r' | 0x1B | 0x9B);
    let ends = large.text.as_bytes().iter().filter(ends).count();
    let units = ends.max(large.text.len() / 1_024);
    // As much text in both, since a short time is known less well.
    let (small, _) = shortest(&small, TIMES, tries);
    let (large, reduced) = shortest(&large, 1, tries);
    let nanoseconds = large.as_secs_f64() * 1e9;
    Growth {
        family: reduced.and_then(|reduced| reduced.family),
        small,
        large,
        nanoseconds: nanoseconds / f64::from(u32::try_from(units).unwrap_or(u32::MAX)),
    }
}

/// The growth as one try shows it, or some when that is suspicious.
fn measure(input: &Input, bytes: usize) -> Growth {
    let first = growth(input, bytes, 1);
    if first.is_steep() || first.is_slow() {
        growth(input, bytes, TRIES)
    } else {
        first
    }
}

/// Measures all inputs at `bytes` and at eight times that number, and shows the worst of each family, and
/// all that is too steep or too slow, as a Markdown table.
pub(crate) fn table(corpus: &Corpus, bytes: usize) -> std::io::Result<String> {
    let mut table = String::from(
        "| family | inputs | reduced by it | steepest | slowest ns | too steep or slow |\n|---|--:|--:|--:|--:|--:|\n",
    );
    let inputs = inputs::all(corpus);
    for inputs in inputs.chunk_by(|one, other| one.family == other.family) {
        let family = inputs.first().map_or("", |input| input.family);
        let (mut own, mut steepest, mut slowest, mut beyond) = (0, 0.0_f64, 0.0_f64, 0);
        for input in inputs {
            let growth = measure(input, bytes);
            own += usize::from(growth.family == Some(family));
            if growth.large > LEAST_TIME {
                steepest = steepest.max(growth.ratio());
            }
            slowest = slowest.max(growth.nanoseconds);
            if growth.is_steep() || growth.is_slow() {
                beyond += 1;
                writeln!(
                    stderr(),
                    "{family} ({}): {}: {:.1} ms, then {:.1} ms: {:.1} times; {:.0} ns a line or KB",
                    growth.family.unwrap_or("none"),
                    input.name,
                    growth.small.as_secs_f64() * 1e3,
                    growth.large.as_secs_f64() * 1e3,
                    growth.ratio(),
                    growth.nanoseconds
                )?;
            }
        }
        let _ = writeln!(
            table,
            "| {family} | {} | {own} | {steepest:.1} | {slowest:.0} | {beyond} |",
            inputs.len()
        );
        writeln!(stderr(), "{family}: {} inputs", inputs.len())?;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::CORPUS;

    /// What is linear takes eight times as long here, and what grows with the square 64 times; a busy
    /// machine and short times need room.
    const TEST_RATIO: f64 = 24.0;

    #[test]
    fn time_does_not_grow_with_the_square() {
        let inputs = inputs::all(&CORPUS);
        let mut measured = 0;
        for inputs in inputs.chunk_by(|one, other| one.family == other.family) {
            // What belongs to no command is read by every family that asks for the content.
            let all = inputs.iter().all(|input| input.command.is_empty());
            let is_output = |input: &Input| !input.is_line && input.name.starts_with("numbered ");
            let chosen = inputs.iter().filter(|input| all || is_output(input));
            for input in chosen.take(if all { usize::MAX } else { 1 }) {
                measured += 1;
                let is_steep = |bytes| growth(input, bytes, 1).ratio() > TEST_RATIO;
                // A short time is easily disturbed; a long one is not measured needlessly.
                assert!(
                    !is_steep(4_096) || !is_steep(32_768) || !is_steep(32_768),
                    "{} ({}) takes much more than eight times as long for eight times as much",
                    input.name,
                    input.family
                );
            }
        }
        assert!(measured > 60, "{measured}");
    }
}
