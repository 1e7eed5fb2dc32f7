//! One line with carriage returns, backspaces and cursor movements, as a terminal shows it.

use std::ops::Range;

/// Columns from one tab stop to the next.
const TAB_COLUMNS: usize = 8;
/// Movements to the right beyond this column are not followed.
const MAX_COLUMNS: usize = 4_096;
/// No terminal has more columns.
const WIDEST_COLUMNS: usize = 1_024;
const BLANK: Cell = Cell { start: 0, end: 0 };
/// The second column of a wide character.
const SECOND_HALF: Cell = Cell { start: 1, end: 1 };

/// A column: which bytes of the line it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    start: usize,
    end: usize,
}

/// Whether `sequence` changes only the line that the cursor is in: it moves the cursor left or right, or
/// erases or shifts characters.
pub(super) fn edits_line(sequence: &str) -> bool {
    sequence == "\u{8}"
        || parameters(sequence).is_some_and(|(_, last)| {
            matches!(last, b'C' | b'D' | b'G' | b'`' | b'K' | b'X' | b'P' | b'@')
        })
}

/// The parameters and the final byte of a control sequence.
fn parameters(sequence: &str) -> Option<(&str, u8)> {
    let body = sequence
        .strip_prefix("\u{1b}[")
        .or_else(|| sequence.strip_prefix('\u{9b}'))?;
    let last = *body.as_bytes().last()?;
    Some((body.get(..body.len() - 1)?, last))
}

/// `line` after all its carriage returns, backspaces, tabs and line-editing sequences were applied. Other
/// escape sequences must be removed before.
///
/// A carriage return moves the cursor to the first column and a backspace one column to the left; neither
/// erases anything, and characters that follow replace those that were there. A line that is wider than any
/// terminal has wrapped: a carriage return begins a new line below it.
pub(super) fn overwritten(line: &str) -> String {
    let mut wrapped = String::new();
    let mut row = Row {
        line,
        cells: Vec::new(),
        cursor: 0,
    };
    let mut at = 0;
    while let Some(character) = line.get(at..).and_then(|rest| rest.chars().next()) {
        let end = at + character.len_utf8();
        at = match character {
            '\r' => {
                if row.cells.len() > WIDEST_COLUMNS {
                    wrapped.push_str(&row.text());
                    wrapped.push('\n');
                    row.cells.clear();
                }
                row.cursor = 0;
                end
            }
            '\u{8}' => {
                row.cursor = row.cursor.saturating_sub(1);
                end
            }
            '\t' => {
                row.cursor = (row.cursor / TAB_COLUMNS + 1) * TAB_COLUMNS;
                end
            }
            '\u{1b}' | '\u{9b}' => {
                let end = super::escape::escape_end(line.as_bytes(), at);
                row.edit(line.get(at..end).unwrap_or_default());
                end.max(at + character.len_utf8())
            }
            _ => {
                row.put(at..end, columns(character));
                end
            }
        };
    }
    wrapped + &row.text()
}

struct Row<'a> {
    line: &'a str,
    cells: Vec<Cell>,
    cursor: usize,
}

impl Row<'_> {
    /// Draws the character of those bytes at the cursor.
    fn put(&mut self, bytes: Range<usize>, columns: usize) {
        if columns == 0 {
            self.combine(bytes);
            return;
        }
        self.pad_to(self.cursor);
        let cell = Cell {
            start: bytes.start,
            end: bytes.end,
        };
        self.set(self.cursor, cell);
        self.cursor += 1;
        if columns == 2 {
            self.set(self.cursor, SECOND_HALF);
            self.cursor += 1;
        }
    }

    /// Adds a combining mark to the character before the cursor, if it follows that in the line.
    fn combine(&mut self, bytes: Range<usize>) {
        let mut before = self.cursor.saturating_sub(1);
        if self.cells.get(before) == Some(&SECOND_HALF) {
            before = before.saturating_sub(1);
        }
        if let Some(cell) = self.cells.get_mut(before)
            && cell.end == bytes.start
            && cell.end > cell.start
        {
            cell.end = bytes.end;
        }
    }

    /// Replaces one column. Half a wide character leaves a blank in its other half.
    fn set(&mut self, column: usize, cell: Cell) {
        if self.cells.get(column + 1) == Some(&SECOND_HALF)
            && cell != SECOND_HALF
            && let Some(half) = self.cells.get_mut(column + 1)
        {
            *half = BLANK;
        }
        if self.cells.get(column) == Some(&SECOND_HALF)
            && cell != SECOND_HALF
            && let Some(half) = column.checked_sub(1).and_then(|at| self.cells.get_mut(at))
        {
            *half = BLANK;
        }
        match self.cells.get_mut(column) {
            Some(place) => *place = cell,
            None => self.cells.push(cell),
        }
    }

    fn pad_to(&mut self, columns: usize) {
        if self.cells.len() < columns {
            self.cells.resize(columns, BLANK);
        }
    }

    fn edit(&mut self, sequence: &str) {
        let Some((number, last)) = parameters(sequence) else {
            return;
        };
        let count = number.parse().unwrap_or(1).clamp(1, MAX_COLUMNS);
        let end = self.cells.len();
        match last {
            b'C' => self.cursor = (self.cursor + count).min(MAX_COLUMNS.max(self.cursor)),
            b'D' => self.cursor = self.cursor.saturating_sub(count),
            b'G' | b'`' => self.cursor = count - 1,
            b'K' => match number {
                "" | "0" => self.cells.truncate(self.cursor),
                "1" => self.blank(0..self.cursor + 1),
                "2" => self.cells.clear(),
                _ => {}
            },
            b'X' => self.blank(self.cursor..self.cursor + count),
            b'P' if self.cursor < end => {
                self.cells
                    .drain(self.cursor..(self.cursor + count).min(end));
            }
            b'@' if self.cursor < end => {
                let blanks = std::iter::repeat_n(BLANK, count);
                self.cells.splice(self.cursor..self.cursor, blanks);
            }
            _ => {}
        }
    }

    fn blank(&mut self, columns: Range<usize>) {
        let end = columns.end.min(self.cells.len());
        for column in columns.start..end {
            self.set(column, BLANK);
        }
    }

    fn text(&self) -> String {
        let mut text = String::with_capacity(self.cells.len());
        for cell in &self.cells {
            match *cell {
                BLANK => text.push(' '),
                SECOND_HALF => {}
                Cell { start, end } => text.push_str(self.line.get(start..end).unwrap_or_default()),
            }
        }
        text
    }
}

