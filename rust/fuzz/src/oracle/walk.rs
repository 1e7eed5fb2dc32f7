//! Walks over an output and the reduced text together: each line is shown, listed, marked or blank.

use std::collections::{HashMap, HashSet};

use super::item::{Item, listed, readings};
use super::pieces::{Tail, is_long, shown_end};
use super::rows::shows;

/// More ways to read a reduced text than this are not followed.
const MOST_STATES: usize = 20_000;

/// A statement of a reduced text that is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// A row that is no line of the output.
    Row,
    /// A row that is a line of the output, but not there.
    Place,
    /// The lines behind the last row, or the account.
    Account,
    /// The names of lines that are listed below another.
    Listed,
}

/// Where a reading of a reduced text is.
#[derive(Clone, Debug)]
struct State {
    /// The first line that is neither shown nor marked.
    next: usize,
    /// The line that is shown in pieces, and the end of the last of them.
    piece: Option<(usize, usize)>,
    lines: Option<usize>,
    chars: Option<usize>,
    /// Lines that are listed.
    listed: usize,
    /// Lines that are shown.
    shown: usize,
    /// The node of the last row.
    node: usize,
}

/// A row at a line, and the row before it.
#[derive(Clone, Copy)]
struct Node {
    before: usize,
    item: usize,
    line: usize,
}

struct Walk<'t> {
    lines: Vec<&'t str>,
    items: Vec<Vec<Item<'t>>>,
    nodes: Vec<Node>,
    /// The most lines that can be listed by the rows up to each.
    names: Vec<usize>,
}

/// The first lie of `rows`, of which `left_out` lines of `text` are left out.
pub(crate) fn lie(text: &str, rows: &[&str], left_out: usize) -> Option<Lie> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<&str> = body.split('\n').collect();
    let items: Vec<Vec<Item<'_>>> = rows.iter().map(|row| readings(row)).collect();
    let mut count = 0;
    let names = items.iter().map(|readings| {
        count += readings.iter().map(listed).max().unwrap_or_default();
        count
    });
    let mut walk = Walk {
        lines,
        names: names.collect(),
        items,
        nodes: vec![Node {
            before: 0,
            item: usize::MAX,
            line: 0,
        }],
    };
    walk.lie(left_out)
}

impl<'t> Walk<'t> {
    fn lie(&mut self, left_out: usize) -> Option<Lie> {
        let mut states = vec![State {
            next: 0,
            piece: None,
            lines: None,
            chars: None,
            listed: 0,
            shown: 0,
            node: 0,
        }];
        for at in 0..self.items.len() {
            let mut after: HashMap<(usize, usize, usize, Option<usize>), State> = HashMap::new();
            for item in self.items.get(at).cloned().unwrap_or_default() {
                for state in &states {
                    for next in self.step(at, item, state) {
                        let marked = next.lines.or(next.chars);
                        let end = next.piece.map_or(0, |(_, end)| end);
                        after
                            .entry((next.next, end, next.listed, marked))
                            .or_insert(next);
                    }
                }
            }
            if after.len() > MOST_STATES {
                return None;
            }
            if after.is_empty() {
                return Some(self.misplaced(at));
            }
            states = after.into_values().collect();
            states.sort_by_key(|state| (state.next, state.listed));
        }
        let ends: Vec<State> = states
            .into_iter()
            .flat_map(|state| self.end(&state))
            .filter(|state| state.shown + state.listed + left_out == self.lines.len())
            .collect();
        if ends.is_empty() {
            return Some(Lie::Account);
        }
        let is_listed = ends.iter().any(|state| self.lists(state));
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

    fn line(&self, number: usize) -> &'t str {
        self.lines.get(number).copied().unwrap_or_default()
    }

