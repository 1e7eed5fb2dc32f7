//! Walks over an output and the reduced text together: each line is shown, listed, marked or blank.
//!
//! All readings are followed at once. A row at a line can follow any state of a class whose first free line is not
//! behind it, so that a line is looked at once for each class, not once for each state.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::item::{Item, list, listed, readings};
use super::listed::listed_below;
use super::pieces::{Tail, is_long, shown_end};
use super::rows::shows;

/// More ways to read a reduced text up to a row than this are not followed, nor this many in all.
const MOST_STATES: usize = 20_000;
const MOST_STEPS: usize = 10_000_000;
const MOST_READINGS: usize = 300;

/// A statement of a reduced text that is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// A row that is not a line of the output.
    Row,
    /// A row that is a line of the output, but not there.
    Place,
    /// The lines behind the last row, or the account.
    Account,
    /// The names of lines that are listed below another.
    Listed,
}

/// Where a reading of a reduced text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    /// The first line that is neither shown nor marked; the one before it was shown last.
    next: usize,
    /// Where the last piece ends if that line is shown in pieces.
    piece: Option<usize>,
    /// The marks behind which no row was read yet.
    lines: Option<usize>,
    chars: Option<usize>,
    /// Lines that are listed.
    listed: usize,
    /// Lines that are shown.
    shown: usize,
}

impl State {
    /// The first line at which the next row may be.
    fn first(&self) -> usize {
        self.next + self.lines.unwrap_or_default()
    }
}

/// What states have in common before which the same rows, at the same lines, lead to the same state: the lines that
/// would be listed if the next row were at the first line, whether a mark counts the blank ones, and what is shown.
type Class = (isize, bool, usize, Option<(usize, usize)>, Option<usize>);

/// A state with the positions of those that it may follow.
type Step = (State, Vec<Range<usize>>);

struct Walk<'t> {
    lines: Vec<&'t str>,
    items: Vec<Vec<Item<'t>>>,
    /// The lines before each that are not blank.
    filled: Vec<usize>,
    /// The most lines that can be listed by the rows up to each.
    names: Vec<usize>,
    /// The steps behind each row, if names of lines are listed.
    history: Vec<Vec<Step>>,
}

/// The first lie of `rows`, the reduced `text` without `left_out` of its lines.
pub(crate) fn lie(text: &str, rows: &[&str], left_out: usize) -> Option<Lie> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<&str> = body.split('\n').collect();
    let items: Vec<Vec<Item<'_>>> = rows.iter().map(|row| readings(row)).collect();
    let mut count = 0;
    let names = items.iter().map(|readings| {
        count += readings.iter().map(listed).max().unwrap_or_default();
        count
    });
    let names = names.collect();
    let mut count = 0;
    let filled = lines.iter().map(|line| {
        let before = count;
        count += usize::from(!line.trim().is_empty());
        before
    });
    let mut filled: Vec<usize> = filled.collect();
    filled.push(count);
    let mut walk = Walk {
        lines,
        items,
        filled,
        names,
        history: Vec::new(),
    };
    walk.lie(left_out)
}

impl<'t> Walk<'t> {
    fn lie(&mut self, left_out: usize) -> Option<Lie> {
        let lists = self.names.last().is_some_and(|names| *names > 0);
        let mut states = vec![State::default()];
        let mut steps = 0;
        for at in 0..self.items.len() {
            let mut after = self.steps(at, &states);
            steps += after.len();
            if after.len() > MOST_STATES || steps > MOST_STEPS {
                return None;
            }
            if after.is_empty() {
                return Some(self.misplaced(at));
            }
            after.sort_by_cached_key(|(state, _)| (self.class(state), state.first()));
            states = after.iter().map(|(state, _)| *state).collect();
            if lists {
                self.history.push(after);
            }
        }
        let ends = states.iter().enumerate().filter_map(|(at, state)| {
            let listed = self.listed_at_end(state)?;
            (state.shown + listed + left_out == self.lines.len()).then_some((at, listed))
        });
        let ends: Vec<(usize, usize)> = ends.collect();
        if ends.is_empty() {
            return Some(Lie::Account);
        }
        let is_listed = !lists || ends.iter().any(|(at, listed)| self.lists(*at, *listed));
        (!is_listed).then_some(Lie::Listed)
    }

    /// What is wrong with an item that no reading explains.
    fn misplaced(&self, at: usize) -> Lie {
        let Some(Item::Row(row)) = self.items.get(at).and_then(|items| items.first()) else {
            return Lie::Row;
        };
        let is_there = self
            .lines
            .iter()
            .any(|line| shows(row, line) || is_long(line) && line.contains(row));
        if is_there { Lie::Place } else { Lie::Row }
    }

