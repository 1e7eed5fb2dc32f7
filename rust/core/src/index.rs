//! Who is where: the lists that let a gate reach its tools without a walk over all of them.

use std::hash::BuildHasher;
use std::iter::Copied;
use std::slice::Iter;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::entry::Entry;

/// Where a tool is: `position` orders by time of registration, `slot` is its stable number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Grows with every insertion and is never used twice.
    pub position: u64,
    /// Used again after its tool was removed.
    pub slot: u32,
}

/// Places in order of registration.
///
/// A plain list: entries come at the end and tables are copied more often than tools are removed,
/// so a tree would cost more in the walk and the copy than it saves in the removal.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    places: Vec<Place>,
}

impl Roster {
    /// The places in order.
    pub fn iter(&self) -> Copied<Iter<'_, Place>> {
        self.places.iter().copied()
    }

    /// Whether `place` is on the list.
    #[must_use]
    pub fn contains(&self, place: Place) -> bool {
        self.places.binary_search(&place).is_ok()
    }

    fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn insert(&mut self, place: Place) {
        if let Err(index) = self.places.binary_search(&place) {
            self.places.insert(index, place);
        }
    }

    fn remove(&mut self, place: Place) {
        if let Ok(index) = self.places.binary_search(&place) {
            self.places.remove(index);
        }
    }
}

impl<'a> IntoIterator for &'a Roster {
    type Item = Place;
    type IntoIter = Copied<Iter<'a, Place>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Rosters by the text that their tools share.
pub type Rosters = HashMap<Arc<str>, Roster>;

/// The rosters of a table, kept by [`Index::add`] and [`Index::remove`] alone.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Every tool.
    pub all: Roster,
    /// Tools that are left out of definitions; neither [`Index::add`] nor [`Index::remove`] looks here.
    pub hidden: Roster,
    /// Tools that belong to no MCP server and no plugin.
    pub built_in: Roster,
    /// Built-in tools that pass every toolset gate.
    pub always_included: Roster,
    /// Built-in tools by toolset group.
    pub built_in_groups: Rosters,
    /// Tools of MCP servers and plugins by toolset group.
    pub other_groups: Rosters,
    /// MCP tools by server.
    pub servers: Rosters,
    /// Plugin tools by plugin.
    pub plugins: Rosters,
    mcp_tools: HashTable<McpSlot>,
    hasher: DefaultHashBuilder,
}

/// One MCP tool under the hash of its server and bare name; several may share both.
#[derive(Clone, Copy, Debug)]
struct McpSlot {
    hash: u64,
    slot: u32,
}

impl Index {
    /// Enter `entry` wherever its gate data states.
    pub fn add(&mut self, entry: &Entry) {
        self.all.insert(entry.place);
        for roster in self.rosters_of(entry) {
            roster.insert(entry.place);
        }
        for (rosters, key) in self.keyed_rosters_of(entry) {
            rosters
                .entry(Arc::clone(key))
                .or_default()
                .insert(entry.place);
        }
        if let Some(mcp) = &entry.mcp {
            let hash = self.hasher.hash_one((&*mcp.server, &*mcp.tool));
            let item = McpSlot {
                hash,
                slot: entry.place.slot,
            };
            self.mcp_tools.insert_unique(hash, item, |item| item.hash);
        }
    }

    /// Undo what [`Index::add`] did for the same entry.
    pub fn remove(&mut self, entry: &Entry) {
        self.all.remove(entry.place);
        for roster in self.rosters_of(entry) {
            roster.remove(entry.place);
        }
        for (rosters, key) in self.keyed_rosters_of(entry) {
            if let Some(roster) = rosters.get_mut(key) {
                roster.remove(entry.place);
                if roster.is_empty() {
                    rosters.remove(key);
                }
            }
        }
        if let Some(mcp) = &entry.mcp {
            let hash = self.hasher.hash_one((&*mcp.server, &*mcp.tool));
            let found = self
                .mcp_tools
                .find_entry(hash, |item| item.slot == entry.place.slot);
            if let Ok(found) = found {
                found.remove();
            }
        }
    }

    /// Slots that may hold MCP tool `tool` of `server`; a hash may bring in a stranger, so
    /// [`crate::table::ToolTable::mcp_tool`] looks at the entry.
    pub fn mcp_tool(&self, server: &str, tool: &str) -> impl Iterator<Item = u32> + '_ {
        let hash = self.hasher.hash_one((server, tool));
        self.mcp_tools
            .iter_hash(hash)
            .filter(move |item| item.hash == hash)
            .map(|item| item.slot)
    }

    /// Put a tool on the hidden list or take it off.
    pub fn set_hidden(&mut self, place: Place, hidden: bool) {
        if hidden {
            self.hidden.insert(place);
        } else {
            self.hidden.remove(place);
        }
    }

    fn rosters_of(&mut self, entry: &Entry) -> impl Iterator<Item = &mut Roster> {
        let built_in = entry.is_built_in().then_some(&mut self.built_in);
        let always = entry.is_built_in() && entry.always_include;
        built_in
            .into_iter()
            .chain(always.then_some(&mut self.always_included))
    }

    fn keyed_rosters_of<'a>(
        &'a mut self,
        entry: &'a Entry,
    ) -> impl Iterator<Item = (&'a mut Rosters, &'a Arc<str>)> {
        let groups = if entry.is_built_in() {
            &mut self.built_in_groups
        } else {
            &mut self.other_groups
        };
        let group = entry.toolset.as_ref().map(|toolset| (groups, toolset));
        let server = entry
            .mcp
            .as_ref()
            .map(|mcp| (&mut self.servers, &mcp.server));
        let plugin = entry
            .plugin_id
            .as_ref()
            .map(|plugin| (&mut self.plugins, plugin));
        [group, server, plugin].into_iter().flatten()
    }
}
