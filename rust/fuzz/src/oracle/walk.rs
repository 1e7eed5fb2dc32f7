//! Walks over an output and the reduced text together: each line is shown, listed, marked or blank.

use std::collections::{HashMap, HashSet};

use super::item::{Item, listed, readings};
use super::listed::listed_below;
use super::pieces::{Tail, is_long, shown_end};
use super::rows::shows;

/// More ways to read a reduced text than this are not followed.
const MOST_STATES: usize = 20_000;
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
    node: Option<usize>,
}

/// A row at a line, and the nodes that may be before it.
struct Node {
    before: Vec<usize>,
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
    let mut walk = Walk {
        lines,
        names: names.collect(),
        items,
        nodes: Vec::new(),
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
            node: None,
        }];
        for at in 0..self.items.len() {
            let mut after: HashMap<(usize, usize, usize, Option<usize>), State> = HashMap::new();
            for item in self.items.get(at).cloned().unwrap_or_default() {
                for state in &states {
                    for next in self.step(at, item, state) {
                        let marked = next.lines.or(next.chars);
                        let end = next.piece.map_or(0, |(_, end)| end);
                        let node = next.node;
                        let known = after
                            .entry((next.next, end, next.listed, marked))
                            .or_insert(next);
                        join(&mut self.nodes, known.node, node);
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
                let last = state.node.and_then(|node| self.nodes.get(node));
                let is_below_row = last.is_some_and(|node| node.item + 1 == at);
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
                    node: Some(self.node(state.node, at, number)),
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
                    node: Some(self.node(state.node, at, number)),
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
                        node: Some(self.node(state.node, at, number)),
                        ..base
                    });
                }
            }
        }
        found
    }

    fn node(&mut self, before: Option<usize>, item: usize, line: usize) -> usize {
        let before = before.into_iter().collect();
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

    /// Whether the lines of one of the readings explain the names that are listed.
    fn lists(&self, state: &State) -> bool {
        let mut open: Vec<(Option<usize>, HashMap<usize, usize>)> =
            vec![(state.node, HashMap::new())];
        for _ in 0..MOST_READINGS {
            let Some((mut node, mut owners)) = open.pop() else {
                return false;
            };
            while let Some(found) = node.and_then(|node| self.nodes.get(node)) {
                owners.insert(found.item, found.line);
                let mut before = found.before.iter().copied();
                node = before.next();
                open.extend(before.map(|other| (Some(other), owners.clone())));
            }
            if self.lists_below(&owners, state.listed) {
                return true;
            }
        }
        true
    }

    /// Whether the names that are listed are those of lines below their row that are not shown, and no more than that.
    fn lists_below(&self, owners: &HashMap<usize, usize>, listed: usize) -> bool {
        let shown: HashSet<usize> = owners.values().copied().collect();
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
            let Some(count) = listed_below(&self.lines, owner, *is_same, &names, &shown) else {
                return false;
            };
            least += count;
            most += names.len();
        }
        (least..=most).contains(&listed)
    }
}

/// Makes the nodes before `other` nodes before `known` too: both are the same row at the same line.
fn join(nodes: &mut [Node], known: Option<usize>, other: Option<usize>) {
    let (Some(known), Some(other)) = (known, other) else {
        return;
    };
    let more = nodes.get(other).filter(|_| known != other);
    let more = more.map(|node| node.before.clone()).unwrap_or_default();
    if let Some(node) = nodes.get_mut(known) {
        node.before.extend(more);
        node.before.sort_unstable();
        node.before.dedup();
    }
}
