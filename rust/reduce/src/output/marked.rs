//! The text of an output with a mark at each place where lines of the source are left out.

use super::line_set::LineSet;
use super::placement::{Placement, Said};
use super::ranges::names_between;
use super::row::{Row, Weight};
use super::{Form, Output, account, from_the_middle, gap_lines, gap_row};
use crate::line::long_line::NOTE_TAIL;
use ethos_registry_core::find_text::FindText as _;

/// A few lines that are no longer than the mark that would represent them are shown.
/// This many lines without text are marked.
const MARKED_EMPTY_LINES: usize = 10;
const SHORT_GAP_LINES: usize = 2;
const SHORT_GAP_BYTES: usize = 24;
/// How often rows are taken out before the text fits.
const MAX_ROUNDS: usize = 8;
const CUT_HINT: &str =
    "[lines with \"...[N chars]...\" are cut; pipe the command into \"fold\" to see them]\n";

impl Output {
    /// The text, with a mark where lines of `source` are left out, closed by the account of all of them:
    /// `[959 of 1001 lines left out]`.
    ///
    /// It has at most `budget_chars` characters, unless the account alone has more: rows are taken out from
    /// the middle, context before facts.
    pub(crate) fn finish_of(
        mut self,
        source: &str,
        source_lines: usize,
        budget_chars: usize,
    ) -> String {
        self.settle();
        if let (Form::Complete { ended }, true) = (self.form, self.fits(budget_chars)) {
            if !ended {
                self.text.pop();
            }
            return self.text;
        }
        let rows: Vec<(&str, Row)> = self.rows().collect();
        let said: Vec<Said<'_>> = rows.iter().map(|(text, row)| said(text, *row)).collect();
        let marked = Marked {
            rows_of_one_line: rows.len() > source_lines,
            placement: Placement::of(&said, source),
            rows,
            said,
            source,
            source_lines,
        };
        marked.within(budget_chars)
    }
}

/// How many lines a row shows that is not one of the source itself.
fn lines_of(text: &str, row: Row) -> usize {
    match (row.lines(), names_between(text)) {
        (lines, 0) => lines,
        (0, _) => 0,
        // The row of a whole run counts as one line.
        (1, between) => between + 2,
        (lines, between) => lines + between,
    }
}

/// What a row states, as far as its text shows it.
fn said(text: &str, row: Row) -> Said<'_> {
    let text = text.trim_end_matches('\n');
    let lines = row.lines();
    if lines == 0 {
        return gap_lines(text).map_or(Said::Members(text), Said::Gap);
    }
    let repeated = text.rsplit_text(" \u{d7}").filter(|_| lines > 1);
    match repeated {
        Some((line, times)) if times.parse() == Ok(lines) => Said::Repeated(line, lines),
        _ if lines > 1 || text.trim().is_empty() => Said::Other,
        _ => Said::Line(text),
    }
}

struct Marked<'a> {
    rows: Vec<(&'a str, Row)>,
    said: Vec<Said<'a>>,
    placement: Placement,
    source: &'a str,
    source_lines: usize,
    /// Several rows show one line: what is left out is counted in rows.
    rows_of_one_line: bool,
}

