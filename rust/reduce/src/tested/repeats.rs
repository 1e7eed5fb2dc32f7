//! Repeated lines of a sample: `%repeat 1..40`, lines with `{n}`, `%end`.
//!
//! The numbers go up or down and include both ends. `{n*3+2}` is computed, `{n:03}` has three digits.

use std::fmt::Write as _;

/// `text` with the repeated lines written out; `None` when they are invalid.
pub(super) fn written_out(text: &str) -> Option<String> {
    let mut written = String::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let Some(range) = line.strip_prefix("%repeat ") else {
            written.push_str(line);
            continue;
        };
        let block: Vec<&str> = lines
            .by_ref()
            .take_while(|line| line.trim_end() != "%end")
            .collect();
        let block = block.concat();
        let (first, last) = range.trim_end().split_once("..")?;
        let (first, last) = (first.parse::<i64>().ok()?, last.parse::<i64>().ok()?);
        let step = if first <= last { 1 } else { -1 };
        for index in 0..=(last - first).abs() {
            written.push_str(&numbered(&block, first + step * index)?);
        }
    }
    Some(written)
}

/// `block` with `number` inserted.
fn numbered(block: &str, number: i64) -> Option<String> {
    let mut parts = block.split("{n");
    let mut written = parts.next()?.to_owned();
    for part in parts {
        let (expression, rest) = part.split_once('}')?;
        let (formula, width) = expression.split_once(':').unwrap_or((expression, "0"));
        let width: usize = width.parse().ok()?;
        let (factor, added) = match formula.strip_prefix('*') {
            Some(formula) => {
                // A leading minus belongs to the factor.
                let mut signs = formula.char_indices().skip(1);
                let sign = signs.find(|(_, sign)| matches!(sign, '+' | '-'));
                formula.split_at(sign.map_or(formula.len(), |(place, _)| place))
            }
            None => ("1", formula),
        };
        let added: i64 = if added.is_empty() {
            0
        } else {
            added.parse().ok()?
        };
        let value = number * factor.parse::<i64>().ok()? + added;
        write!(written, "{value:0width$}{rest}").ok()?;
    }
    Some(written)
}

#[test]
fn lines_are_repeated_with_their_numbers() {
    let text = "head\n%repeat 8..10\nrow {n:02} of {n*2+1} {n-3} {n*-1+11}\n%end\nend";
    assert_eq!(
        written_out(text).as_deref(),
        Some("head\nrow 08 of 17 5 3\nrow 09 of 19 6 2\nrow 10 of 21 7 1\nend")
    );
    let down = written_out("%repeat 2..1\n{n}\n%end\n");
    assert_eq!(down.as_deref(), Some("2\n1\n"));
    assert_eq!(written_out("%repeat 1..x\n{n}\n%end\n"), None);
}
