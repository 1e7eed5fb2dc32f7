//! Places lines by value and length until the target is full. A line counts less the more of its words are shown.

use std::collections::{BTreeMap, BinaryHeap};

use ethos_registry_core::find_text::FindText as _;
use hashbrown::HashSet;

use crate::candidate::Candidate;
use crate::cells::{Cells, Counts};
use crate::folds::{Fold, Folds, folds};
use crate::gap::{ACCOUNT_CHARS, GAP_CHARS, PIECE_CHARS, digits, short_gap};
use crate::row::{HINT, Width, row};
use crate::source::{Kind, Part, Source, Span, real};
use crate::template::hashed;
use crate::words::each_word;

/// How much the length of a line counts against it.
const DENSITY: f64 = 0.4;
/// The least worth of a line that is folded into another.
const FOLDED: f64 = 0.8;
/// What is left of the value of a line that is folded when it is to be shown whole.
const UNFOLDED: f64 = 0.6;
/// And of one whose message is that of the line above.
const SAME: f64 = 0.1;
/// What is left of the value of a line whose words are all shown.
const KNOWN: f64 = 0.3;
/// A line is looked at so often at most.
const MOST_TRIES: u8 = 4;
/// Headings above a line that come with it.
const MOST_HEADINGS: usize = 3;
/// Lines that appear together have at most this many characters.
const MOST_BUNDLE: usize = 1_500;

/// The lines that are shown, with those that are folded into them.
pub(crate) type Rows = BTreeMap<usize, Vec<usize>>;

/// What does not depend on the room that is left.
pub(crate) struct Plan<'s, 'a> {
    source: &'s Source<'a>,
    pub(crate) folds: Folds,
    pub(crate) width: Width,
    filled: Vec<usize>,
    /// How many lines that are not blank are above each line.
    above: Cells<usize>,
    chars: Cells<usize>,
    is_cut: Cells<bool>,
    /// The characters of the longest mark of pieces.
    piece_chars: usize,
    account_chars: usize,
}

impl<'s, 'a> Plan<'s, 'a> {
    pub(crate) fn new(source: &'s Source<'a>, parts: &[Part]) -> Self {
        let width = Width::of(source);
        let count = source.lines.len();
        let folds = folds(source, parts);
        let filled = source.filled(0, count);
        let mut above = Cells::default();
        let mut not_blank = 0;
        for line in source.lines.iter() {
            above.push(not_blank);
            not_blank += usize::from(line.kind != Kind::Blank);
        }
        above.push(not_blank);
        let mut chars = Cells::new(count);
        let mut is_cut = Cells::new(count);
        for number in &filled {
            let row = row(source, &source.lines[*number], width);
            chars[*number] = row.text.char_count() + 1;
            is_cut[*number] = row.is_cut;
        }
        // A ruler is shown where it is the heading of a row.
        for number in (0..count).filter(|number| source.lines[*number].kind == Kind::Ruler) {
            chars[number] = row(source, &source.lines[number], width).text.char_count() + 1;
        }
        let total = digits(source.total);
        Self {
            source,
            folds,
            width,
            filled,
            above,
            chars,
            is_cut,
            piece_chars: PIECE_CHARS + digits(source.text.len()),
            account_chars: ACCOUNT_CHARS + 2 * total,
        }
    }