impl Marked<'_> {
    fn within(&self, budget_chars: usize) -> String {
        let mut keep = vec![true; self.rows.len()];
        let mut text = self.text(&keep);
        let mut target =
            budget_chars.saturating_sub(account(self.source_lines, self.source_lines).len());
        for _ in 0..MAX_ROUNDS {
            let chars = text.char_count();
            if chars <= budget_chars {
                return text;
            }
            self.take_out(&mut keep, target);
            text = self.text(&keep);
            target = target.saturating_sub(text.char_count().saturating_sub(budget_chars));
            if target < budget_chars / 2 {
                break;
            }
        }
        // Rows between marks cost more than they save: one gap in the middle.
        let mut ends = self.rows.len() / 2;
        while text.char_count() > budget_chars && ends > 0 {
            ends /= 2;
            let last = self.rows.len() - ends;
            for (row, kept) in keep.iter_mut().enumerate() {
                *kept = row < ends || row >= last;
            }
            text = self.text(&keep);
        }
        if text.char_count() > budget_chars {
            keep.fill(false);
            text = account(self.source_lines, self.source_lines);
        }
        text
    }

    /// Takes rows out until the others have `target` characters, context first, from the middle.
    fn take_out(&self, keep: &mut [bool], target: usize) {
        let chars: Vec<usize> = self
            .rows
            .iter()
            .map(|(text, _)| text.char_count())
            .collect();
        let kept = keep.iter().zip(&chars).filter(|(kept, _)| **kept);
        let mut total: usize = kept.map(|(_, chars)| chars).sum();
        for weight in [Weight::Context, Weight::Fact] {
            for index in from_the_middle(chars.len()) {
                if total <= target {
                    return;
                }
                let is_of = self
                    .rows
                    .get(index)
                    .is_some_and(|(_, row)| row.weight() == weight);
                if let (true, Some(kept), Some(size)) =
                    (is_of, keep.get_mut(index), chars.get(index))
                    && std::mem::take(kept)
                {
                    total -= size;
                }
            }
        }
    }

    /// The kept rows with marks, and the account.
    fn text(&self, keep: &[bool]) -> String {
        let mut shown = LineSet::default();
        shown.clone_from(&self.placement.repeated);
        let mut claimed = 0;
        let mut cut = false;
        for (index, (text, row)) in self.kept(keep) {
            cut |= text.has_text(NOTE_TAIL);
            match self.placement.lines.get(index).copied().flatten() {
                Some(line) => shown.insert(line.number),
                None => claimed += lines_of(text, row),
            }
        }
        let mut writer = Writer {
            marked: self,
            text: String::new(),
            shown,
            line: 0,
            offset: 0,
            pending: Vec::new(),
            claimed: 0,
            left_out: 0,
        };
        let mut dropped = LeftOut::default();
        for (index, kept) in keep.iter().enumerate() {
            let Some(((text, row), said)) = self.rows.get(index).zip(self.said.get(index)) else {
                break;
            };
            if !kept {
                match said {
                    Said::Gap(lines) => dropped.lines += lines,
                    _ if self.rows_of_one_line || row.lines() == 0 => dropped.rows += 1,
                    _ => dropped.lines += row.lines(),
                }
                continue;
            }
            writer.gap(std::mem::take(&mut dropped));
            writer.row(index, text, *row, *said);
        }
        writer.gap(dropped);
        writer.close(self.placement.source_lines);
        let shown_lines = writer.shown.len() + claimed;
        let mut left_out = self
            .source_lines
            .saturating_sub(shown_lines)
            .max(writer.left_out);
        if self.source_lines == 1 && keep.contains(&true) {
            // A part of the only line is shown.
            left_out = 0;
        }
        let mut text = writer.text;
        if writer.left_out == left_out
            && let Some((rows, mark)) = last_row(&text)
            && gap_lines(mark) == Some(left_out)
        {
            // The only gap is at the end, where the account is.
            text.truncate(rows);
        }
        if cut {
            text.push_str(CUT_HINT);
        }
        text.push_str(&account(left_out.min(self.source_lines), self.source_lines));
        text
    }

    fn kept<'s>(&'s self, keep: &'s [bool]) -> impl Iterator<Item = (usize, (&'s str, Row))> {
        let rows = self.rows.iter().zip(keep).enumerate();
        rows.filter(|(_, (_, kept))| **kept)
            .map(|(index, (row, _))| (index, *row))
    }
}

/// Where the last line of `text` begins, and that line.
fn last_row(text: &str) -> Option<(usize, &str)> {
    let body = text.strip_suffix('\n')?;
    let start = memchr::memrchr(b'\n', body.as_bytes()).map_or(0, |at| at + 1);
    Some((start, body.get(start..)?))
}

/// How much is left out at one place.
#[derive(Clone, Copy, Debug, Default)]
struct LeftOut {
    lines: usize,
    /// Rows that show no line of their own.
    rows: usize,
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
struct Writer<'w, 'a> {
    marked: &'w Marked<'a>,
    text: String,
    shown: LineSet,
    /// The number and the offset of the first line of the source behind the last row that has a place.
    line: usize,
    offset: usize,
    /// Marks since then: where each is in the text, and of how many lines.
    pending: Vec<(usize, LeftOut)>,
    /// Lines of the source that rows since then show, which have no place.
    claimed: usize,
    left_out: usize,
}

impl Writer<'_, '_> {
    /// So much is left out here.
    fn gap(&mut self, left_out: LeftOut) {
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

    fn row(&mut self, index: usize, text: &str, row: Row, said: Said<'_>) {
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
                let equal = if placement.is_only_repeat(index) {
                    *equal
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
            _ => self.text.push_str(text),
        }
    }

    /// Marks what is left out up to the line of that number.
    fn close(&mut self, to: usize) {
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

    /// Shows the lines up to that number if they are not longer than a mark.
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
