//! What the values at one path of a JSON text have in common, and which of them differ.

use hashbrown::HashTable;

use super::frame::Frame;
use super::kind::{KINDS, Kind, is_failures, is_message, unquoted};
use super::names::Names;
use super::seen::{Record, Seen};
use super::values::{Taken, Values};
use crate::line::fingerprint::fingerprint;

/// How many paths are distinguished; below one beyond them nothing is.
const MAX_NODES: usize = 1_200;
/// An object with more keys is taken for a map: the values of further keys share one node.
pub(super) const MAP_KEYS: usize = 40;
/// How many keys of maps are remembered in all.
const MAX_MAP_KEYS: usize = 8_000;
/// How many columns of a row are distinguished; those after them are one.
pub(super) const MAX_COLUMNS: usize = 12;
/// How many packages are remembered.
const MAX_PACKAGES: usize = 4_096;

/// All values at one path.
#[derive(Debug, Default)]
pub(super) struct Node<'a> {
    /// The key with its quotes; empty for the items of a list and the top.
    pub(super) key: &'a str,
    /// From the quote of the first key to the end of its value.
    pub(super) member: &'a str,
    pub(super) children: Vec<usize>,
    /// Which of them is likely to come next.
    next_child: usize,
    /// The values of a map beyond its first keys.
    pub(super) further: Option<usize>,
    pub(super) further_keys: Vec<Further<'a>>,
    /// By kind, the first value and the count.
    pub(super) kinds: [Option<Seen<'a>>; 6],
    /// Different short values.
    pub(super) values: Values<'a>,
    /// Whether its lists are records whose fields are identified by position.
    pub(super) is_row: bool,
    /// The lengths of lists at this path.
    pub(super) min_items: usize,
    pub(super) max_items: usize,
    pub(super) items: usize,
    /// What its records are called.
    pub(super) names: Names<'a>,
    /// How many members the first of its objects has, and the first object with fewer and how many are such.
    pub(super) members: usize,
    pub(super) short: Option<Seen<'a>>,
    /// Whether its values describe an error.
    pub(super) is_message: bool,
    /// Whether it belongs to a list of failures: then all strings in its records matter.
    is_of_failures: bool,
}

impl<'a> Node<'a> {
    /// An object at it ends.
    fn closes_object(&mut self, object: &Frame<'a>) {
        if self.members == 0 {
            self.members = object.items;
        } else if object.items < self.members {
            let here = Seen::new("", object.list_index, object.above, object.record);
            let short = self.short.get_or_insert(Seen { count: 0, ..here });
            short.count += 1;
        }
    }

    /// How many values there were.
    pub(super) fn count(&self) -> usize {
        self.kinds.iter().flatten().map(|seen| seen.count).sum()
    }
}

/// A member of a map beyond its first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Further<'a> {
    pub(super) key: &'a str,
    /// From the quote of the key to the end of the value, which is not an object and no list.
    pub(super) plain: Option<&'a str>,
}

/// A name with its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Package<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
}

/// The shape of a whole text.
#[derive(Debug, Default)]
pub(super) struct Shape<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) packages: Vec<Package<'a>>,
    /// How many values stand one after the other.
    pub(super) texts: usize,
    /// Where the first of them end.
    pub(super) ends: Vec<usize>,
    package_set: HashTable<u64>,
    map_keys: usize,
    taken: Taken,
    /// How long the text is.
    pub(super) bytes: usize,
}

/// A value is where a key must be.
pub(super) struct Misplaced;

impl<'a> Node<'a> {
    fn new(key: &'a str, member: &'a str) -> Self {
        Self {
            key,
            member,
            min_items: usize::MAX,
            is_message: is_message(key),
            is_of_failures: is_failures(key),
            ..Self::default()
        }
    }
}