    /// The rows that fit into a number of characters: the longest beginning of an order in which the room has no part, so that
    /// more room never shows less.
    pub(crate) fn fit(&self, room: usize, accepts: impl Fn(Kind) -> bool) -> Rows {
        let mut fit = Fit {
            plan: self,
            rows: Rows::new(),
            is_shown: Cells::new(self.source.lines.len()),
            is_row: Cells::new(self.source.lines.len()),
            has_cut: false,
            words: HashSet::new(),
            listed: Counts::new(self.source.lines.len()),
        };
        let waits = |number: &&usize| {
            let line = &self.source.lines[**number];
            line.value > 0.0 && accepts(line.kind)
        };
        let mut queue: BinaryHeap<Candidate> = self
            .filled
            .iter()
            .filter(waits)
            .map(|number| Candidate {
                reserved: self.source.lines[*number].reserved,
                worth: self.best(*number, self.folds.contains_key(number)),
                line: *number,
            })
            .collect();
        let mut used = signed(self.gap(None, None, 0) + self.account_chars);
        let room = signed(room);
        let mut opened: HashSet<usize> = HashSet::new();
        let mut tries: Cells<u8> = Cells::new(self.source.lines.len());
        while let Some(Candidate {
            mut reserved,
            worth,
            mut line,
        }) = queue.pop()
        {
            if fit.is_row[line] {
                continue;
            }
            let mut is_forced = reserved > 0;
            if let Some((first, _, _)) = self.folds.get(&line)
                && !fit.is_row[*first]
            {
                if !opened.insert(*first) {
                    continue; // it is a detail of a folded finding
                }
                queue.push(Candidate {
                    reserved: 0,
                    worth,
                    line,
                });
                (line, reserved, is_forced) = (*first, 0, true);
            }
            // A detail of a folded finding would be under another one. The end of the output stays.
            if reserved == 0
                && self.source.lines[line]
                    .unit
                    .is_some_and(|unit| self.folds.contains_key(&unit) && !fit.is_row[unit])
            {
                continue;
            }
            let now = fit.worth(line);
            let is_behind = queue
                .peek()
                .is_some_and(|next| next.reserved > 0 || now < next.worth);
            if !is_forced && is_behind && tries[line] < MOST_TRIES {
                tries[line] += 1;
                queue.push(Candidate {
                    reserved,
                    worth: now,
                    line,
                });
                continue;
            }
            let is_fold = self.folds.contains_key(&line);
            for number in fit.with_others(line) {
                let total = used + fit.cost(number);
                if total > room {
                    return fit.rows;
                }
                fit.show(number);
                used = total;
            }
            if is_fold {
                let is_detail = |number: &usize| self.source.lines[*number].unit == Some(line);
                let again = if fit.is_row[line] {
                    (line + 1..self.source.lines.len())
                        .take_while(is_detail)
                        .filter(|number| waits(&number))
                        .collect()
                } else {
                    tries[line] = 0;
                    vec![line]
                };
                queue.extend(again.into_iter().map(|line| Candidate {
                    reserved: 0,
                    worth: fit.worth(line),
                    line,
                }));
            }
        }
        fit.rows
    }

    /// The characters that the mark between two rows takes at most; without a row the text begins or ends. Of the lines
    /// between them, `listed` are folded into rows above.
    fn gap(&self, before: Option<usize>, after: Option<usize>, listed: usize) -> usize {
        let lines = &self.source.lines;
        let (start, end) = (
            before.map_or(0, |row| row + 1),
            after.unwrap_or(lines.len()),
        );
        let from = before.map_or(0, |row| lines[row].number + 1);
        let to = after.map_or(self.source.total, |row| lines[row].number);
        let all = to.saturating_sub(from);
        // Nothing but blank lines: those that were not read are not known to be blank.
        if self.above[end] - self.above[start] == listed && all <= end - start {
            return 0;
        }
        let is_piece_left = |row: &usize, next: usize| {
            (start..end).contains(&next) && lines[next].number == lines[*row].number
        };
        let below = before.filter(|row| is_piece_left(row, row + 1));
        let over = after.filter(|row| is_piece_left(row, row.wrapping_sub(1)));
        let marks = match (below, over) {
            (Some(_), Some(_)) if from == to + 1 => 1, // both are of one line
            _ => usize::from(below.is_some()) + usize::from(over.is_some()),
        };
        let pieces = marks * self.piece_chars;
        let hidden = all.saturating_sub(listed);
        if hidden == 0 {
            return pieces;
        }
        let mark = GAP_CHARS + digits(hidden);
        let short = short_gap(self.source, start..end, hidden);
        pieces + short.map_or(mark, |chars| chars.min(mark))
    }

    /// The worth of a line without a shown word.
    fn best(&self, number: usize, is_fold: bool) -> f64 {
        let value = self.source.lines[number].value;
        let (value, chars) = match self.folds.get(&number) {
            Some((_, key, _)) if is_fold => {
                (value.max(FOLDED + 0.5 * value), key.chars(self.source))
            }
            Some((_, _, Fold::Message)) => (SAME * value, self.chars[number]),
            Some(_) => (UNFOLDED * value, self.chars[number]),
            None => (value, self.chars[number]),
        };
        value / (real(chars) + 12.0).powf(DENSITY)
    }
}

fn signed(chars: usize) -> isize {
    isize::try_from(chars).unwrap_or(isize::MAX / 4)
}

struct Fit<'p, 's, 'a> {
    plan: &'p Plan<'s, 'a>,
    rows: Rows,
    /// Lines that are shown, whole or folded.
    is_shown: Cells<bool>,
    /// Lines that are shown whole.
    is_row: Cells<bool>,
    /// Whether a row is shown without its middle.
    has_cut: bool,
    /// Hashes of the words that are shown.
    words: HashSet<u64>,
    /// The lines that are folded into rows.
    listed: Counts,
}

