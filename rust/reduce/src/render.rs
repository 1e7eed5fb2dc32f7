//! Writes the shown spans in the order of the source, with a mark at each gap and the account at the end.

use std::fmt::Write as _;

use ethos_registry_core::find_text::FindText as _;

use crate::cells::Cells;
use crate::fit::Rows;
use crate::folds::{Fold, Folds};
use crate::gap::{ACCOUNTED, PIECES_END, PIECES_START, mark, short_gap};
use crate::row::{HINT, Width, row};
use crate::source::{Kind, Source, Span};

/// The text of the rows.
pub(crate) fn render(source: &Source<'_>, rows: &Rows, folds: &Folds, width: Width) -> String {
    let mut writer = Writer {
        source,
        width,
        text: String::new(),
        covered: 0,
        left_chars: 0,
        next: 0,
        is_cut: false,
        is_listed: Cells::new(source.lines.len()),
    };
    let mut before = 0;
    for (number, folded) in rows {
        writer.gap(before, *number);
        writer.line(*number);
        writer.folded(folded, folds);
        before = number + 1;
    }
    writer.gap(before, source.lines.len());
    writer.end()
}

struct Writer<'s, 'a> {
    source: &'s Source<'a>,
    width: Width,
    text: String,
    /// The lines that are shown or folded, each counted once.
    covered: usize,
    /// Characters that are left out of lines that are shown in pieces.
    left_chars: usize,
    /// The number of the first line behind the last that is covered.
    next: usize,
    is_cut: bool,
    /// Lines that are listed below a row above them.
    is_listed: Cells<bool>,
}

impl Writer<'_, '_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn line(&mut self, number: usize) {
        let line = &self.source.lines[number];
        let row = row(self.source, line, self.width);
        self.is_cut |= row.is_cut;
        self.push(&row.text);
        self.cover(line.number);
    }

    /// Counts a line, if it is not that of a piece before.
    fn cover(&mut self, number: usize) {
        if number >= self.next {
            self.covered += 1;
            self.next = number + 1;
        }
    }

    /// Marks the lines between two rows but those that are listed above. A gap that is shorter than its mark is shown.
    fn gap(&mut self, from: usize, to: usize) {
        let source = self.source;
        let inner: Vec<usize> = (from..to)
            .filter(|number| !self.is_listed[*number])
            .collect();
        let folded = to - from - inner.len();
        self.pieces(&inner, from, to);
        let end = if to < source.lines.len() {
            source.lines[to].number
        } else {
            source.total
        };
        let start = if from == 0 {
            0
        } else {
            source.lines[from - 1].number + 1
        };
        let lines = end.saturating_sub(start).saturating_sub(folded);
        self.covered += folded.min(end.saturating_sub(start));
        if lines == 0 {
            return;
        }
        let is_filled = |number: &usize| source.lines[*number].kind != Kind::Blank;
        if short_gap(source, inner.iter().copied(), lines).is_some() {
            for number in inner.into_iter().filter(is_filled) {
                self.line(number);
            }
        } else if inner.len() < lines || inner.iter().any(is_filled) {
            self.push(&mark(lines));
        }
        self.next = self.next.max(end);
    }

    /// Marks the pieces that are left out of a line with others that are shown.
    fn pieces(&mut self, inner: &[usize], from: usize, to: usize) {
        let source = self.source;
        let shown = |number: Option<usize>| number.map(|number| source.lines[number].number);
        let before = shown(from.checked_sub(1));
        let after = shown(Some(to).filter(|to| *to < source.lines.len()));
        let is_left = |number: &&usize| {
            let line = &source.lines[**number];
            line.is_piece && (Some(line.number) == before || Some(line.number) == after)
        };
        let left: Vec<usize> = inner.iter().filter(is_left).copied().collect();
        let mut chars = 0;
        for group in
            left.chunk_by(|one, other| source.lines[*one].number == source.lines[*other].number)
        {
            let (Some(first), Some(last)) = (group.first(), group.last()) else {
                continue;
            };
            // The blanks and the escaped line ends between pieces are left out too.
            let number = source.lines[*first].number;
            let edge =
                |near: Option<usize>| near.filter(|near| source.lines[*near].number == number);
            let start = edge(from.checked_sub(1)).map_or(source.lines[*first].span.start, |near| {
                source.lines[near].span.end
            });
            let end = edge(Some(to).filter(|to| *to < source.lines.len()))
                .map_or(source.lines[*last].span.end, |near| {
                    source.lines[near].span.start
                });
            chars += source.slice(Span::new(start, end)).char_count();
        }
        if chars > 0 {
            self.left_chars += chars;
            let mark = format!("{PIECES_START}{chars}{PIECES_END}");
            self.push(&mark);
        }
    }

    fn folded(&mut self, folded: &[usize], folds: &Folds) {
        let mut label: Option<Fold> = None;
        for number in folded {
            let Some((_, key, fold)) = folds.get(number) else {
                continue;
            };
            if label != Some(*fold) {
                self.text.push_str(fold.label());
                label = Some(*fold);
            }
            let words = [key.before, key.name].map(|span| self.source.slice(span));
            for word in words.into_iter().filter(|word| !word.is_empty()) {
                self.text.push(' ');
                self.text.push_str(word);
            }
            self.is_listed[*number] = true;
        }
        if label.is_some() {
            self.text.push('\n');
        }
    }

    /// The text with the hint and the account.
    fn end(mut self) -> String {
        if self.is_cut {
            self.push(HINT);
        }
        let (left, total) = (
            self.source.total.saturating_sub(self.covered),
            self.source.total,
        );
        if left > 0 {
            let written = write!(self.text, "[{left} of {total}{ACCOUNTED}");
            debug_assert!(written.is_ok(), "a string takes all text");
        } else if self.text.ends_with('\n') {
            self.text.pop();
        }
        self.text
    }
}
