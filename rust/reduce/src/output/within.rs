//! The text of an output for a target length: the most important rows and lines that fit.

use super::Output;
use super::fill::{Fill, Importance, What, fills, mark_chars};
use super::lossless;
use super::marked::Marked;
use super::row::{Row, Weight};
use super::said::{Said, SourceLine};
use crate::line::long_line::{NOTE_HEAD, NOTE_TAIL};
use crate::policy::Level;
use ethos_registry_core::find_text::FindText as _;

/// Printed around the number of characters left out of a shortened row that is not a source line.
const REST_HEAD: &str = " ... ";
const REST_TAIL: &str = " more chars";
/// At least this many characters are shown of a row that does not fit.
const LEAST_ROW_CHARS: usize = 60;
/// Longer rows come after the others, whatever the target is.
const LONG_ROW_BYTES: usize = 2_000;
const LONG_RANKS: u8 = 5;
/// Rows without a fact must be shorter than the source by this factor to be worth their space.
const LEAST_FOLDED: usize = 3;
/// How many lengths are measured between a number of parts that fits and twice that number.
const STEPS: usize = 16;
/// How many more are measured between two of these.
const SMALL_STEPS: usize = 4;

/// The distance of `index` from the nearer end of `count` items.
pub(super) fn depth(index: usize, count: usize) -> usize {
    index.min(count.saturating_sub(index + 1))
}

/// How many of `count` parts fit when the first ones are shown. `chars` is the length of the text with a number of
/// parts, and `growth` the most that one part adds.
///
/// A marker disappears when all of its lines are shown, so one more part can make the text shorter. The same
/// lengths are measured for all targets, so a larger target never shows fewer parts.
fn longest(
    count: usize,
    target_chars: usize,
    chars: impl Fn(usize) -> usize,
    growth: impl Fn(usize) -> usize,
) -> usize {
    let mut fitting = 0;
    let mut beyond = 1;
    while chars(beyond.min(count)) <= target_chars {
        if beyond >= count {
            return count;
        }
        fitting = beyond;
        beyond *= 2;
    }
    let mut last = beyond.min(count);
    for steps in [STEPS, SMALL_STEPS] {
        let step = (last - fitting).div_ceil(steps);
        while fitting + step < last && chars(fitting + step) <= target_chars {
            fitting += step;
        }
        last = last.min(fitting + step);
    }
    let mut used = chars(fitting);
    while fitting < last {
        used += growth(fitting);
        if used > target_chars {
            break;
        }
        fitting += 1;
    }
    // A part between two gaps can make the markers around it longer than `growth` states.
    while fitting > 0 && chars(fitting) > target_chars {
        fitting -= 1;
    }
    fitting
}

impl Output {
    /// The text in at most `target_chars` characters, unless its account alone is longer.
    ///
    /// If the rows fit, all are shown, and the remaining space is filled with lines of `source` from the gaps
    /// between them. Otherwise the most important rows are shown. What is shown at one target is shown at each larger one.
    pub(crate) fn finish_within(
        mut self,
        source: &str,
        source_lines: usize,
        target_chars: usize,
        level: Level,
        importance: Importance,
    ) -> String {
        self.settle();
        if let Some(text) = self.complete(target_chars) {
            return lossless::folded(&text).into_owned();
        }
        let has_facts = self.rows.iter().any(|row| row.weight() == Weight::Fact);
        if level == Level::Facts && !has_facts && self.text.len() > source.len() / LEAST_FOLDED {
            // Such rows are a selection of lines that was made without a target.
            self.back_to(Self::default().mark());
        }
        let mut marked = Marked::of(&self, source, source_lines);
        if level == Level::Verdict {
            let verdicts = marked.verdicts(importance);
            return marked.cut(target_chars, importance, |row| {
                verdicts.get(row) == Some(&true)
            });
        }
        let text = marked.text(&vec![true; marked.rows.len()]);
        let chars = text.char_count();
        if chars > target_chars {
            marked.cut(target_chars, importance, |_| true)
        } else if marked.rows_of_one_line {
            text
        } else {
            marked.filled(&text, target_chars, importance)
        }
    }
}