    /// The states behind a row, each with those before it.
    fn steps(&self, at: usize, states: &[State]) -> Vec<Step> {
        let mut after: HashMap<State, Vec<Range<usize>>> = HashMap::new();
        let items = self.items.get(at).map_or(&[][..], Vec::as_slice);
        for (position, state) in states.iter().enumerate() {
            for next in items.iter().filter_map(|item| self.step(at, *item, state)) {
                let before = after.entry(next).or_default();
                before.push(position..position + 1);
            }
        }
        let Some(Item::Row(row)) = items.first() else {
            return after.into_iter().collect();
        };
        let mut start = 0;
        for class in states.chunk_by(|one, other| self.class(one) == self.class(other)) {
            self.place(at, row, class, |next, count| {
                after.entry(next).or_default().push(start..start + count);
            });
            start += class.len();
        }
        after.into_iter().collect()
    }

    fn class(&self, state: &State) -> Class {
        let without = match state.lines {
            Some(_) => state.first(),
            None => self.filled(state.next),
        };
        (
            state.listed.cast_signed() - without.cast_signed(),
            state.lines.is_some(),
            state.shown,
            state.piece.map(|end| (state.next, end)),
            state.chars,
        )
    }

    fn line(&self, number: usize) -> &'t str {
        self.lines.get(number).copied().unwrap_or_default()
    }

    fn filled(&self, number: usize) -> usize {
        self.filled.get(number).copied().unwrap_or_default()
    }

    /// The line that is shown in pieces, and where the last of them ends.
    fn piece(&self, state: &State) -> Option<(&'t str, usize)> {
        let end = state.piece?;
        Some((self.line(state.next.checked_sub(1)?), end))
    }

    /// The state behind an item that is a mark, a list, or the next piece of the line that was shown last.
    fn step(&self, at: usize, item: Item<'t>, state: &State) -> Option<State> {
        let is_marked = state.lines.is_some() || state.chars.is_some();
        match item {
            Item::Lines(lines) if state.lines.is_none() => Some(State {
                lines: Some(lines),
                ..*state
            }),
            Item::Chars(chars) if !is_marked => Some(State {
                chars: Some(chars),
                ..*state
            }),
            Item::Listed { .. } if at > 0 && !is_marked => Some(*state),
            Item::Row(row) if state.lines.is_none() => {
                let (line, end) = self.piece(state)?;
                let shown = shown_end(row, line.get(end..)?, state.chars)?;
                Some(State {
                    piece: Some(end + shown),
                    chars: None,
                    ..*state
                })
            }
            _ => None,
        }
    }

    /// The states behind a row at each line where it may follow states of one `class`, and how many of these.
    fn place(&self, at: usize, row: &'t str, class: &[State], mut found: impl FnMut(State, usize)) {
        let Some(begin) = class.first() else {
            return;
        };
        let tail = self.tail(begin);
        let is_hidden = tail.is_hidden_in(begin.chars);
        let left = match begin.chars {
            Some(chars) if chars == tail.chars => Some(None),
            Some(chars) => chars.checked_sub(tail.chars).map(Some),
            None => tail.is_blank.then_some(None),
        };
        if !is_hidden && left.is_none() {
            return;
        }
        let most = self.names.get(at).copied().unwrap_or_default();
        for number in begin.first()..self.lines.len() {
            let listed = begin.listed
                + match begin.lines {
                    Some(_) => number - begin.first(),
                    None => self.filled(number) - self.filled(begin.next),
                };
            if listed > most {
                return;
            }
            let line = self.line(number);
            let after = State {
                next: number + 1,
                listed,
                shown: begin.shown + 1,
                ..State::default()
            };
            let count = || class.partition_point(|state| state.first() <= number);
            if is_hidden && shows(row, line) {
                found(after, count());
            }
            let Some(left) = left.filter(|_| is_long(line)) else {
                continue;
            };
            let blanks = line.len() - line.trim_ascii_start().len();
            let rest = line.get(blanks..).unwrap_or_default();
            if let Some(shown) = shown_end(row, rest, left) {
                let piece = Some(blanks + shown);
                found(State { piece, ..after }, count());
            }
        }
    }

    /// The rest of the line that was shown in pieces.
    fn tail(&self, state: &State) -> Tail {
        let rest = self.piece(state).map_or("", |(line, end)| {
            line.trim_ascii_end().get(end..).unwrap_or_default()
        });
        Tail::of(rest)
    }

    /// The lines that are listed at the end of the output.
    fn listed_at_end(&self, state: &State) -> Option<usize> {
        if !self.tail(state).is_hidden_in(state.chars) {
            return None;
        }
        let rest = match state.lines {
            Some(_) => self.lines.len().checked_sub(state.first())?,
            None => self.filled(self.lines.len()) - self.filled(state.next),
        };
        let most = self.names.last().copied().unwrap_or_default();
        Some(state.listed + rest).filter(|listed| *listed <= most)
    }

    /// Whether the lines of one of the readings that end in a state explain the names that are listed.
    fn lists(&self, end: usize, listed: usize) -> bool {
        let mut readings = 0;
        let mut open = vec![(0, end)];
        // From the end.
        let mut reading: Vec<&State> = Vec::new();
        while let Some((depth, position)) = open.pop() {
            let steps = self.history.iter().rev().nth(depth);
            let Some((state, before)) = steps.and_then(|steps| steps.get(position)) else {
                continue;
            };
            reading.truncate(depth);
            reading.push(state);
            if reading.len() < self.history.len() {
                let before = before.iter().cloned().flatten().take(MOST_READINGS);
                open.extend(before.map(|position| (depth + 1, position)));
                continue;
            }
            if self.lists_below(&reading, listed) {
                return true;
            }
            readings += 1;
            if readings == MOST_READINGS {
                return self.may_list();
            }
        }
        false
    }

    /// Whether the names that are listed are those of lines below their row that are not shown, and no more than that.
    fn lists_below(&self, reading: &[&State], listed: usize) -> bool {
        let mut shown = HashSet::new();
        let mut lists = Vec::new();
        let start = State::default();
        let mut before = &start;
        for (items, state) in self.items.iter().zip(reading.iter().rev()) {
            if (state.shown, state.piece) != (before.shown, before.piece) {
                shown.extend(state.next.checked_sub(1));
            } else if let Some(list) = list(items) {
                lists.push((before.next, list));
            }
            before = state;
        }
        let (mut least, mut most) = (0, 0);
        for (next, (is_same, names)) in lists {
            let Some(count) = self.listed_below(next, is_same, names, &shown) else {
                return false;
            };
            least += count;
            most += names.split(' ').count();
        }
        (least..=most).contains(&listed)
    }

    /// Whether each list has the names of lines below a row that may be above it.
    fn may_list(&self) -> bool {
        let lists = self.items.iter().skip(1).zip(&self.history);
        let mut lists = lists.filter_map(|(items, above)| Some((list(items)?, above)));
        lists.all(|((is_same, names), above)| {
            let owners: HashSet<usize> = above.iter().map(|(state, _)| state.next).collect();
            let mut owners = owners.into_iter();
            let is_below = |next| self.listed_below(next, is_same, names, &HashSet::new());
            owners.len() > MOST_READINGS || owners.any(|next| is_below(next).is_some())
        })
    }

    /// The least number of lines below the line before `next` that have these names.
    fn listed_below(
        &self,
        next: usize,
        is_same: bool,
        names: &str,
        shown: &HashSet<usize>,
    ) -> Option<usize> {
        let names: Vec<&str> = names.split(' ').collect();
        listed_below(&self.lines, next.checked_sub(1)?, is_same, &names, shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_ways_to_read_blank_lines_are_followed() {
        let text = format!("a\n{}b\n", "\n".repeat(800));
        let blank = vec![""; 790];
        let rows = [&["a"], blank.as_slice(), &["b"]].concat();
        assert_eq!(lie(&text, &rows, 10), None);
        assert_eq!(lie(&text, &rows, 9), Some(Lie::Account));
        let rows = [&["a"], blank.as_slice(), &["[10 lines left out]", "b"]].concat();
        assert_eq!(lie(&text, &rows, 10), None);
        let rows = [&["a"], blank.as_slice(), &["[11 lines left out]", "b"]].concat();
        assert_eq!(lie(&text, &rows, 11), Some(Lie::Place));
    }

    #[test]
    fn a_name_that_no_reading_explains_is_seen_among_thousands() {
        let text = format!("{}oak: old\nelm: old\n", "\n".repeat(900));
        let blank = vec![""; 450];
        for (list, found) in [("  [same] elm", None), ("  [same] fir", Some(Lie::Listed))] {
            let rows = [blank.as_slice(), &["oak: old", list]].concat();
            assert_eq!(lie(&text, &rows, 450), found, "{list}");
        }
    }
}
