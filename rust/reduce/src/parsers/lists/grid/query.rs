//! Answers of a database as its shell draws them: rows between bars, in a box, or in columns.
//!
//! ```text
//!  id |  name  | tons
//! ----+--------+------
//!   1 | ship 1 |  1.5
//! (1 row)
//! ```
//!
//! Rows that are not drawn, `1|ship 1|1.5`, are shown as they are.

use std::collections::VecDeque;

use super::LINE_CHARS;
use super::states::States;
use crate::input::Input;
use crate::line::{is_bad, shorten};
use crate::output::Output;

/// Up to this many rows of a table are all shown; of a longer one the first, the last and the unusual ones.
const ROWS: usize = 400;
const FIRST_ROWS: usize = 60;
const LAST_ROWS: usize = 10;
/// This many rows that are not drawn are known as rows.
const BARE_ROWS: usize = 8;
/// Lines that are in no table, and those of them that report something bad beyond these.
const OTHER_LINES: usize = 60;
const BAD_LINES: usize = 60;

/// Whether a shell of a database ran.
pub(super) fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "psql" | "sqlite3" | "mysql" | "mariadb" | "duckdb"
    )
}

/// Whether a table is drawn in the beginning.
pub(super) fn is_drawn(input: &Input<'_>) -> bool {
    input.beginning().any(is_ruler)
}

/// What is between the cells of rows that are not drawn: as often in each of most lines.
pub(super) fn separator(input: &Input<'_>) -> Option<char> {
    ['|', '\t', ','].into_iter().find(|separator| {
        let lines = input.beginning().filter(|line| !line.trim().is_empty());
        let counts: Vec<usize> = lines.map(|line| line.matches(*separator).count()).collect();
        let first = counts.first().copied().unwrap_or_default();
        let alike = counts.iter().filter(|count| **count == first).count();
        first > 0 && alike >= BARE_ROWS && alike * 10 > counts.len() * 9
    })
}

/// A line of nothing but bars, with a bar that is long: it divides a table.
fn is_ruler(line: &str) -> bool {
    let text = line.trim();
    let drawn = |sign: char| {
        matches!(
            sign,
            '-' | '+' | '|' | '=' | ' ' | ':' | '\u{2500}'..='\u{257f}'
        )
    };
    text.starts_with([
        '-', '+', '|', '\u{250c}', '\u{251c}', '\u{2514}', '\u{256d}',
    ]) && text.chars().all(drawn)
        && (text.contains("---") || text.contains("\u{2500}\u{2500}"))
}

/// The cells of a row between bars.
fn cells(line: &str) -> Option<impl Iterator<Item = &str>> {
    let text = line.trim();
    let bar = if text.contains('\u{2502}') {
        '\u{2502}'
    } else {
        '|'
    };
    let spaced = text.starts_with(bar) || text.contains(" | ") || text.ends_with(" |");
    (spaced && text.contains(bar)).then(|| text.trim_matches(bar).split(bar).map(str::trim))
}

/// What is read of the answers.
#[derive(Default)]
struct Reader<'a> {
    /// The first rows of the table that is read, its heading first, the last ones, and how many it has.
    rows: Vec<&'a str>,
    last: VecDeque<&'a str>,
    all: usize,
    states: States<'a>,
    /// Whether its columns are beside each other without bars.
    in_columns: bool,
    /// Where the columns begin.
    starts: Vec<usize>,
    /// What is between cells that are not drawn.
    separator: Option<char>,
    others: usize,
    bad: usize,
}

pub(super) fn reduce(input: &Input<'_>, separator: Option<char>, output: &mut Output) {
    let mut reader = Reader {
        separator,
        ..Reader::default()
    };
    let mut lines = input.lines().peekable();
    while let Some(line) = lines.next() {
        let heads_columns = lines.peek().is_some_and(|next| is_columns_ruler(next));
        reader.line(line, heads_columns, output);
    }
    reader.close(output);
}

