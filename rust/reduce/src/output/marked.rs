//! The text of an output, with a marker wherever source lines are left out.

use hashbrown::HashMap;

use super::line_set::LineSet;
use super::placement::Placement;
use super::ranges::names_between;
use super::row::{Row, Weight};
use super::said::Said;
use super::writer::{LeftOut, Writer};
use super::{Form, Output, account, from_the_middle, gap_lines};
use crate::line::long_line::NOTE_TAIL;
use ethos_registry_core::find_text::FindText as _;

/// How often rows are removed before giving up on the target.
const MAX_ROUNDS: usize = 8;
const CUT_HINT: &str =
    "[lines with \"...[N chars]...\" are cut; pipe the command into \"fold\" to see them]\n";

impl Output {
    /// The text, with a marker wherever lines of `source` are left out, and the account of all of them at the end:
    /// `[959 of 1001 lines left out]`.
    ///
    /// It has at most `budget_chars` characters, unless the account alone is longer: rows are removed from
    /// the middle, context before facts.
    pub(crate) fn finish_of(
        mut self,
        source: &str,
        source_lines: usize,
        budget_chars: usize,
    ) -> String {
        self.settle();
        match self.complete(budget_chars) {
            Some(text) => text,
            None => Marked::of(&self, source, source_lines).within(budget_chars),
        }
    }

    /// The rows unchanged, if they are the complete source except for form, and fit.
    pub(super) fn complete(&mut self, budget_chars: usize) -> Option<String> {
        let Form::Complete { ended } = self.form else {
            return None;
        };
        if !self.fits(budget_chars) {
            return None;
        }
        if !ended {
            self.text.pop();
        }
        Some(std::mem::take(&mut self.text))
    }
}

/// How many source lines a row shows that is not itself a source line.
pub(super) fn lines_of(text: &str, row: Row) -> usize {
    match (row.lines(), names_between(text)) {
        (lines, 0) => lines,
        (0, _) => 0,
        // The row of a complete range counts as one line.
        (1, between) => between + 2,
        (lines, between) => lines + between,
    }
}

/// What the text of a row refers to in the source.
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

pub(super) struct Marked<'a> {
    pub(super) rows: Vec<(&'a str, Row)>,
    pub(super) said: Vec<Said<'a>>,
    pub(super) placement: Placement,
    pub(super) source: &'a str,
    pub(super) source_lines: usize,
    /// Whether several rows show parts of one line; then rows are counted instead of lines.
    pub(super) rows_of_one_line: bool,
    /// For each row that represents several lines, how many of these are shown separately.
    pub(super) unfolded: HashMap<usize, usize>,
    /// The row that does not fit completely, and the part of it that does.
    pub(super) shortened: Option<(usize, String)>,
}

impl<'a> Marked<'a> {
    pub(super) fn of(output: &'a Output, source: &'a str, source_lines: usize) -> Self {
        let rows: Vec<(&str, Row)> = output.rows().collect();
        let said: Vec<Said<'_>> = rows.iter().map(|(text, row)| said(text, *row)).collect();
        Self {
            rows_of_one_line: rows.len() > source_lines,
            placement: Placement::of(&said, source),
            rows,
            said,
            source,
            source_lines,
            unfolded: HashMap::new(),
            shortened: None,
        }
    }
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
        // Markers between many rows cost more than they save, so there is one gap in the middle.
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

    /// Removes rows until the others have `target` characters: context first, from the middle.
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

    /// The kept rows with markers, and the account.
    pub(super) fn text(&self, keep: &[bool]) -> String {
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
        let mut writer = Writer::of(self, shown);
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

/// The start of the last line of `text`, and that line.
fn last_row(text: &str) -> Option<(usize, &str)> {
    let body = text.strip_suffix('\n')?;
    let start = memchr::memrchr(b'\n', body.as_bytes()).map_or(0, |at| at + 1);
    Some((start, body.get(start..)?))
}