impl Fit<'_, '_, '_> {
    fn worth(&self, number: usize) -> f64 {
        let source = self.plan.source;
        let line = &source.lines[number];
        let text = source.at(number);
        let (mut total, mut new) = (0, 0);
        each_word(text, line.kind == Kind::Change, |word, weight| {
            total += weight;
            if !self.words.contains(&word) {
                new += weight;
            }
        });
        let mut share = if total > 0 {
            real(new) / real(total)
        } else if text.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
            0.6
        } else {
            0.0
        };
        if line.kind == Kind::Change || line.kind == Kind::Failure && line.detail > 0 {
            share = share.max(0.6); // the message of a failure, although its words occur in others
        }
        let has_place = matches!(
            line.kind,
            Kind::Location | Kind::Frame | Kind::Failure | Kind::Warning | Kind::Title
        );
        if has_place && !line.place.is_empty() {
            let place = hashed(source.slice(line.place).as_bytes());
            let is_new = !self.words.contains(&place);
            share = (share + if is_new { 2.0 } else { 0.0 }) / 3.0;
        }
        self.plan.best(number, self.is_folded(number)) * (KNOWN + (1.0 - KNOWN) * share)
    }

    /// Whether a line is shown below another when it is placed.
    fn is_folded(&self, number: usize) -> bool {
        self.plan.folds.contains_key(&number) && !self.is_shown[number]
    }

    /// A line with its bundle and the headings above it, in their order.
    fn with_others(&self, number: usize) -> Vec<usize> {
        let source = self.plan.source;
        let line = &source.lines[number];
        let mut wanted = vec![number];
        if self.is_folded(number) {
            return wanted;
        }
        let is_free =
            |number: usize| !self.is_shown[number] && !self.plan.folds.contains_key(&number);
        if let Some(bundle) = line.bundle.filter(|_| line.reserved == 0) {
            let others = source.bundles[bundle].iter().copied();
            let others = others.filter(|other| {
                *other != number && is_free(*other) && source.lines[*other].value > 0.0
            });
            let mut chars = self.plan.chars[number];
            wanted.extend(others.take_while(|other| {
                chars += self.plan.chars[*other];
                chars <= MOST_BUNDLE
            }));
        }
        let most = wanted.len() + MOST_HEADINGS;
        let mut above = line.heading;
        while let Some(heading) = above.filter(|heading| is_free(*heading) && wanted.len() < most) {
            if !wanted.contains(&heading) {
                wanted.push(heading);
            }
            above = source.lines[heading].heading.filter(|next| *next < heading);
        }
        wanted.sort_unstable();
        wanted
    }

    /// The characters that a line takes at most, with the gap marks that it adds or closes.
    fn cost(&self, number: usize) -> isize {
        let plan = self.plan;
        let fold = plan.folds.get(&number);
        let key = signed(fold.map_or(0, |(_, key, _)| key.chars(plan.source)));
        let before = self.rows.range(..number).next_back().map(|row| *row.0);
        let after = self.rows.range(number + 1..).next().map(|row| *row.0);
        let (start, end) = (
            before.unwrap_or(0),
            after.unwrap_or(plan.source.lines.len()),
        );
        let [above, upto, all] =
            [number, number + 1, end].map(|end| self.listed.between(start, end));
        let gap = plan.gap(before, after, all);
        if let Some((first, _, fold)) = fold.filter(|_| !self.is_shown[number]) {
            let is_first = self.rows.get(first).is_none_or(Vec::is_empty);
            let label = usize::from(is_first) * (fold.label().len() + "\n".len());
            return key + signed(label + plan.gap(before, after, all + 1)) - signed(gap);
        }
        let gaps =
            plan.gap(before, Some(number), above) + plan.gap(Some(number), after, all - upto);
        let hint = usize::from(plan.is_cut[number] && !self.has_cut) * (HINT.len() + 1);
        signed(plan.chars[number] + hint + gaps) - signed(gap) - key
    }

    fn show(&mut self, number: usize) {
        let source = self.plan.source;
        match self.plan.folds.get(&number) {
            Some((first, _, _)) if !self.is_shown[number] => {
                let folded = self.rows.entry(*first).or_default();
                let at = folded.partition_point(|other| *other < number);
                folded.insert(at, number);
                self.listed.set(number, true);
            }
            fold => {
                if let Some(folded) = fold.and_then(|(first, _, _)| self.rows.get_mut(first)) {
                    folded.retain(|other| *other != number);
                    self.listed.set(number, false);
                }
                self.is_row[number] = true;
                self.has_cut |= self.plan.is_cut[number];
                self.rows.entry(number).or_default();
            }
        }
        let is_whole = self.is_row[number];
        self.is_shown[number] = true;
        let line = &source.lines[number];
        let shown = match self.plan.folds.get(&number) {
            Some((_, key, _)) if !is_whole => [key.before, key.name],
            _ => [line.span, Span::default()],
        };
        for span in shown {
            each_word(source.slice(span), line.kind == Kind::Change, |word, _| {
                self.words.insert(word);
            });
        }
        if !line.place.is_empty() {
            self.words
                .insert(hashed(source.slice(line.place).as_bytes()));
        }
    }
}
