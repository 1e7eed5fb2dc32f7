//! Describes a shape: samples as they are written in the source, lengths, unusual values with their location.

use std::fmt::Write as _;

use super::kind::{KINDS, Kind, kind_of, unquoted};
use super::odd::{holder, is_odd};
use super::records;
use super::seen::Seen;
use super::shape::{MAX_COLUMNS, Node, Shape};
use crate::line::shorten;
use crate::output::Output;
use ethos_registry_core::lines::lines;

const MAX_LEVELS: usize = 8;
/// Lists are shown down to this level: below, they mostly hold numbers.
const MAX_LIST_LEVELS: usize = 6;
pub(super) const SAMPLE_CHARS: usize = 60;
const ODD_ROWS: usize = 20;
/// This many different values are few.
pub(super) const FEW_VALUES: usize = 4;
/// This many different states are shown with their counts; of more those that come most often.
const STATES: usize = 8;
/// This many different messages are all shown, and more than a few of them not as long.
const MESSAGES: usize = 24;
const FEW_MESSAGES: usize = 12;
const MESSAGE_CHARS: usize = 200;
const SHORT_MESSAGE_CHARS: usize = 120;
/// All items of a list of plain values are shown up to this number.
const FEW_ITEMS: usize = 12;
const KEYS_SHOWN: usize = 400;
/// Plain values of a map after its first members are shown up to this length, and as many as fit.
const FURTHER_CHARS: usize = 100;
const FURTHER_BYTES: usize = 3_000;
const SHAPE_BYTES: usize = 14_000;

/// Writes what is to be known of the text.
pub(super) fn write(shape: &Shape<'_>, output: &mut Output) {
    let mut writer = Writer {
        shape,
        text: String::new(),
        odd: Vec::new(),
        told: Vec::new(),
        names: Vec::new(),
        named: shape.packages.len() >= FEW_VALUES,
    };
    let is_one = shape.texts <= 1;
    if !is_one {
        let _ = write!(writer.text, "{} × ", shape.texts);
    }
    writer.names(0, shape.texts, "");
    // Values that stand one after the other are found like those of a list.
    writer.value(0, 0, if is_one { "" } else { "[]" });
    for row in lines(&writer.text) {
        output.summary(row, 0);
    }
    writer.odd.sort_by_key(|(count, _)| *count);
    for (_, row) in writer.odd.iter().take(ODD_ROWS) {
        output.summary(row, 0);
    }
    for row in &writer.names {
        output.summary(row, 0);
    }
    if writer.named {
        let mut row = String::new();
        for package in &shape.packages {
            let _ = write!(row, "{}=={} ", package.name, package.version);
        }
        output.summary(row.trim_end(), 0);
    }
}

pub(super) struct Writer<'s, 'a> {
    shape: &'s Shape<'a>,
    pub(super) text: String,
    /// How many values are like it, and the row that shows it.
    pub(super) odd: Vec<(usize, String)>,
    /// Paths whose unusual values are shown with the names of their records.
    pub(super) told: Vec<usize>,
    /// What the records of a list are called.
    names: Vec<String>,
    named: bool,
}

impl<'s, 'a> Writer<'s, 'a> {
    pub(super) fn node(&self, node: usize) -> Option<&'s Node<'a>> {
        self.shape.nodes.get(node)
    }