impl<'a> Shape<'a> {
    /// That of an output before anything is read.
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            nodes: vec![Node::new("", "")],
            bytes: text.len(),
            ..Self::default()
        }
    }

    /// The lists at `node` are records.
    pub(super) fn is_row(&mut self, node: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.is_row = true;
        }
    }

    /// Whether `node` is of the values of the map at `holder` beyond its first keys.
    pub(super) fn is_further(&self, holder: Option<usize>, node: usize) -> bool {
        let holder = holder.and_then(|holder| self.nodes.get(holder));
        holder.is_some_and(|holder| holder.further == Some(node))
    }

    /// Counts a value in the open object or list `frame`. Its node, or `None` when paths are not shown
    /// apart there.
    pub(super) fn value(
        &mut self,
        text: &'a str,
        frame: Option<&mut Frame<'a>>,
        kind: Kind,
        value: &'a str,
        end: usize,
    ) -> Result<Option<usize>, Misplaced> {
        let Some(frame) = frame else {
            let index = self.texts;
            self.texts += 1;
            let here = Seen::new(value, index, 0, Record::default());
            self.count(0, kind, here);
            return Ok(Some(0));
        };
        let (index, above) = (frame.index(), frame.above());
        let column = if frame.row {
            frame.items.min(MAX_COLUMNS)
        } else {
            0
        };
        frame.items += 1;
        let node = if frame.object {
            let (key, start) = frame.key.take().ok_or(Misplaced)?;
            let member = text.get(start..end).unwrap_or_default();
            frame.told(key, kind, value);
            frame.node.and_then(|node| self.member(node, key, member))
        } else {
            frame.stands(kind, value);
            frame.node.and_then(|node| self.item(node, column))
        };
        if let Some(node) = node {
            self.count(node, kind, Seen::new(value, index, above, frame.record));
        }
        Ok(node)
    }

    /// The node of the member `key` of the objects at `parent`.
    fn member(&mut self, parent: usize, key: &'a str, member: &'a str) -> Option<usize> {
        let node = self.nodes.get(parent)?;
        let is_of_key = |child: usize| self.nodes.get(child).is_some_and(|child| child.key == key);
        // Records have their keys in the same order.
        let next = Some(node.next_child);
        let next = next.filter(|at| {
            node.children
                .get(*at)
                .is_some_and(|child| is_of_key(*child))
        });
        let all = || node.children.iter().position(|child| is_of_key(*child));
        if let Some(at) = next.or_else(all) {
            let node = self.nodes.get_mut(parent)?;
            node.next_child = at + 1;
            return node.children.get(at).copied();
        }
        if node.children.len() < MAP_KEYS {
            return self.child(parent, Node::new(key, member));
        }
        let further = node.further;
        if self.map_keys < MAX_MAP_KEYS {
            self.map_keys += 1;
            let is_plain = !member.ends_with(['{', '[']);
            self.nodes.get_mut(parent)?.further_keys.push(Further {
                key,
                plain: is_plain.then_some(member),
            });
        }
        further.or_else(|| {
            if self.nodes.len() >= MAX_NODES {
                return None;
            }
            let index = self.nodes.len();
            self.nodes.push(Node::new("", ""));
            self.nodes.get_mut(parent)?.further = Some(index);
            Some(index)
        })
    }

    /// The node of the items of the lists at `parent`, of rows that of those in one `column`.
    fn item(&mut self, parent: usize, column: usize) -> Option<usize> {
        let node = self.nodes.get(parent)?;
        // A path may hold lists and objects; the items have no key.
        let items = node.children.iter().copied().filter(|child| {
            self.nodes
                .get(*child)
                .is_some_and(|child| child.key.is_empty())
        });
        let found = { items }.nth(column);
        found.or_else(|| self.child(parent, Node::new("", "")))
    }

    fn child(&mut self, parent: usize, node: Node<'a>) -> Option<usize> {
        if self.nodes.len() >= MAX_NODES {
            return None;
        }
        let index = self.nodes.len();
        let mut node = node;
        let above = self.nodes.get_mut(parent)?;
        above.children.push(index);
        if node.key.is_empty() {
            node.is_message = above.is_message;
            node.is_of_failures = above.is_of_failures;
        } else {
            node.is_message |= above.is_of_failures && above.key.is_empty();
        }
        self.nodes.push(node);
        Some(index)
    }

    /// Counts `here`, the only value so far of those like it, at `node`.
    fn count(&mut self, node: usize, kind: Kind, here: Seen<'a>) {
        let Some(node) = self.nodes.get_mut(node) else {
            return;
        };
        let place = KINDS.iter().position(|other| *other == kind);
        let Some(seen) = place.and_then(|place| node.kinds.get_mut(place)) else {
            return;
        };
        match seen {
            Some(seen) => seen.count += 1,
            None => *seen = Some(here),
        }
        if !here.text.is_empty() {
            node.values.add(here, node.is_message, &mut self.taken);
        }
    }

    pub(super) fn close(&mut self, frame: &Frame<'a>) {
        let node = frame.node.and_then(|node| self.nodes.get_mut(node));
        if let (Some(name), Some(node)) = (frame.called, node) {
            node.names.push(name);
        }
        if let (Some(node), false) = (
            frame.node.and_then(|node| self.nodes.get_mut(node)),
            frame.object,
        ) {
            node.items += frame.items;
            node.min_items = node.min_items.min(frame.items);
            node.max_items = node.max_items.max(frame.items);
        }
        if frame.object
            && let Some(node) = frame.node.and_then(|node| self.nodes.get_mut(node))
        {
            node.closes_object(frame);
        }
        // A package that is installed under another name is known by that one.
        let installed = frame.own_key.rsplit_once("node_modules/");
        let name = installed.map(|(_, name)| name).or(frame.name);
        let name = name.unwrap_or(frame.own_key);
        if let (Some(version), false) = (frame.version, name.is_empty()) {
            self.package(unquoted(name), unquoted(version));
        }
    }

    fn package(&mut self, name: &'a str, version: &'a str) {
        let hash = fingerprint(name) ^ fingerprint(version).rotate_left(1);
        let known = self.package_set.find(hash, |other| *other == hash);
        if known.is_none() && self.packages.len() < MAX_PACKAGES {
            self.package_set.insert_unique(hash, hash, |other| *other);
            self.packages.push(Package { name, version });
        }
    }
}