/// How many columns a terminal gives a character: two for East Asian wide ones and emoji, none for
/// combining marks, joiners and controls.
fn columns(character: char) -> usize {
    match u32::from(character) {
        0..=0x1F
        | 0x7F..=0x9F
        | 0x300..=0x36F
        | 0x483..=0x489
        | 0x591..=0x5BD
        | 0x64B..=0x65F
        | 0x1AB0..=0x1AFF
        | 0x1DC0..=0x1DFF
        | 0x200B..=0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x2064
        | 0x20D0..=0x20FF
        | 0xFE00..=0xFE0F
        | 0xFE20..=0xFE2F
        | 0xFEFF
        | 0xE0100..=0xE01EF => 0,
        0x1100..=0x115F
        | 0x231A..=0x231B
        | 0x23E9..=0x23EC
        | 0x2614..=0x2615
        | 0x2648..=0x2653
        | 0x26AA..=0x26AB
        | 0x26BD..=0x26BE
        | 0x26C4..=0x26C5
        | 0x2705
        | 0x270A..=0x270B
        | 0x2728
        | 0x274C
        | 0x274E
        | 0x2753..=0x2755
        | 0x2757
        | 0x2795..=0x2797
        | 0x2E80..=0x303E
        | 0x3041..=0xA4CF
        | 0xA960..=0xA97F
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F680..=0x1F6FF
        | 0x1F900..=0x1F9FF
        | 0x1FA70..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_replace_those_under_the_cursor() {
        for (raw, shown) in [
            ("abc\u{8}\u{8}X", "aXc"),
            ("abc\u{8}", "abc"),
            ("\u{8}a", "a"),
            ("N\u{8}NA\u{8}A", "NA"),
            ("_\u{8}Na", "Na"),
            ("hello\rHE", "HEllo"),
            ("load: 100%\rdone", "done: 100%"),
            ("load: 100%\r\u{1b}[Kdone", "done"),
            ("abc\r\u{1b}[2Kd", "d"),
            ("abc\u{1b}[1K", "   "),
            ("abcd\u{1b}[2DX", "abXd"),
            ("ab\u{1b}[2CX", "ab  X"),
            ("abc\u{1b}[2GX", "aXc"),
            ("abcd\r\u{1b}[2P", "cd"),
            ("ab\r\u{1b}[2@x", "x ab"),
            ("abc\r\u{1b}[2X", "  c"),
            ("abcdefghij\r\tX", "abcdefghXj"),
            ("a\tb\r", "a       b"),
            ("\u{6f22}\u{5b57}\rab", "ab\u{5b57}"),
            ("\u{6f22}\u{5b57}\ra", "a \u{5b57}"),
            ("\u{6f22}\u{8}a", " a"),
            ("ab\r\u{6f22}", "\u{6f22}"),
            ("cafe\u{301}s\rd", "dafe\u{301}s"),
        ] {
            assert_eq!(overwritten(raw), shown, "{raw:?}");
        }
    }

    #[test]
    fn a_line_that_is_wider_than_any_terminal_is_not_overwritten() {
        let page = "p".repeat(45_056);
        assert_eq!(
            overwritten(&format!("{page}\r100%")),
            format!("{page}\n100%")
        );
    }

    #[test]
    fn no_movement_takes_much_memory() {
        assert!(overwritten(&"\u{1b}[999999C".repeat(9_000)).len() <= MAX_COLUMNS);
        let far = format!("{}x", "\u{1b}[4000C".repeat(9_000));
        assert!(overwritten(&far).len() <= MAX_COLUMNS + 1);
    }
}
