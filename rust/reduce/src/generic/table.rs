//! Rows of tables, each of which describes something different.

use super::kind::{Kind, is_row_count};
use crate::line::fingerprint::{fingerprint, mixed};

/// In inputs up to this size, rows of numbers are shown individually.
const NUMBERS_BYTES: usize = 4_000;
/// The same for rows with several columns of numbers.
const TABLE_BYTES: usize = 8_000;
/// The same for items of checklists.
const TICKED_BYTES: usize = 16_000;
/// The same for rows identified by a hash: commits, containers.
const HASHED_BYTES: usize = 10_000;
/// A hash must be among this many first words of a line.
const HASH_WORDS: usize = 5;

/// A table whose header is underlined by a ruler with crossings: `----+------`, `├──┼──┤`.
#[derive(Default)]
pub(super) struct Table {
    open: bool,
}

impl Table {
    /// Whether `line` is a row below such a ruler, which looks like source text or like a plain line.
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

/// The most blocks whose first lines are distinguished.
const BLOCKS: usize = 40;

/// Blocks separated by blank lines: indented lines belong to the first line of their block.
pub(super) struct Blocks {
    apart: bool,
    are_few: bool,
}

impl Blocks {
    pub(super) fn of(text: &str) -> Self {
        let blank = memchr::memmem::find_iter(text.as_bytes(), b"\n\n");
        Self {
            apart: false,
            are_few: blank.take(BLOCKS + 1).count() <= BLOCKS,
        }
    }

    /// Whether `line` is the first of one of few blocks, so that it is kept with what is below it.
    pub(super) fn begin(&mut self, line: &str) -> bool {
        let apart = std::mem::replace(&mut self.apart, line.is_empty());
        let is_indented = matches!(line.as_bytes().first(), None | Some(b' ' | b'\t'));
        self.are_few && apart && !is_indented
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

/// A key that is equal for equal lines, except for checklist items, which may be in different lists.
pub(super) fn exact(line: &str, number: usize) -> u64 {
    let print = fingerprint(line);
    if is_ticked(line) {
        mixed(print, number as u64)
    } else {
        print
    }
}

/// Whether `line`, in an input of this many `bytes`, describes something different from lines that differ only in
/// numbers.
pub(super) fn is_told_apart(line: &str, bytes: usize) -> bool {
    bytes <= TICKED_BYTES && is_ticked(line)
        || bytes <= NUMBERS_BYTES && is_numbers(line)
        || bytes <= TABLE_BYTES && is_row_of_numbers(line)
        || bytes <= HASHED_BYTES && is_named_by_hash(line)
        || is_row_count(line)
}

/// Whether `line` is an item of a checklist: ` [X] 0001_initial`.
fn is_ticked(line: &str) -> bool {
    let item = line.as_bytes().trim_ascii_start();
    matches!(item, [b'[', b'x' | b'X' | b' ', b']', b' ', _, ..])
}

/// Whether one of the first words of `line` is an abbreviated hash: `< 19fb42c Prune oak 7`, `19fb42c|Ann|Prune oak 7`.
fn is_named_by_hash(line: &str) -> bool {
    const SHORTEST: usize = 7;
    const LONGEST: usize = 40;
    let is_hash = |word: &str| {
        let word = word.split(['|', ',', ';']).next().unwrap_or_default();
        (SHORTEST..=LONGEST).contains(&word.len())
            && word
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    line.split_ascii_whitespace().take(HASH_WORDS).any(is_hash)
}

/// Whether `line` contains no letter.
fn is_numbers(line: &str) -> bool {
    !line
        .bytes()
        .any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
}

/// Whether `line` is a row with several columns of numbers. Each row describes something different, and names may
/// differ only in a digit.
fn is_row_of_numbers(line: &str) -> bool {
    let columns = line.trim_start().split("  ").skip(1);
    let is_number = |column: &str| {
        let column = column.trim();
        column.starts_with(|sign: char| sign.is_ascii_digit())
            && !column.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    columns.filter(|column| is_number(column)).count() >= 3
}

/// Whether `text` is a row of a profile: numbers, one of them a percentage, and a function with any name.
pub(super) fn is_row_of_shares(text: &str) -> bool {
    const NUMBERS: usize = 3;
    let is_number = |word: &&str| {
        let digits = word.trim_end_matches(['%', 'm', 's']);
        !digits.is_empty()
            && digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let numbers = || {
        text.split_ascii_whitespace()
            .take(NUMBERS)
            .take_while(is_number)
    };
    memchr::memchr(b'%', text.as_bytes()).is_some()
        && numbers().count() >= 2
        && numbers().any(|word| word.ends_with('%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hash_names_is_told_apart_in_a_short_text() {
        for row in [
            "19fb42c|Ann|Prune oak 7",
            "< 19fb42c Prune oak 7",
            " -:  ------- > 20:  19fb42c Prune oak 7",
        ] {
            assert!(is_told_apart(row, 900), "{row}");
            assert!(!is_told_apart(row, 90_000), "{row}");
        }
        for row in [
            "a1b2c3d4e5f6: Pull complete",
            "effaced oak 7",
            "1234567 leaves",
        ] {
            assert!(!is_told_apart(row, 900), "{row}");
        }
    }

    #[test]
    fn rows_of_profiles_have_a_share_among_their_first_numbers() {
        for row in [
            "28    3.6%    5.2%  leaf_error@@OAK_2.2",
            "457   58.9%  UNKNOWN",
            "10ms 10% 10%  50ms oak.Grow",
        ] {
            assert!(is_row_of_shares(row), "{row}");
        }
        for line in [
            "45% of oak.c:3:4",
            "3 failed at 10% of oak",
            "12:5  error  100% wrong",
        ] {
            assert!(!is_row_of_shares(line), "{line}");
        }
    }
}
