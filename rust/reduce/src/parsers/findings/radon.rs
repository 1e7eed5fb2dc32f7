//! How complex functions are, as radon shows it: a path, and below it a row a function.
//!
//! ```text
//! src/oak.py
//!     M 37:4 Oak.grow - B (9)
//! ```

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;

pub(crate) const FAMILY: Family = Family {
    name: "radon",
    runs: |input| matches!(input.program(), "radon" | "xenon"),
    marks: Marks::Never,
    recognises,
    reduce,
};

const LINE_CHARS: usize = 240;
/// Fewer functions are all shown.
const FEW: usize = 30;
/// Where this many ways lead through a function, nothing is to be shown of it.
const FEW_WAYS: u32 = 3;

fn recognises(input: &Input<'_>) -> Match {
    let rows = input.beginning().filter(|line| rank(line).is_some());
    if rows.take(2).count() > 1 {
        Match::Likely
    } else {
        Match::No
    }
}

/// The rank of a function, method or class, from A to F, and how many ways lead through it where that is
/// shown: B and 9 of `    M 37:4 Oak.grow - B (9)`.
fn rank(line: &str) -> Option<(u8, Option<u32>)> {
    let (head, number) = line.as_bytes().split_first_chunk::<7>()?;
    let is_row =
        head.starts_with(b"    ") && matches!(head, [.., b'F' | b'M' | b'C', b' ', b'0'..=b'9']);
    let (text, ways) = match number.strip_suffix(b")") {
        Some(text) if is_row => {
            let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit());
            let number = text.get(text.len() - digits.count()..)?;
            let ways = number
                .iter()
                .take(9)
                .fold(0, |ways, digit| ways * 10 + u32::from(digit - b'0'));
            (text.strip_suffix(number)?.strip_suffix(b" (")?, Some(ways))
        }
        _ => (number, None),
    };
    match text {
        [.., b' ', b'-', b' ', rank @ b'A'..=b'F'] if is_row => Some((*rank, ways)),
        _ => None,
    }
}

/// Beside functions that are not simple those that are go; of a file of simple ones the first of the most
/// complex stays, unless few ways lead through it.
fn reduce(input: &Input<'_>, output: &mut Output) {
    let (mut rows, mut worst) = (0, b'A');
    for (rank, _) in input.lines().filter_map(rank) {
        rows += 1;
        worst = worst.max(rank);
        if rows > FEW && worst > b'A' {
            break;
        }
    }
    let keeps_all = rows <= FEW || worst == b'A';
    let mut simple: Option<(u32, &str)> = None;
    let mut has_worse = false;
    for line in input.lines() {
        let rank = rank(line);
        if let Some((b'A', ways)) = rank
            && !keeps_all
        {
            let ways = ways.unwrap_or(FEW_WAYS + 1);
            if simple.is_none_or(|(most, _)| ways > most) {
                simple = Some((ways, line));
            }
            continue;
        }
        if rank.is_some() {
            has_worse = true;
        } else {
            close(simple.take().filter(|_| !has_worse), output);
            has_worse = false;
        }
        if !line.is_empty() {
            output.fact(&shorten(line.trim(), LINE_CHARS));
        }
    }
    close(simple.filter(|_| !has_worse), output);
}

fn close(simple: Option<(u32, &str)>, output: &mut Output) {
    if let Some((_, row)) = simple.filter(|(ways, _)| *ways > FEW_WAYS) {
        output.fact(&shorten(row.trim(), LINE_CHARS));
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::input::Exit;
    use crate::pipeline::terminal;

    fn report(simple: usize) -> String {
        let mut text =
            String::from("src/oak.py\n    M 37:4 Oak.grow - C (14)\n    F 1:0 leaf - B (7)\n");
        for row in 0..simple {
            let _ = writeln!(text, "    M {row}:4 Oak.simple_thing_{row} - A (1)");
        }
        text + "src/elm.py\n    F 9:0 bark - A (3)\nsrc/ash.py\n    F 9:0 seed - A (4)\n    F 4:0 twig - A (1)\n\n112 blocks (classes, functions, methods) analyzed.\n\
                Average complexity: A (2.5)\n"
    }

    fn reduced(text: &str) -> String {
        terminal::reduce(text, Some("radon cc -s -a src"), Exit::Success, usize::MAX)
            .map_or_else(|| text.to_owned(), |(reduced, _)| reduced)
    }

    #[test]
    fn simple_functions_go_where_others_are_not() {
        assert_eq!(
            reduced(&report(60)),
            "src/oak.py\nM 37:4 Oak.grow - C (14)\nF 1:0 leaf - B (7)\n[60 lines left out]\n\
            src/elm.py\n    F 9:0 bark - A (3)\nsrc/ash.py\nF 9:0 seed - A (4)\n    F 4:0 twig - A (1)\n\
            112 blocks (classes, functions, methods) analyzed.\nAverage complexity: A (2.5)\n\
            [61 of 71 lines left out]"
        );
    }

    #[test]
    fn where_all_are_simple_all_are_told() {
        let text = report(60)
            .replace("- C (14)", "- A (4)")
            .replace("- B (7)", "- A (4)");
        let short = reduced(&text);
        assert!(
            short.contains("M 59:4 Oak.simple_thing_59 - A (1)\n"),
            "{short}"
        );
    }
}
