//! Writes rows with a marker wherever lines are left out.

use super::gap_row;
use super::line_set::LineSet;
use super::marked::{Marked, lines_of};
use super::row::Row;
use super::said::Said;

/// From this many lines without text on, they get a marker.
const MARKED_EMPTY_LINES: usize = 10;
/// A few lines that are not longer than their marker are shown instead of it.
const SHORT_GAP_LINES: usize = 2;
const SHORT_GAP_BYTES: usize = 24;

/// How much is left out in one place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeftOut {
    pub(super) lines: usize,
    /// Rows that show no source line of their own.
    pub(super) rows: usize,
}

impl LeftOut {
    fn mark(self) -> String {
        if self.lines > 0 {
            gap_row(self.lines) + "\n"
        } else {
            let plural = if self.rows == 1 { "" } else { "s" };
            format!("[{} row{plural} left out]\n", self.rows)
        }
    }
}

/// Rows with the marks between them.
pub(super) struct Writer<'w, 'a> {
    marked: &'w Marked<'a>,
    pub(super) text: String,
    pub(super) shown: LineSet,
    /// The number and the offset of the first source line after the last located row.
    line: usize,
    offset: usize,
    /// Markers since then: the offset of each in the text, and how many lines it counts.
    pending: Vec<(usize, LeftOut)>,
    /// Source lines that the rows without a location since then show.
    claimed: usize,
    pub(super) left_out: usize,
}

impl<'w, 'a> Writer<'w, 'a> {
    /// A writer for rows of `marked` that show these lines.
    pub(super) fn of(marked: &'w Marked<'a>, shown: LineSet) -> Self {
        Self {
            marked,
            text: String::new(),
            shown,
            line: 0,
            offset: 0,
            pending: Vec::new(),
            claimed: 0,
            left_out: 0,
        }
    }

    /// Records what is left out here.
    pub(super) fn gap(&mut self, left_out: LeftOut) {
        if left_out.lines + left_out.rows > 0 {
            match self.pending.last_mut() {
                Some((at, last)) if *at == self.text.len() => {
                    last.lines += left_out.lines;
                    last.rows += left_out.rows;
                }
                _ => self.pending.push((self.text.len(), left_out)),
            }
        }
    }

    pub(super) fn row(&mut self, index: usize, text: &str, row: Row, said: Said<'_>) {
        if let Said::Gap(lines) = said {
            self.gap(LeftOut { lines, rows: 0 });
            return;
        }
        let placement = &self.marked.placement;
        let line = placement.lines.get(index).copied().flatten();
        let in_order = placement.in_order.get(index) == Some(&true);
        match line {
            Some(line) if in_order => {
                self.close(line.number);
                (self.line, self.offset) = (line.number + 1, line.next);
            }
            Some(_) => {}
            None => self.claimed += lines_of(text, row),
        }
        match (said, placement.repeats.get(&index)) {
            (Said::Repeated(base, times), Some(equal)) if *equal > 0 && line.is_some() => {
                self.text.push_str(base);
                let shown = self
                    .marked
                    .unfolded
                    .get(&index)
                    .copied()
                    .unwrap_or_default();
                let times = times.saturating_sub(shown);
                let equal = if placement.is_only_repeat(index) {
                    equal.saturating_sub(shown)
                } else {
                    (*equal).min(times)
                };
                if equal > 1 {
                    self.text.push_str(" \u{d7}");
                    self.text.push_str(itoa::Buffer::new().format(equal));
                }
                if times > equal {
                    self.text.push_str(" (+");
                    self.text
                        .push_str(itoa::Buffer::new().format(times - equal));
                    self.text.push_str(" similar)");
                }
                self.text.push('\n');
            }
            _ => {
                let shortened = self.marked.shortened.as_ref();
                let short = shortened.filter(|(row, _)| *row == index);
                let text = short.map_or(text, |(_, short)| short);
                self.text.push_str(text);
                if !text.ends_with('\n') {
                    self.text.push('\n');
                }
            }
        }
    }

    /// Marks what is left out before the line with this number.
    pub(super) fn close(&mut self, to: usize) {
        let to = to.max(self.line);
        let placement = &self.marked.placement;
        let none = LineSet::default();
        let unshown = self.shown.outside(&none, self.line, to);
        let telling = self.shown.outside(&placement.empty, self.line, to);
        let claimed = std::mem::take(&mut self.claimed);
        let mut pending = std::mem::take(&mut self.pending);
        let known: usize = pending.iter().map(|(_, left_out)| left_out.lines).sum();
        let is_counted = !self.marked.source.is_empty() && !self.marked.rows_of_one_line;
        let mut left_out = if is_counted {
            unshown.saturating_sub(claimed)
        } else {
            known
        };
        let is_empty = telling == 0 && unshown < MARKED_EMPTY_LINES;
        if is_counted && (is_empty || unshown <= claimed || telling > 0 && telling <= claimed) {
            left_out = 0;
        }
        if is_counted
            && pending.is_empty()
            && claimed == 0
            && unshown == to - self.line
            && self.show_short(to)
        {
            return;
        }
        match pending
            .iter_mut()
            .rev()
            .find(|(_, left_out)| left_out.lines > 0)
        {
            None if left_out > 0 => {
                let lines = LeftOut {
                    lines: left_out,
                    rows: 0,
                };
                pending.push((self.text.len(), lines));
            }
            Some((_, last)) if known < left_out => last.lines += left_out - known,
            _ => {
                let mut excess = known.saturating_sub(left_out);
                for (_, marked) in pending.iter_mut().rev() {
                    let less = excess.min(marked.lines);
                    marked.lines -= less;
                    excess -= less;
                }
            }
        }
        let is_left = |(_, left_out): &(usize, LeftOut)| left_out.lines + left_out.rows > 0;
        for (at, marked) in pending.into_iter().rev().filter(is_left) {
            self.text.insert_str(at, &marked.mark());
        }
        self.left_out += left_out;
    }

    /// Shows the lines before that number if they are not longer than a marker.
    fn show_short(&mut self, to: usize) -> bool {
        if to - self.line > SHORT_GAP_LINES {
            return false;
        }
        let rest = self.marked.source.get(self.offset..).unwrap_or_default();
        let lines = || ethos_registry_core::lines::lines(rest).take(to - self.line);
        let size: usize = lines().map(|line| line.trim_end().len() + 1).sum();
        if size > SHORT_GAP_BYTES {
            return false;
        }
        for (number, line) in (self.line..to).zip(lines()) {
            if !self.marked.placement.empty.contains(number) {
                self.text.push_str(line.trim_end());
                self.text.push('\n');
                self.shown.insert(number);
            }
        }
        true
    }
}
