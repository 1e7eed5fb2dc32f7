//! Tables with a heading: rows in the same state are identified by their names.

use std::borrow::Cow;

use crate::input::Input;
use crate::line;
use crate::output::Output;
use crate::rows::names::{Alike, Fold, side_by_side};
use ethos_registry_core::lines::Lines;

/// Column headings that show the state of a row.
const STATES: [&str; 11] = [
    "STATUS", "STATE", "READY", "LOAD", "ACTIVE", "SUB", "TYPE", "State", "Type", "REASON",
    "MESSAGE",
];
/// Alone it shows what a row is, not how it is.
const KINDS: [&str; 2] = ["TYPE", "Type"];
/// The heading of a column of numbers in which zero means success.
const RESTARTS: &str = "RESTARTS";
/// Headings of columns that name a row, the best one first.
const NAMES: [&str; 2] = ["OBJECT", "NAME"];
/// From this many rows on rows in the same state are identified by their names.
const MANY_ROWS: usize = 20;
/// This many rows in the same state are identified by their names.
const ALIKE_ROWS: usize = 4;
const BY_NUMBERS: Fold = Fold::new(Alike::Numbers, 2);
const STATES_AT_MOST: usize = 256;
const ROW_CHARS: usize = 240;

/// A heading and the rows under it.
pub(super) struct Table<'a> {
    lines: Lines<'a>,
    /// How many lines are before the heading.
    before: usize,
    /// Where its columns begin, in characters.
    columns: Vec<usize>,
    /// The columns with a state, and the column with the name, if there is a heading for it.
    states: Vec<usize>,
    name: Option<usize>,
    restarts: Option<usize>,
}

/// The table that the text is, if it has a heading in its first lines and rows under it.
pub(super) fn read<'a>(input: &Input<'a>) -> Option<Table<'a>> {
    let mut beginning = input.lines().take(6).enumerate();
    let (before, heading) = beginning.find(|(_, line)| is_heading(line))?;
    let words = words_of_heading(heading);
    let of_state = words.iter().enumerate();
    let of_state = of_state.filter(|(_, (_, word))| STATES.contains(word));
    let says_how = of_state.clone().any(|(_, (_, word))| !KINDS.contains(word));
    let states = of_state.filter(|_| says_how).map(|(at, _)| at).collect();
    let mut names = NAMES.iter();
    let name = names.find_map(|name| words.iter().position(|(_, word)| word == name));
    let restarts = words.iter().position(|(_, word)| *word == RESTARTS);
    let columns = words.iter().map(|(at, _)| *at).collect();
    Some(Table {
        lines: input.lines(),
        before,
        columns,
        states,
        name,
        restarts,
    })
}

fn is_heading(line: &str) -> bool {
    let words = words_of_heading(line);
    let capital =
        |word: &str| word.starts_with(|sign: char| sign.is_ascii_uppercase() || sign == '%');
    let upper = |word: &str| !word.bytes().any(|byte| byte.is_ascii_lowercase());
    words.len() >= 3
        && (words.iter().all(|(_, word)| upper(word))
            || (line.contains("  ")
                && words.iter().all(|(_, word)| capital(word))
                && !line.contains('.')))
}

/// The headings of columns and where they begin, in characters. One blank separates words of one
/// heading, more separate columns; where all blanks are single, each separates.
fn words_of_heading(line: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut at = 0;
    let single = !line.trim().contains("  ");
    let separator = if single { " " } else { "  " };
    for part in line.split(separator) {
        let trimmed = part.trim_start();
        if !trimmed.is_empty() {
            words.push((
                at + part.chars().count() - trimmed.chars().count(),
                trimmed.trim_end(),
            ));
        }
        at += part.chars().count() + separator.len();
    }
    words
}