impl<'a> Marked<'a> {
    /// All rows, whose text is `text`, with source lines between them.
    fn filled(&self, text: &str, target_chars: usize, importance: Importance) -> String {
        let room = target_chars.saturating_sub(text.char_count());
        let fills = fills(self, importance, room);
        let text_of = |count: usize| match fills.get(..count) {
            None | Some([]) => text.to_owned(),
            Some(fills) => {
                let filled = self.with(fills);
                filled.text(&vec![true; filled.rows.len()])
            }
        };
        let mark = mark_chars(self.source_lines);
        let growth = |fill: usize| fills.get(fill).map_or(0, |fill| fill.chars + mark);
        let chars = |count| text_of(count).char_count();
        text_of(longest(fills.len(), target_chars, chars, growth))
    }

    /// The rows with source lines between them.
    fn with(&self, fills: &[Fill]) -> Self {
        let mut whole: Vec<Option<&'a str>> = vec![None; self.rows.len()];
        let mut between: Vec<(SourceLine, &'a str)> = Vec::with_capacity(fills.len());
        let mut unfolded = hashbrown::HashMap::new();
        for fill in fills {
            let line = self.source.get(fill.start..fill.end).unwrap_or_default();
            let line = line.trim_end();
            match fill.what {
                What::Whole { row } => {
                    if let Some(place) = whole.get_mut(row) {
                        *place = Some(line);
                    }
                    continue;
                }
                What::Repeat { row } => *unfolded.entry(row).or_insert(0) += 1,
                What::Line => {}
            }
            between.push((SourceLine::filling(fill.number, fill.end + 1), line));
        }
        between.sort_unstable_by_key(|(line, _)| line.number);
        let mut filled = Self {
            rows: Vec::with_capacity(self.rows.len() + between.len()),
            said: Vec::with_capacity(self.rows.len() + between.len()),
            placement: self.placement.without_rows(),
            source: self.source,
            source_lines: self.source_lines,
            rows_of_one_line: false,
            unfolded: hashbrown::HashMap::new(),
            shortened: None,
        };
        let mut between = between.into_iter().peekable();
        for (index, ((text, row), said)) in self.rows.iter().zip(&self.said).enumerate() {
            let line = self.placement.lines.get(index).copied().flatten();
            let in_order = self.placement.in_order.get(index) == Some(&true);
            if let Some(line) = line.filter(|_| in_order) {
                while let Some((line, text)) = between.next_if(|next| next.0.number < line.number) {
                    filled.push(text, Row::filling(), Said::Line(text), Some(line), true);
                }
            }
            let to = filled.rows.len();
            let times = unfolded.get(&index).copied();
            filled.placement.take_repeat(&self.placement, index, to);
            if let Some(times) = times {
                filled.unfolded.insert(to, times);
            }
            let text = whole.get(index).copied().flatten().unwrap_or(text);
            filled.push(text, *row, *said, line, in_order);
        }
        for (line, text) in between {
            filled.push(text, Row::filling(), Said::Line(text), Some(line), true);
        }
        filled
    }

    fn push(
        &mut self,
        text: &'a str,
        row: Row,
        said: Said<'a>,
        line: Option<SourceLine>,
        in_order: bool,
    ) {
        self.rows.push((text, row));
        self.said.push(said);
        self.placement.lines.push(line);
        self.placement.in_order.push(in_order);
    }

    /// The rows that fit, the most important first.
    fn cut(
        &mut self,
        target_chars: usize,
        importance: Importance,
        may: impl Fn(usize) -> bool,
    ) -> String {
        let count = self.rows.len();
        let rank_of = |row: usize| self.rank(row, importance) + self.long_ranks(row);
        let mut order: Vec<(u8, usize, usize)> = (0..count)
            .filter(|row| may(*row))
            .map(|row| (rank_of(row), depth(row, count), row))
            .collect();
        order.sort_unstable();
        let kept = |first: usize| {
            let mut keep = vec![false; count];
            for (_, _, row) in order.iter().take(first) {
                if let Some(kept) = keep.get_mut(*row) {
                    *kept = true;
                }
            }
            keep
        };
        let row_text = |part: usize| {
            let row = order.get(part).and_then(|(_, _, row)| self.rows.get(*row));
            row.map_or("", |(text, _)| *text)
        };
        let mark = mark_chars(self.source_lines);
        let first = longest(
            order.len(),
            target_chars,
            |first| self.text(&kept(first)).char_count(),
            |part| row_text(part).char_count() + mark,
        );
        let text = self.text(&kept(first));
        let left = target_chars.saturating_sub(text.char_count() + mark);
        let Some((_, _, row)) = order.get(first).filter(|_| left >= LEAST_ROW_CHARS) else {
            return text;
        };
        let is_line = matches!(self.said.get(*row), Some(Said::Line(_)));
        self.shortened =
            beginning(row_text(first).trim_end(), left, is_line).map(|short| (*row, short));
        let longer = self.text(&kept(first + 1));
        if longer.char_count() <= target_chars {
            longer
        } else {
            text
        }
    }

    fn long_ranks(&self, row: usize) -> u8 {
        let bytes = self.rows.get(row).map_or(0, |(text, _)| text.len());
        if bytes > LONG_ROW_BYTES {
            LONG_RANKS
        } else {
            0
        }
    }

    /// The rank of a row; lower ranks matter more.
    fn rank(&self, row: usize, importance: Importance) -> u8 {
        match self.rows.get(row) {
            Some((text, row)) if row.weight() == Weight::Fact => u8::from(goes_on(text)),
            Some((text, _)) => 2 + u8::from((importance.rank)(text) > 0),
            None => u8::MAX,
        }
    }

    /// The rows that are a verdict or name a failure; all facts when there are none.
    fn verdicts(&self, importance: Importance) -> Vec<bool> {
        let rank_of = |(text, row): &(&str, Row)| match row.weight() {
            _ if row.is_name() || (importance.is_verdict)(text) => 0,
            Weight::Fact => 1,
            Weight::Context => 2,
        };
        let ranks: Vec<u8> = self.rows.iter().map(rank_of).collect();
        let best = ranks.iter().copied().min().unwrap_or_default();
        ranks.into_iter().map(|rank| rank == best).collect()
    }
}

/// Whether a row is a further hit in the file that an earlier row names: `14:let oak = 1;`.
fn goes_on(row: &str) -> bool {
    let text = row.trim_start_matches(|sign: char| sign.is_ascii_digit());
    text.len() < row.len() && text.starts_with(':')
}

/// The start of `row` and the number of characters cut, in `chars` characters; `None` when it is not longer.
///
/// The note of a cut source line counts its characters. Other rows are cut between words.
fn beginning(row: &str, chars: usize, is_line: bool) -> Option<String> {
    let all = row.char_count();
    let digits = all.checked_ilog10()? as usize + 1;
    let (note_head, note_tail) = if is_line {
        (NOTE_HEAD, NOTE_TAIL)
    } else {
        (REST_HEAD, REST_TAIL)
    };
    let note = note_head.len() + note_tail.len() + digits;
    let shown = chars.checked_sub(note + 1).filter(|shown| *shown < all)?;
    let (end, _) = row.char_indices().nth(shown)?;
    let mut head = row.get(..end)?;
    if !is_line && let Some((words, _)) = head.rsplit_once(' ') {
        head = words;
    }
    let rest = all - head.char_count();
    Some(format!("{head}{note_head}{rest}{note_tail}"))
}
