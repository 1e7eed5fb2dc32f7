//! The few records of a list by their names, each with what it states otherwise than most.

use std::fmt::Write as _;

use super::kind::unquoted;
use super::shape::{Node, Shape};
use super::values::usual;
use crate::line::shorten;

/// What follows the names takes one in this many bytes of the text, and no more and no fewer than these.
const SHARE: usize = 12;
const MOST_BYTES: usize = 2_000;
const FEWEST_BYTES: usize = 200;
const VALUE_CHARS: usize = 200;
/// How many items of a list in a record are looked at.
const MAX_ITEMS: usize = 4;
/// Members are looked for down to this level of a record.
const MAX_LEVELS: usize = 5;

/// Records by name.
pub(super) struct Told {
    /// What most records share, followed by each record by name.
    pub(super) row: String,
    /// The paths whose values it shows.
    pub(super) nodes: Vec<usize>,
}

/// The `count` records at `items`, if each has a different name.
pub(super) fn told(shape: &Shape<'_>, items: usize, count: usize) -> Option<Told> {
    let names = shape.nodes.get(items)?.names.told(count)?;
    let mut members = Vec::new();
    gather(shape, items, &Way::default(), count, &mut members);
    members.sort_by_key(|member| member.others.len());
    let mut left = (shape.bytes / SHARE).clamp(FEWEST_BYTES, MOST_BYTES);
    let (mut usual, mut nodes) = (Vec::new(), Vec::new());
    let mut behind = vec![String::new(); count];
    for member in members {
        let Some(rest) = left.checked_sub(member.bytes()) else {
            break;
        };
        left = rest;
        nodes.push(member.node);
        usual.extend(member.usual);
        for (record, said) in member.others {
            if let Some(behind) = behind.get_mut(record) {
                let _ = write!(behind, " {said}");
            }
        }
    }
    let mut row = String::new();
    if !usual.is_empty() {
        let _ = write!(row, ", {} unless told", usual.join(", "));
    }
    for (number, (name, behind)) in names.iter().zip(&behind).enumerate() {
        let sign = if number > 0 { "," } else { ":" };
        let _ = write!(row, "{sign} {name}{behind}");
    }
    Some(Told { row, nodes })
}

/// A member whose values are states of records.
struct Member {
    node: usize,
    /// The values of most records; for a list on the path, of each item.
    usual: Vec<String>,
    /// The records with other values.
    others: Vec<(usize, String)>,
}

impl Member {
    /// How much of a row it takes.
    fn bytes(&self) -> usize {
        let others = self.others.iter().map(|(_, said)| said.len() + 1);
        let usual = self.usual.iter().map(|said| said.len() + 2);
        others.sum::<usize>() + usual.sum::<usize>()
    }
}

/// The way from a record to one of its members.
#[derive(Clone, Default)]
struct Way {
    path: String,
    /// Where in the path the index of a list belongs.
    list: Option<usize>,
    levels: usize,
}

fn gather(shape: &Shape<'_>, node: usize, way: &Way, count: usize, members: &mut Vec<Member>) {
    let Some(of) = shape.nodes.get(node).filter(|_| way.levels < MAX_LEVELS) else {
        return;
    };
    members.extend(member(of, node, way, count));
    for (number, child) in of.children.iter().enumerate() {
        let Some(inside) = shape.nodes.get(*child) else {
            continue;
        };
        let mut way = way.clone();
        way.levels += 1;
        if !inside.key.is_empty() {
            let sign = if way.path.is_empty() { "" } else { "." };
            let _ = write!(way.path, "{sign}{}", unquoted(inside.key));
        } else if of.is_row {
            let _ = write!(way.path, "[{number}]");
        } else if way.list.is_none() {
            way.list = Some(way.path.len());
        } else {
            continue;
        }
        gather(shape, *child, &way, count, members);
    }
}

/// The values of `of` as a member of each of `count` records, if all have it and it states in which state they are; of
/// a list on the way, all have the same few items.
fn member(of: &Node<'_>, node: usize, way: &Way, count: usize) -> Option<Member> {
    let places = of.values.places();
    if way.path.is_empty() || of.is_message || places.len() != of.count() {
        return None;
    }
    let (before, behind) = way.path.split_at_checked(way.list.unwrap_or_default())?;
    let columns = places.len() / count;
    if places.len() != columns * count || columns > MAX_ITEMS || way.list.is_none() && columns > 1 {
        return None;
    }
    let values = of.values.seen();
    let (mut usually, mut others) = (Vec::new(), Vec::new());
    for item in 0..columns {
        let path = match way.list {
            Some(_) => format!("{before}[{item}]{behind}"),
            None => way.path.clone(),
        };
        let said = |value: usize| {
            Some(format!(
                "{path} {}",
                shorten(values.get(value)?.text, VALUE_CHARS)
            ))
        };
        let column = || places.iter().skip(item).step_by(columns);
        let is_of_all = column().enumerate().all(|(record, place)| match way.list {
            Some(_) => place.above == record && place.index == item,
            None => place.index == record,
        });
        if !is_of_all {
            return None;
        }
        let times = |value: usize| column().filter(|place| place.value == value).count();
        let Some(usual) = usual((0..values.len()).map(times)) else {
            continue;
        };
        usually.push(said(usual)?);
        let differ = column().enumerate();
        let differ = differ.filter(|(_, place)| place.value != usual);
        others.extend(differ.filter_map(|(record, place)| Some((record, said(place.value)?))));
    }
    (!others.is_empty()).then_some(Member {
        node,
        usual: usually,
        others,
    })
}