impl Table<'_> {
    pub(super) fn reduce(&self, output: &mut Output) {
        for line in self.lines.clone().take(self.before + 1) {
            if !line.trim().is_empty() {
                output.fact(&packed(line));
            }
        }
        let below = self.lines.clone().skip(self.before + 1);
        let rows = || below.clone().filter(|row| !row.trim().is_empty());
        let many = MANY_ROWS.max(output.asked_lines());
        if self.states.is_empty() || below.clone().take(many).count() < many {
            for row in rows() {
                output.fact(&packed(row));
            }
            return;
        }
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for row in rows() {
            let state = self.state(row);
            let known = groups.iter().position(|(known, _)| *known == state);
            if let Some((_, rows)) = known.and_then(|at| groups.get_mut(at)) {
                rows.push(row);
            } else if groups.len() < STATES_AT_MOST {
                groups.push((state, vec![row]));
            } else {
                output.fact(&packed(row));
            }
        }
        groups.sort_by_key(|(_, rows)| rows.len());
        for (state, rows) in &groups {
            if rows.len() < ALIKE_ROWS || state.is_empty() {
                for row in rows {
                    output.fact(&packed(row));
                }
                continue;
            }
            let names: Vec<&str> = rows.iter().map(|row| self.name(row)).collect();
            let (names, _) = side_by_side(&names, BY_NUMBERS);
            output.summary(&format!("{state}: {names}"), rows.len());
        }
    }

    /// The values of the state columns, without numbers that only grow. Empty if a cell overflows into the next column.
    fn state(&self, row: &str) -> String {
        if !self.is_aligned(row) {
            return String::new();
        }
        let states = self.states.iter().map(|column| {
            let cell = self.cell(row, *column);
            // `Up 3 days` and `Up 4 days` are one state, `Exited (0)` and `Exited (1)` are two.
            let spent = cell
                .split_once(' ')
                .filter(|(_, rest)| rest.starts_with(|sign: char| sign.is_ascii_digit()));
            let Some((state, rest)) = spent else {
                return Cow::Borrowed(cell.split(" ago").next().unwrap_or(cell));
            };
            // How it is follows how long it is so: `Up 3 days (unhealthy)`.
            match rest.find('(').and_then(|at| rest.get(at..)) {
                Some(judged) => Cow::Owned(format!("{state} {judged}")),
                None => Cow::Borrowed(state),
            }
        });
        let restarted = self.restarts.map(|column| self.cell(row, column));
        let restarted = restarted.filter(|times| !times.is_empty() && *times != "0");
        let restarted = restarted.map(|_| Cow::Borrowed("RESTARTS>0"));
        states
            .chain(restarted)
            .filter(|state| !state.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Whether a blank precedes each column of `row`.
    fn is_aligned(&self, row: &str) -> bool {
        let mut signs = row.chars();
        let mut read = 0;
        self.columns
            .iter()
            .filter(|column| **column > 0)
            .all(|column| {
                let before = signs.nth(column - 1 - read);
                read = *column;
                before.is_none_or(|before| before == ' ')
            })
    }

    /// The name of a row: its last column for containers, which begin with a number, else its first.
    fn name<'a>(&self, row: &'a str) -> &'a str {
        let first = self.cell(row, 0);
        let is_id = first.len() == 12 && first.bytes().all(|byte| byte.is_ascii_hexdigit());
        let name = if is_id {
            self.cell(row, self.columns.len() - 1)
        } else {
            self.name.map_or(first, |name| self.cell(row, name))
        };
        name.split(' ').find(|word| word.len() > 1).unwrap_or(name)
    }

    /// What is in a column.
    fn cell<'a>(&self, row: &'a str, column: usize) -> &'a str {
        let position = |chars: usize| {
            row.char_indices()
                .nth(chars)
                .map_or(row.len(), |(at, _)| at)
        };
        let from = self.columns.get(column).map_or(0, |chars| position(*chars));
        let to = self
            .columns
            .get(column + 1)
            .map_or(row.len(), |chars| position(*chars));
        row.get(from..to).unwrap_or_default().trim()
    }
}

/// `row` without padding.
fn packed(row: &str) -> String {
    let mut words = String::with_capacity(row.len());
    for word in row.split_ascii_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    match line::shorten(&words, ROW_CHARS) {
        Cow::Borrowed(_) => words,
        Cow::Owned(short) => short,
    }
}
