//! Rows of tables, each of another thing.

use super::kind::Kind;

/// A table whose head is underlined by a ruler with crossings: `----+------`, `├──┼──┤`.
#[derive(Default)]
pub(super) struct Table {
    open: bool,
}

impl Table {
    /// Whether `line` is a row below such a ruler: it looks like source text, or like any other line.
    pub(super) fn holds(&mut self, line: &str, kind: Kind) -> bool {
        if kind == Kind::Noise && is_crossed(line) {
            self.open = true;
            return false;
        }
        self.open =
            self.open && (memchr::memchr(b'|', line.as_bytes()).is_some() || line.contains('│'));
        self.open && matches!(kind, Kind::Noise | Kind::Plain)
    }
}

fn is_crossed(line: &str) -> bool {
    let line = line.trim();
    let crossed = line.contains("-+-") || line.contains(['┼', '╇', '╪', '┿']);
    crossed
        && line
            .chars()
            .all(|sign| matches!(sign, '-' | '+' | '=' | '─'..='╿'))
}

/// Whether `line` holds no letter.
pub(super) fn is_numbers(line: &str) -> bool {
    !line
        .bytes()
        .any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
}

/// Whether `line` is a row of a table with several columns of numbers: each row is of another thing, whose name
/// may differ from others in a digit only.
pub(super) fn is_row_of_numbers(line: &str) -> bool {
    let columns = line.trim_start().split("  ").skip(1);
    let is_number = |column: &str| {
        let column = column.trim();
        column.starts_with(|sign: char| sign.is_ascii_digit())
            && !column.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    columns.filter(|column| is_number(column)).count() >= 3
}
