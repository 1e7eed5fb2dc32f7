//! Rows of a long table that have in a column of few words a word that hardly any other row has.

use crate::line::fingerprint::without_numbers;

/// How many columns are looked at.
const COLUMNS: usize = 40;
/// A column of more different words is not one of states.
const WORDS: usize = 12;
/// A word that is rarer than one row in this many is unusual.
const ODD_SHARE: usize = 50;
/// How many rows are shown at most.
const ROWS: usize = 20;

/// A word in a column: how often it came, and the first row that has it, by its number.
struct Word<'a> {
    key: u64,
    count: usize,
    number: usize,
    row: &'a str,
}

/// The words of each column; of one that has too many none.
#[derive(Default)]
pub(super) struct States<'a> {
    columns: Vec<Option<Vec<Word<'a>>>>,
}

impl<'a> States<'a> {
    /// Takes the cells of `row`.
    pub(super) fn add(
        &mut self,
        row: &'a str,
        number: usize,
        cells: impl Iterator<Item = &'a str>,
    ) {
        for (at, cell) in cells.take(COLUMNS).enumerate() {
            if at == self.columns.len() {
                self.columns.push(Some(Vec::new()));
            }
            let Some(column) = self.columns.get_mut(at) else {
                return;
            };
            let Some(words) = column else {
                continue;
            };
            let key = without_numbers(cell.trim());
            if let Some(known) = words.iter_mut().find(|word| word.key == key) {
                known.count += 1;
            } else if words.len() < WORDS {
                words.push(Word {
                    key,
                    count: 1,
                    number,
                    row,
                });
            } else {
                *column = None;
            }
        }
    }

    /// The first rows with unusual words in a table of `all` rows, with their numbers.
    pub(super) fn odd(&self, all: usize) -> Vec<(usize, &'a str)> {
        let words = self.columns.iter().flatten().flatten();
        let odd = words.filter(|word| word.count * ODD_SHARE <= all);
        let mut rows: Vec<(usize, &str)> = odd.map(|word| (word.number, word.row)).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.truncate(ROWS);
        rows
    }
}