    /// The states behind an item.
    fn step(&mut self, at: usize, item: Item<'t>, state: &State) -> Vec<State> {
        match item {
            Item::Lines(lines) if state.lines.is_none() => vec![State {
                lines: Some(lines),
                ..state.clone()
            }],
            Item::Chars(chars) if state.chars.is_none() && state.lines.is_none() => vec![State {
                chars: Some(chars),
                ..state.clone()
            }],
            Item::Listed { .. } if at > 0 && state.lines.is_none() && state.chars.is_none() => {
                let is_below_row = self
                    .nodes
                    .get(state.node)
                    .is_some_and(|node| node.item + 1 == at);
                if !is_below_row {
                    // A second list, of other lines, below the same row.
                    let is_second = self.items.get(at - 1).is_some_and(|items| {
                        items.iter().any(|item| matches!(item, Item::Listed { .. }))
                    });
                    return if is_second {
                        vec![state.clone()]
                    } else {
                        Vec::new()
                    };
                }
                vec![state.clone()]
            }
            Item::Row(row) => self.row(at, row, state),
            _ => Vec::new(),
        }
    }

    /// The states behind a row at each line where it may be.
    fn row(&mut self, at: usize, row: &'t str, state: &State) -> Vec<State> {
        let mut found = Vec::new();
        // The next piece of the same line.
        if let Some((number, end)) = state.piece
            && state.lines.is_none()
        {
            let rest = self.line(number).get(end..).unwrap_or_default();
            if let Some(shown) = shown_end(row, rest, state.chars) {
                found.push(State {
                    piece: Some((number, end + shown)),
                    chars: None,
                    node: self.node(state.node, at, number),
                    ..state.clone()
                });
            }
        }
        let tail = self.tail(state);
        let most = self.names.get(at).copied().unwrap_or_default();
        for (number, listed) in self.candidates(state, most) {
            let line = self.line(number);
            let base = State {
                next: number + 1,
                piece: None,
                lines: None,
                chars: None,
                listed,
                shown: state.shown + 1,
                node: state.node,
            };
            if shows(row, line) && tail.is_hidden_in(state.chars) {
                found.push(State {
                    node: self.node(state.node, at, number),
                    ..base.clone()
                });
            }
            if is_long(line) {
                let blanks = line.len() - line.trim_ascii_start().len();
                let rest = line.get(blanks..).unwrap_or_default();
                let left = match state.chars {
                    Some(chars) if chars == tail.chars => None,
                    Some(chars) => match chars.checked_sub(tail.chars) {
                        Some(left) => Some(left),
                        None => continue,
                    },
                    None if tail.is_blank => None,
                    None => continue,
                };
                if let Some(shown) = shown_end(row, rest, left) {
                    found.push(State {
                        piece: Some((number, blanks + shown)),
                        node: self.node(state.node, at, number),
                        ..base
                    });
                }
            }
        }
        found
    }

    fn node(&mut self, before: usize, item: usize, line: usize) -> usize {
        self.nodes.push(Node { before, item, line });
        self.nodes.len() - 1
    }

    /// The rest of the line that was shown in pieces.
    fn tail(&self, state: &State) -> Tail {
        let rest = state.piece.map_or("", |(number, end)| {
            let line = self.line(number).trim_ascii_end();
            line.get(end..).unwrap_or_default()
        });
        Tail::of(rest)
    }

    /// The lines at which the next row may be, with the number of lines that are listed up to there.
    fn candidates(&self, state: &State, most: usize) -> Vec<(usize, usize)> {
        let spare = most.saturating_sub(state.listed);
        if let Some(lines) = state.lines {
            let first = state.next + lines;
            let numbers = first..(first + spare + 1).min(self.lines.len());
            return numbers
                .map(|number| (number, state.listed + number - first))
                .collect();
        }
        let mut found = Vec::new();
        let mut listed = state.listed;
        for number in state.next..self.lines.len() {
            found.push((number, listed));
            if self.line(number).trim().is_empty() {
                continue;
            }
            listed += 1;
            if listed > most {
                break;
            }
        }
        found
    }

