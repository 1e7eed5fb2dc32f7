//! Ranges of numbered names from which every name can be reconstructed: `part_3.o … part_40.o (38)`.

const GAP: &str = " \u{2026} ";

/// How many names the ranges in `row` stand for besides their first and last ones, if no number is missing.
pub(super) fn names_between(row: &str) -> usize {
    let mut names = 0;
    let mut rest = row;
    while let Some((before, behind)) = rest.split_once(GAP) {
        names += run(before, behind).unwrap_or(0);
        rest = behind;
    }
    names
}

fn run(before: &str, behind: &str) -> Option<usize> {
    let (last, rest) = behind.split_once(" (")?;
    let count: usize = rest.split_once(')')?.0.parse().ok()?;
    let first = before;
    let first = first.rsplit([' ', '\t', '/', ':']).next()?;
    let last = last.rsplit(['\t', '/']).next()?;
    let same = first
        .bytes()
        .zip(last.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let digits_before = first.as_bytes().get(..same)?.iter().rev();
    let start = same
        - digits_before
            .take_while(|byte| byte.is_ascii_digit())
            .count();
    let number = |name: &str| {
        let digits = name.get(start..)?;
        let end = digits.bytes().take_while(u8::is_ascii_digit).count();
        let value: usize = digits.get(..end)?.parse().ok()?;
        Some((value, digits.get(end..)?.to_owned()))
    };
    let ((from, from_rest), (to, to_rest)) = (number(first)?, number(last)?);
    let is_whole = from_rest == to_rest && to.checked_sub(from)? + 1 == count;
    (is_whole && count > 2).then(|| count - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_all_its_numbers_stands_for_all_its_names() {
        for (row, names) in [
            ("part_3.o … part_40.o (38)", 36),
            ("src: part_08.o … part_12.o (5) oak.o", 3),
            ("\tdir/part_1 … part_7 (7)", 5),
            ("a1 … a3 (3) b10.c … b19.c (10)", 9),
            ("part_3.o … part_41.o (38)", 0),
            ("oak.o … elm.o (12)", 0),
            ("oak … 5 more", 0),
            ("", 0),
        ] {
            assert_eq!(names_between(row), names, "{row}");
        }
    }
}