/// `---  -----  ---` under the heading of columns.
fn is_columns_ruler(line: &str) -> bool {
    let text = line.trim_end();
    text.starts_with("--") && text.bytes().all(|byte| matches!(byte, b'-' | b' '))
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str, heads_columns: bool, output: &mut Output) {
        if is_ruler(line) {
            if self.in_columns && is_columns_ruler(line) {
                self.starts = columns(line);
            }
            return;
        }
        if line.trim().is_empty() {
            return self.close(output);
        }
        let is_cells = match self.separator {
            Some(separator) => line.contains(separator) && !starts_a_message(line),
            None => cells(line).is_some(),
        };
        if heads_columns && !is_cells {
            self.close(output);
            self.in_columns = true;
        } else if self.in_columns && (is_bad(line) || starts_a_message(line)) {
            self.close(output);
        }
        if is_cells || self.in_columns {
            return self.row(line);
        }
        self.close(output);
        self.other(line, output);
    }

    fn row(&mut self, line: &'a str) {
        if self.all > 0 {
            // After the heading.
            match self.separator {
                _ if self.in_columns => {
                    let cells = (0..self.starts.len()).map(|at| cell(line, &self.starts, at));
                    self.states.add(line, self.all, cells);
                }
                Some(separator) => self.states.add(line, self.all, line.split(separator)),
                None => {
                    if let Some(cells) = cells(line) {
                        self.states.add(line, self.all, cells);
                    }
                }
            }
        }
        self.all += 1;
        if self.rows.len() < ROWS {
            self.rows.push(line);
            return;
        }
        if self.last.len() == LAST_ROWS {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    fn other(&mut self, line: &str, output: &mut Output) {
        let text = line.trim_end();
        if is_bad(text) || starts_a_message(text) {
            output.failed();
            self.bad += 1;
            if self.bad <= BAD_LINES {
                output.fact(&shorten(text, LINE_CHARS));
            }
        } else {
            self.others += 1;
            if self.others <= OTHER_LINES || text.starts_with('(') {
                output.fact(&shorten(text, LINE_CHARS));
            }
        }
    }

    /// Writes the rows of the table.
    fn close(&mut self, output: &mut Output) {
        let in_columns = self.in_columns;
        let is_bare = self.separator.is_some();
        let write = |row: &str, output: &mut Output| {
            if is_bare {
                output.fact(&shorten(row, LINE_CHARS));
            } else {
                output.fact(&shorten(&packed(row, in_columns), LINE_CHARS));
            }
        };
        let shown = if self.all > ROWS { FIRST_ROWS } else { ROWS };
        for row in self.rows.iter().take(shown) {
            write(row, output);
        }
        if self.all > ROWS {
            let (mut next, end) = (FIRST_ROWS, self.all - self.last.len());
            for (number, row) in self.states.odd(self.all) {
                if (next..end).contains(&number) {
                    output.gap(number - next);
                    write(row, output);
                    next = number + 1;
                }
            }
            output.gap(end - next);
        }
        for row in self.last.drain(..) {
            write(row, output);
        }
        self.rows.clear();
        self.states = States::default();
        self.all = 0;
        self.in_columns = false;
        self.starts.clear();
    }
}

/// Where the columns begin over which `ruler` draws its lines.
fn columns(ruler: &str) -> Vec<usize> {
    let mut before = ' ';
    let begins = |(at, sign): (usize, char)| {
        let is_first = sign == '-' && std::mem::replace(&mut before, sign) == ' ';
        before = sign;
        is_first.then_some(at)
    };
    ruler.char_indices().filter_map(begins).collect()
}

/// What `row` has in a column.
fn cell<'a>(row: &'a str, starts: &[usize], at: usize) -> &'a str {
    // Columns are counted in characters; a ruler has one byte for each.
    let offset = |column: &usize| {
        row.char_indices()
            .nth(*column)
            .map_or(row.len(), |(offset, _)| offset)
    };
    let start = starts.get(at).map_or(row.len(), offset);
    let end = starts.get(at + 1).map_or(row.len(), offset);
    row.get(start..end).unwrap_or_default().trim()
}

/// Whether a line without bars is what the shell states about a statement, not a row.
fn starts_a_message(line: &str) -> bool {
    line.starts_with("Error") || line.starts_with("ERROR") || line.starts_with("psql:")
}

/// A row without its padding.
fn packed(row: &str, in_columns: bool) -> String {
    let mut packed = String::with_capacity(row.len());
    let mut is_first = true;
    let mut push = |cell: &str, bar: &str| {
        if !std::mem::take(&mut is_first) {
            packed.push_str(bar);
        }
        packed.push_str(cell);
    };
    match cells(row) {
        Some(cells) if !in_columns => cells.for_each(|cell| push(cell, " | ")),
        _ => row
            .split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .for_each(|cell| push(cell, "  ")),
    }
    packed
}
