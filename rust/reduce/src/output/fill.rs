//! Source lines that fill the space left by the rows of an output, the most important first.

use hashbrown::HashMap;

use super::keys::squeezed;
use super::line_set::LineSet;
use super::marked::Marked;
use super::said::{Said, SourceLine};
use super::within::depth;
use crate::line::template_key::template_key;
use ethos_registry_core::find_text::FindText as _;

/// Lines longer than this are shown after all others.
const LONG_CHARS: usize = 1_000;
const LONG_RANKS: u8 = 8;
/// The characters of `[` and ` lines left out]` with their line end, without the number.
const MARK_CHARS: usize = 18;
/// Limits how many lines of a gap are ranked: no more than fit if each line has this many characters.
const LEAST_LINE_CHARS: usize = 2;

/// What can be shown in addition to the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A line in a gap.
    Line,
    /// The complete line, if a row shows a part of it.
    Whole { row: usize },
    /// One of the lines that a row represents.
    Repeat { row: usize },
}

/// A source line that is to be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    pub(super) what: What,
    pub(super) number: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// How many characters it adds to the text.
    pub(super) chars: usize,
    rank: u8,
    /// The number of lines to the nearer end of its gap.
    depth: usize,
}

/// The longest marker in the output of a source with this many lines.
pub(super) fn mark_chars(source_lines: usize) -> usize {
    MARK_CHARS + source_lines.checked_ilog10().unwrap_or(0) as usize
}

/// How the importance of source lines is decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Importance {
    /// The rank of a line, from 0 for the most important to [`LEAST_RANK`].
    pub(crate) rank: fn(&str) -> u8,
    /// Whether a line is a verdict or reports a failure.
    pub(crate) is_verdict: fn(&str) -> bool,
}

/// The rank of lines without information.
pub(crate) const LEAST_RANK: u8 = 4;
const WHOLE_RANK: u8 = 1;
const REPEAT_RANK: u8 = 5;

/// The lines that can be shown in `room` characters, the most important first.
pub(super) fn fills(marked: &Marked<'_>, importance: Importance, room: usize) -> Vec<Fill> {
    let mut candidates = Candidates::of(marked, importance, room);
    candidates.read();
    let mut found = candidates.found;
    found.sort_unstable_by_key(|fill| (fill.rank, fill.depth, fill.number));
    found
}

/// The lines that can be shown.
struct Candidates<'m, 'a> {
    marked: &'m Marked<'a>,
    importance: Importance,
    /// Lines that rows show or represent, and lines without text.
    shown: LineSet,
    /// The row that shows a part of each line.
    parts: HashMap<usize, usize>,
    /// The row that represents all lines of each template.
    templates: HashMap<u64, usize>,
    most_depth: usize,
    found: Vec<Fill>,
}

impl<'m, 'a> Candidates<'m, 'a> {
    fn of(marked: &'m Marked<'a>, importance: Importance, room: usize) -> Self {
        let placement = &marked.placement;
        let mut shown = placement.repeated.clone();
        let mut parts = HashMap::new();
        let mut templates = HashMap::new();
        for (row, said) in marked.said.iter().enumerate() {
            let Some(SourceLine { number, .. }) = placement.lines.get(row).copied().flatten()
            else {
                continue;
            };
            shown.insert(number);
            match said {
                Said::Line(_) if placement.in_order.get(row) == Some(&true) => {
                    // If several rows show parts of one line, the line is not shown again.
                    let several = parts.insert(number, row).is_some();
                    if several {
                        parts.insert(number, usize::MAX);
                    }
                }
                Said::Repeated(line, _) if placement.is_only_repeat(row) => {
                    templates.insert(template_key(&squeezed(line)), row);
                }
                _ => {}
            }
        }
        Self {
            marked,
            importance,
            shown,
            parts,
            templates,
            most_depth: room / LEAST_LINE_CHARS,
            found: Vec::new(),
        }
    }

    fn read(&mut self) {
        let mut gap_start = self.found.len();
        let mut next = 0;
        for (number, line) in ethos_registry_core::lines::lines(self.marked.source).enumerate() {
            let start = next;
            next += line.len() + 1;
            let placement = &self.marked.placement;
            let (what, rank) = if placement.empty.contains(number) {
                // Blank lines do not get a marker of their own.
                continue;
            } else if !self.shown.contains(number) {
                (What::Line, u8::MAX)
            } else {
                self.close(gap_start);
                gap_start = self.found.len();
                match self.shown_in_part(number, line) {
                    Some(What::Repeat { row }) => (What::Repeat { row }, REPEAT_RANK),
                    Some(what) => (what, WHOLE_RANK),
                    None => continue,
                }
            };
            let is_gap = what == What::Line;
            let chars = line.trim_end().char_count() + 1;
            let rank = if is_gap {
                (self.importance.rank)(line)
            } else {
                rank
            };
            let chars = match what {
                What::Whole { row } => {
                    let row = self.marked.rows.get(row).map_or("", |(text, _)| *text);
                    chars.saturating_sub(row.char_count())
                }
                What::Line | What::Repeat { .. } => chars,
            };
            let long = if chars > LONG_CHARS { LONG_RANKS } else { 0 };
            self.found.push(Fill {
                what,
                number,
                start,
                end: start + line.len(),
                chars,
                rank: rank + long,
                depth: 0,
            });
            if !is_gap {
                gap_start = self.found.len();
            }
        }
        self.close(gap_start);
    }

    /// The characters of a line that the rows do not show.
    fn shown_in_part(&self, number: usize, line: &str) -> Option<What> {
        if let Some(row) = self.parts.get(&number) {
            let Some(Said::Line(text)) = self.marked.said.get(*row) else {
                return None;
            };
            return (squeezed(text) != squeezed(line)).then_some(What::Whole { row: *row });
        }
        if self.templates.is_empty() || !self.marked.placement.repeated.contains(number) {
            return None;
        }
        let line = squeezed(line);
        let row = *self.templates.get(&template_key(&line))?;
        let first = self.marked.placement.lines.get(row).copied().flatten()?;
        let Some(Said::Repeated(text, _)) = self.marked.said.get(row) else {
            return None;
        };
        (first.number != number && squeezed(text) != line).then_some(What::Repeat { row })
    }

    /// Ranks the lines of the gap that starts at `from`: its ends come before its middle.
    fn close(&mut self, from: usize) {
        let gap = self.found.get_mut(from..).unwrap_or_default();
        let count = gap.len();
        for (index, fill) in gap.iter_mut().enumerate() {
            fill.depth = depth(index, count);
        }
        if gap.len() / 2 > self.most_depth {
            let most_depth = self.most_depth;
            let gap = self.found.split_off(from);
            let may_fit = |fill: &Fill| fill.depth <= most_depth || fill.rank == 0;
            self.found.extend(gap.into_iter().filter(may_fit));
        }
    }
}