    /// The states at the end of the output.
    fn end(&self, state: &State) -> Vec<State> {
        let tail = self.tail(state);
        if !tail.is_hidden_in(state.chars) {
            return Vec::new();
        }
        let rest = self.lines.get(state.next..).unwrap_or_default();
        let listed = match state.lines {
            Some(lines) => rest.len().checked_sub(lines),
            None => Some(rest.iter().filter(|line| !line.trim().is_empty()).count()),
        };
        let most = self.names.last().copied().unwrap_or_default();
        let listed = listed.map(|listed| state.listed + listed);
        listed
            .filter(|listed| *listed <= most)
            .map(|listed| State {
                listed,
                ..state.clone()
            })
            .into_iter()
            .collect()
    }

    /// Whether the names that are listed are those of lines below their row that are not shown, and no more than that.
    fn lists(&self, state: &State) -> bool {
        let mut nodes = Vec::new();
        let mut node = state.node;
        while node != 0 {
            let Some(found) = self.nodes.get(node) else {
                break;
            };
            nodes.push(*found);
            node = found.before;
        }
        let shown: HashSet<usize> = nodes.iter().map(|node| node.line).collect();
        let owners: HashMap<usize, usize> =
            nodes.iter().map(|node| (node.item, node.line)).collect();
        let (mut least, mut most) = (0, 0);
        for (at, items) in self.items.iter().enumerate() {
            if owners.contains_key(&at) {
                continue;
            }
            let Some(Item::Listed { is_same, names }) = items
                .iter()
                .find(|item| matches!(item, Item::Listed { .. }))
            else {
                continue;
            };
            let owner = (0..at).rev().find_map(|before| owners.get(&before));
            let Some(owner) = owner.copied() else {
                return false;
            };
            let names: Vec<&str> = names.split(' ').collect();
            let Some(count) = self.listed_below(owner, *is_same, &names, &shown) else {
                return false;
            };
            least += count;
            most += names.len();
        }
        (least..=most).contains(&state.listed)
    }

    /// The least number of lines below `owner` whose names are `names`, in this order.
    fn listed_below(
        &self,
        owner: usize,
        is_same: bool,
        names: &[&str],
        shown: &HashSet<usize>,
    ) -> Option<usize> {
        let (mut at, mut count) = (0, 0);
        for number in owner + 1..self.lines.len() {
            if at == names.len() {
                break;
            }
            if shown.contains(&number) {
                continue;
            }
            let line = self.line(number);
            let mut places = vec![line];
            if is_same {
                places.push(self.line(number + 1)); // the place is below the message
            }
            let rest = names.get(at..).unwrap_or_default();
            let most = places
                .iter()
                .map(|place| named(place, rest))
                .max()
                .unwrap_or_default();
            let name = rest.get(..most).unwrap_or_default().join(" ");
            if most == 0 || is_same && !has_message(self.line(owner), line, &name) {
                continue;
            }
            at += most;
            count += 1;
        }
        (at == names.len()).then_some(count)
    }
}

/// How many of `names`, from the first, a line has in this order.
fn named(line: &str, names: &[&str]) -> usize {
    let mut rest = line;
    for (count, name) in names.iter().enumerate() {
        match rest.find(name) {
            Some(at) => rest = rest.get(at + name.len()..).unwrap_or_default(),
            None => return count,
        }
    }
    names.len()
}

/// Whether `line` without `name` has the message of `owner`.
fn has_message(owner: &str, line: &str, name: &str) -> bool {
    let is_sign = |sign: char| matches!(sign, ' ' | ':' | '-' | '\t');
    let Some((_, message)) = line.split_once(name) else {
        return line.trim_matches(is_sign) == owner.trim_matches(is_sign);
    };
    owner
        .trim_matches(is_sign)
        .ends_with(message.trim_matches(is_sign))
}