    /// The values of `node`, which are at `path`; recursion ends at `MAX_LEVELS`.
    pub(super) fn value(&mut self, node: usize, level: usize, path: &str) {
        let Some(of) = self.node(node) else { return };
        self.odd_values(node, of, level, path);
        let mut kinds: Vec<(Kind, Seen<'a>)> = KINDS
            .into_iter()
            .zip(of.kinds)
            .filter_map(|(kind, seen)| seen.map(|seen| (kind, seen)))
            .collect();
        kinds.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.count));
        let total = of.count();
        for (number, (kind, seen)) in kinds.into_iter().enumerate() {
            if number > 0 {
                if is_odd(seen.count, total) {
                    continue;
                }
                self.text.push_str(" | ");
            }
            match kind {
                Kind::Object | Kind::Array => self.holds(of, kind, seen.count, level, path),
                _ => self.samples(of, kind, &seen),
            }
        }
    }

    /// What `count` objects or lists hold.
    pub(super) fn holds(
        &mut self,
        of: &Node<'a>,
        kind: Kind,
        count: usize,
        level: usize,
        path: &str,
    ) {
        match kind {
            Kind::Object if level < MAX_LEVELS => self.object(of, count, level, path),
            Kind::Array if level < MAX_LIST_LEVELS => self.list(of, count, level, path),
            Kind::Object => self.text.push_str("{...}"),
            _ => self.text.push_str("[...]"),
        }
    }

    /// The first value, or the reports that it is one of with their counts.
    fn samples(&mut self, of: &Node<'a>, kind: Kind, first: &Seen<'a>) {
        let values = of.values.seen().iter();
        let mut values: Vec<_> = values.filter(|value| kind_of(value.text) == kind).collect();
        if of.is_message && (2..=MESSAGES).contains(&values.len()) {
            let most = if values.len() > FEW_MESSAGES {
                SHORT_MESSAGE_CHARS
            } else {
                MESSAGE_CHARS
            };
            for (number, value) in values.iter().enumerate() {
                let sign = if number > 0 { "|" } else { "" };
                let _ = write!(self.text, "{sign}{}", shorten(value.text, most));
            }
            return;
        }
        if !has_states(of) || values.len() < 2 {
            self.text.push_str(&shorten(first.text, SAMPLE_CHARS));
            return;
        }
        let left_out = values.len().saturating_sub(STATES);
        if left_out > 0 {
            values.sort_by_key(|value| std::cmp::Reverse(value.count));
        }
        for (number, value) in values.iter().take(STATES).enumerate() {
            let sign = if number > 0 { "|" } else { "" };
            let _ = write!(self.text, "{sign}{}", shorten(value.text, MESSAGE_CHARS));
            if value.count > 1 {
                let _ = write!(self.text, " ×{}", value.count);
            }
        }
        if left_out > 0 {
            let _ = write!(self.text, "|… {left_out} more");
        }
    }

    fn object(&mut self, of: &Node<'a>, count: usize, level: usize, path: &str) {
        let separator = if level == 0 { ",\n" } else { ", " };
        self.text.push('{');
        let (mut shown, mut named) = (0, 0);
        for child in &of.children {
            let Some(member) = self.node(*child) else {
                continue;
            };
            if member.key.is_empty() {
                continue;
            }
            let path = format!("{path}.{}", unquoted(member.key));
            let times = member.count();
            if is_odd(times, count) && of.further_keys.is_empty() {
                self.odd_member(*child, member, count, level, &path);
                continue;
            }
            let is_package = self.named && self.is_package_map(of);
            if self.text.len() > SHAPE_BYTES || is_package && shown > 0 {
                // The keys of the whole text are what it is asked for.
                if !is_package || level == 0 {
                    self.text.push_str(separator);
                    self.text.push_str(member.key);
                    named += 1;
                }
                continue;
            }
            if shown > 0 {
                self.text.push_str(separator);
            }
            shown += 1;
            self.member(*child, member, level, &path);
            if times < count {
                let only = member.kinds.iter().flatten().next().filter(|_| times == 1);
                let at = only.map_or(String::new(), |only| holder(&path, only));
                let _ = write!(self.text, " ({times} of {count}{at})");
            }
        }
        if of.further_keys.is_empty() {
            self.lacking(of, count, path);
        }
        if let Some(further) = of.further.filter(|_| !self.is_package_map(of)) {
            // The value is visited for what differs in it, and is not shown itself.
            let shown = self.text.len();
            self.value(further, level + 1, &format!("{path}.*"));
            self.text.truncate(shown);
        }
        // The same key may have been seen in many maps.
        let hidden = of.further_keys.len();
        let is_listed = hidden > 0 && count == 1 && !self.is_package_map(of);
        let listed = if is_listed { hidden.min(KEYS_SHOWN) } else { 0 };
        let mut left = FURTHER_BYTES;
        for further in of.further_keys.iter().take(listed) {
            let plain = further
                .plain
                .filter(|member| member.len() <= left.min(FURTHER_CHARS));
            left -= plain.map_or(0, str::len);
            self.text.push_str(separator);
            self.text.push_str(plain.unwrap_or(further.key));
        }
        let rest = of.children.len() + hidden - shown - named - listed;
        if rest > 0 && (hidden > 0 || self.is_package_map(of)) {
            let _ = write!(self.text, "{separator}... {rest} more");
        }
        self.text.push('}');
    }

    /// Whether the members of `of` are packages: their names are shown in a row of their own.
    fn is_package_map(&self, of: &Node<'a>) -> bool {
        self.named
            && of.children.len() > 1
            && of.children.iter().all(|child| {
                self.node(*child).is_some_and(|member| {
                    member.children.iter().any(|field| {
                        self.node(*field)
                            .is_some_and(|field| unquoted(field.key) == "version")
                    })
                })
            })
    }

    /// A key with its value; a plain one as it is in the source.
    fn member(&mut self, index: usize, member: &Node<'a>, level: usize, path: &str) {
        let plain = member.children.is_empty() && member.kinds.iter().flatten().count() == 1;
        let plain = plain && member.kinds.iter().take(2).all(Option::is_none);
        let values = member.values.seen().len();
        let differ = has_states(member) || member.is_message && (2..=MESSAGES).contains(&values);
        if plain && !differ && member.member.len() <= SAMPLE_CHARS + member.key.len() {
            self.odd_values(index, member, level, path);
            self.text.push_str(member.member);
            return;
        }
        self.text.push_str(member.key);
        self.text.push_str(": ");
        self.value(index, level + 1, path);
    }

    fn list(&mut self, of: &Node<'a>, count: usize, level: usize, path: &str) {
        let item = of
            .children
            .iter()
            .copied()
            .find(|child| self.node(*child).is_some_and(|child| child.key.is_empty()));
        let Some((item, items)) = item.and_then(|item| Some((item, self.node(item)?))) else {
            self.text.push_str("[]");
            return;
        };
        if count == 1 {
            self.names(item, of.items, path);
        }
        if of.is_row {
            return self.row(of, count, level, path);
        }
        let values = items.values.seen();
        self.text.push('[');
        let places = items.values.places();
        if count == 1 && of.items <= FEW_ITEMS && places.len() == of.items {
            let in_order = places.iter().filter_map(|place| values.get(place.value));
            for (number, value) in in_order.enumerate() {
                if number > 0 {
                    self.text.push_str(", ");
                }
                self.text.push_str(value.text);
            }
        } else {
            if of.min_items == of.max_items {
                let _ = write!(self.text, "{} × ", of.max_items);
            } else {
                let _ = write!(self.text, "{}-{} × ", of.min_items, of.max_items);
            }
            self.value(item, level + 1, &format!("{path}[]"));
        }
        self.text.push(']');
    }

    /// Lists that are the records of one: what is at each position.
    fn row(&mut self, of: &Node<'a>, count: usize, level: usize, path: &str) {
        self.text.push('[');
        let columns = of
            .children
            .iter()
            .filter_map(|child| Some((*child, self.node(*child)?)));
        let columns = columns
            .filter(|(_, column)| column.key.is_empty())
            .collect::<Vec<_>>();
        for (number, (child, column)) in columns.into_iter().enumerate() {
            let sign = if number > 0 { ", " } else { "" };
            self.text.push_str(sign);
            if number == MAX_COLUMNS {
                let _ = write!(self.text, "... {} more", of.max_items - MAX_COLUMNS);
                break;
            }
            self.value(child, level + 1, &format!("{path}[{number}]"));
            let times = column.count();
            if times < count {
                let only = column.kinds.iter().flatten().next();
                let at = only.filter(|_| times == 1);
                let at = at.map_or(String::new(), |only| holder(&format!("{path}."), only));
                let _ = write!(self.text, " ({times} of {count}{at})");
            }
        }
        self.text.push(']');
    }

    /// The names of the records of the list at `path`, if each is different, with their values that differ from most.
    fn names(&mut self, items: usize, count: usize, path: &str) {
        let Some(told) = records::told(self.shape, items, count).filter(|_| !self.named) else {
            return;
        };
        let path = path.trim_start_matches('.');
        self.names.push(format!("{path}[]{}", told.row));
        self.told.extend(told.nodes);
    }
}

/// Whether the values of `of` are a few states that are better shown by counts than by a sample.
fn has_states(of: &Node<'_>) -> bool {
    let different = of.values.seen().len();
    // One of a few values does not represent the others.
    if (2..=STATES).contains(&different) && of.count() <= FEW_ITEMS {
        return true;
    }
    let most = of
        .values
        .usual()
        .and_then(|usual| of.values.seen().get(usual));
    most.is_some_and(|most| different <= STATES || most.count * 2 > of.count())
}
