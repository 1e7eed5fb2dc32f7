//! Values and members of records that differ from those of the others, each with its place.

use std::fmt::Write as _;

use super::kind::{KINDS, Kind, unquoted};
use super::render::{FEW_VALUES, SAMPLE_CHARS, Writer};
use super::seen::Seen;
use super::shape::Node;
use crate::line::shorten;
use ethos_registry_core::find_text::FindText as _;

const ODD_CHARS: usize = 300;
/// At least this many values must be at a path before one can be unusual, and at most one in this many is.
const MANY: usize = 20;
const ODD_SHARE: usize = 50;
/// This many members that an object lacks are shown.
const KEYS_LACKED: usize = 8;
/// How many further locations of an unusual value are shown.
const MAX_PLACES: usize = 4;

impl<'a> Writer<'_, 'a> {
    /// A member that hardly any object has, with what is in it.
    pub(super) fn odd_member(
        &mut self,
        index: usize,
        member: &Node<'a>,
        count: usize,
        level: usize,
        path: &str,
    ) {
        let Some(first) = member.kinds.iter().flatten().next() else {
            return;
        };
        let inside;
        let value = if first.text.is_empty() {
            let before = std::mem::take(&mut self.text);
            let _ = write!(self.text, "{}: ", member.key);
            self.value(index, level + 1, path);
            inside = std::mem::replace(&mut self.text, before);
            &inside
        } else {
            member.member
        };
        let path = placed(path, first.above, first.index);
        let times = member.count();
        let row = format!(
            "{path} {} ({times} of {count}{})",
            shorten(value, ODD_CHARS),
            of_record(first)
        );
        self.odd.push((times, row));
    }

    /// Which members hardly any object lacks, with the first that does.
    pub(super) fn lacking(&mut self, of: &Node<'a>, count: usize, path: &str) {
        let Some(short) = of.short.filter(|short| is_odd(short.count, count)) else {
            return;
        };
        let members = of.children.iter().filter_map(|child| self.node(*child));
        let members = members.filter(|member| !member.key.is_empty());
        // Where some have members of their own, these may lack another one.
        let lacked = members.clone().take(of.members);
        let lacked = lacked.filter(|member| member.count() < count);
        if members.clone().count() > of.members && lacked.count() > 1 {
            return;
        }
        let lacked = members.filter(|member| {
            // Members that only some of them lack are not shown by the first.
            member.count() + short.count == count
        });
        let keys: Vec<&str> = lacked.take(KEYS_LACKED).map(|member| member.key).collect();
        if keys.is_empty() {
            return;
        }
        let row = format!(
            "{} without {} ({} of {count}{})",
            placed(path, short.above, short.index),
            shorten(&keys.join(", "), ODD_CHARS),
            short.count,
            of_record(&short)
        );
        self.odd.push((short.count, row));
    }

    /// Values of a kind, or plain values, that hardly any other of the path is like.
    pub(super) fn odd_values(&mut self, node: usize, of: &Node<'a>, level: usize, path: &str) {
        if self.told.contains(&node) {
            return;
        }
        let total = of.count();
        if total < MANY {
            return self.odd_of_some(of, total, path);
        }
        for (kind, seen) in KINDS.into_iter().zip(&of.kinds) {
            let Some(seen) = seen.as_ref().filter(|seen| is_odd(seen.count, total)) else {
                continue;
            };
            // What a list or an object holds where hardly any other is one.
            let before = std::mem::take(&mut self.text);
            match kind {
                Kind::Object | Kind::Array => self.holds(of, kind, seen.count, level + 1, path),
                _ => self.text.push_str(seen.text),
            }
            let inside = std::mem::replace(&mut self.text, before);
            self.odd_value(seen, &inside, &[], total, path);
        }
        let odd = of.values.seen().iter().enumerate();
        let odd = odd.filter(|(_, value)| is_odd(value.count, total));
        if odd.clone().count() <= FEW_VALUES {
            for (number, value) in odd {
                let others = others(of, number);
                self.odd_value(value, value.text, &others, total, path);
            }
        }
    }

    /// The values that differ when most of some are the same.
    fn odd_of_some(&mut self, of: &Node<'a>, total: usize, path: &str) {
        let values = of.values.seen();
        let Some(usual) = of.values.usual().filter(|_| path.contains("[]")) else {
            return;
        };
        let is_most = |seen: &Seen<'_>| seen.count * 2 > total;
        if !values.get(usual).is_some_and(is_most) {
            return;
        }
        for (number, value) in values.iter().enumerate().filter(|(at, _)| *at != usual) {
            let others = others(of, number);
            self.odd_value(value, value.text, &others, total, path);
        }
    }

    /// `value` is as `seen`, and so are those at the places `others`.
    fn odd_value(
        &mut self,
        seen: &Seen<'a>,
        value: &str,
        others: &[(usize, usize)],
        total: usize,
        path: &str,
    ) {
        let mut row = format!(
            "{} {} ({} of {total}{}",
            placed(path, seen.above, seen.index),
            shorten(value, ODD_CHARS),
            seen.count,
            of_record(seen)
        );
        let list = path.rsplit_text("[]").map_or(path, |(list, _)| list);
        for (above, index) in others.iter().take(MAX_PLACES) {
            let _ = write!(row, ", {}", placed(&format!("{list}[]"), *above, *index));
        }
        if others.len() > MAX_PLACES {
            row.push_str(", …");
        }
        row.push(')');
        if !self.odd.iter().any(|(_, known)| *known == row) {
            self.odd.push((seen.count, row));
        }
    }
}

/// Where the different value `number` is except for the first time, when that is known of all values.
fn others(of: &Node<'_>, number: usize) -> Vec<(usize, usize)> {
    let places = of.values.places().iter();
    let places = places.filter(|place| place.value == number).skip(1);
    places.map(|place| (place.above, place.index)).collect()
}

/// Whether `count` of `total` are so few that they are shown one by one.
pub(super) fn is_odd(count: usize, total: usize) -> bool {
    total >= MANY && (count * ODD_SHARE <= total || count == 1)
}

/// `, id 733`, `, name "oak"` or the key of a map, unless that is the unusual value itself.
fn of_record(seen: &Seen<'_>) -> String {
    let record = seen.record;
    if record.value.is_empty() || record.value == seen.text {
        return String::new();
    }
    let within = if record.is_of_above { "in " } else { "" };
    let key = unquoted(record.key);
    let sign = if key.is_empty() { "" } else { " " };
    format!(
        ", {within}{key}{sign}{}",
        shorten(record.value, SAMPLE_CHARS)
    )
}

/// The only record of some that has a member at `path`: its place, and what it is called.
pub(super) fn holder(path: &str, only: &Seen<'_>) -> String {
    let Some((list, _)) = path.rsplit_text("[]") else {
        return String::new();
    };
    let at = placed(&format!("{list}[]"), only.above, only.index);
    format!(", {at}{}", of_record(only))
}

/// `path` with the index in its last list, and in the list that holds that one.
fn placed(path: &str, above: usize, index: usize) -> String {
    let path = path.trim_start_matches('.');
    let Some((head, tail)) = path.rsplit_text("[]") else {
        return path.to_owned();
    };
    let mut placed = match head.rsplit_text("[]") {
        Some((head, between)) => format!("{head}[{above}]{between}"),
        None => head.to_owned(),
    };
    let _ = write!(placed, "[{index}]{tail}");
    placed
}
