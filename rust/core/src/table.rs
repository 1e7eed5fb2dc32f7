//! The tools by name, in order of registration.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::entry::{Entry, EntryError, GateData};
use crate::index::{Index, Place};
use crate::name::{NameError, is_tool_name};

/// Tools by exact name, in order of registration.
///
/// Each has a **slot**, the index of its object in a list that the caller holds; the slot freed
/// last is given out first. A clone is a snapshot: it costs one reference count, and the first
/// change on either side while both live copies the entries, so neither sees the other's changes.
#[derive(Clone, Debug, Default)]
pub struct ToolTable {
    content: Arc<Content>,
}

#[derive(Clone, Debug, Default)]
struct Content {
    names: HashTable<NamedSlot>,
    entries: Vec<Option<Arc<Entry>>>,
    free_slots: Vec<u32>,
    next_position: u64,
    index: Index,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy, Debug)]
struct NamedSlot {
    hash: u64,
    slot: u32,
}

impl ToolTable {
    /// How many tools there are, hidden ones too.
    #[must_use]
    pub fn len(&self) -> usize {
        self.content.names.len()
    }

    /// Whether there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry of exactly this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.content.entry(self.content.slot_of(name)?)
    }

    /// The entry in `slot`.
    #[must_use]
    pub fn entry(&self, slot: u32) -> Option<&Entry> {
        self.content.entry(slot)
    }

    /// The rosters that gates choose from.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.content.index
    }

    /// The entries of MCP tool `tool` of `server`; names that differ may stand for the same one.
    pub fn mcp_tool(&self, server: &str, tool: &str) -> impl Iterator<Item = &Entry> {
        let slots = self.content.index.mcp_tool(server, tool);
        slots
            .filter_map(|slot| self.content.entry(slot))
            .filter(move |entry| {
                let mcp = entry.mcp.as_ref();
                mcp.is_some_and(|mcp| &*mcp.server == server && &*mcp.tool == tool)
            })
    }

    /// Add a tool at the end of the order; its slot, or `None` for a name that is present.
    ///
    /// # Errors
    /// [`EntryError::Name`] for a name or an MCP server that is refused; nothing has changed then.
    pub fn insert(&mut self, name: &str, data: GateData<'_>) -> Result<Option<u32>, EntryError> {
        if !is_tool_name(name) {
            return Err(NameError::NotAToolName {
                name: name.to_owned(),
            }
            .into());
        }
        let slot = match self.content.free_slots.last() {
            Some(slot) => *slot,
            None => u32::try_from(self.content.entries.len()).map_err(|_| EntryError::Full)?,
        };
        let place = Place {
            position: self.content.next_position,
            slot,
        };
        let entry = Entry::new(name, place, data)?;
        if self.content.slot_of(name).is_some() {
            return Ok(None);
        }
        Arc::make_mut(&mut self.content).add(entry);
        Ok(Some(slot))
    }

    /// Give a present tool new gate data; slot, position and hidden flag stay.
    ///
    /// # Errors
    /// [`EntryError::Name`] for an MCP server that is refused; nothing has changed then.
    pub fn replace(&mut self, name: &str, data: GateData<'_>) -> Result<Option<u32>, EntryError> {
        let Some(present) = self.find(name) else {
            return Ok(None);
        };
        let slot = present.place.slot;
        let entry = Entry::new(name, present.place, data)?;
        Arc::make_mut(&mut self.content).swap(entry);
        Ok(Some(slot))
    }

    /// Take a tool out; the slot that is free now, or `None` for an unknown name.
    pub fn remove(&mut self, name: &str) -> Option<u32> {
        let slot = self.content.slot_of(name)?;
        Arc::make_mut(&mut self.content).remove(name, slot);
        Some(slot)
    }

    /// Leave a tool out of definitions or show it again, calls reach it all the same; whether the
    /// name is known.
    pub fn set_hidden(&mut self, name: &str, hidden: bool) -> bool {
        let Some(place) = self.find(name).map(|entry| entry.place) else {
            return false;
        };
        if self.content.index.hidden.contains(place) != hidden {
            Arc::make_mut(&mut self.content)
                .index
                .set_hidden(place, hidden);
        }
        true
    }

    /// Whether a tool of this name is there and hidden.
    #[must_use]
    pub fn is_hidden(&self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|entry| self.content.index.hidden.contains(entry.place))
    }

    /// All slots in order of registration.
    #[must_use]
    pub fn slots(&self) -> Vec<u32> {
        self.content
            .index
            .all
            .iter()
            .map(|place| place.slot)
            .collect()
    }

    /// The slots of a toolset group in order of registration, tools of plugins and MCP servers too.
    #[must_use]
    pub fn group(&self, toolset: &str) -> Vec<u32> {
        let index = &self.content.index;
        let rosters = [
            index.built_in_groups.get(toolset),
            index.other_groups.get(toolset),
        ];
        let mut places: Vec<Place> = rosters.into_iter().flatten().flatten().collect();
        places.sort();
        places.into_iter().map(|place| place.slot).collect()
    }
}

impl Content {
    fn entry(&self, slot: u32) -> Option<&Entry> {
        self.entries.get(usize::try_from(slot).ok()?)?.as_deref()
    }

    fn entry_slot(&mut self, slot: u32) -> Option<&mut Option<Arc<Entry>>> {
        self.entries.get_mut(usize::try_from(slot).ok()?)
    }

    fn is_named(&self, item: NamedSlot, hash: u64, name: &str) -> bool {
        item.hash == hash
            && self
                .entry(item.slot)
                .is_some_and(|entry| &*entry.name == name)
    }

    fn slot_of(&self, name: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        self.names
            .find(hash, |item| self.is_named(*item, hash, name))
            .map(|item| item.slot)
    }

    /// `entry` has a slot that is free: the last of the free ones, or the one after the end.
    fn add(&mut self, entry: Entry) {
        let hash = self.hasher.hash_one(&*entry.name);
        let slot = entry.place.slot;
        self.next_position = self.next_position.saturating_add(1);
        self.index.add(&entry);
        self.names
            .insert_unique(hash, NamedSlot { hash, slot }, |item| item.hash);
        let entry = Some(Arc::new(entry));
        if self.free_slots.pop().is_none() {
            self.entries.push(entry);
        } else if let Some(place) = self.entry_slot(slot) {
            *place = entry;
        }
    }

    fn swap(&mut self, entry: Entry) {
        let Some(present) = self.entry_slot(entry.place.slot).and_then(Option::take) else {
            return;
        };
        self.index.remove(&present);
        self.index.add(&entry);
        let slot = entry.place.slot;
        if let Some(place) = self.entry_slot(slot) {
            *place = Some(Arc::new(entry));
        }
    }

    fn remove(&mut self, name: &str, slot: u32) {
        let hash = self.hasher.hash_one(name);
        if let Ok(found) = self.names.find_entry(hash, |item| item.slot == slot) {
            found.remove();
        }
        if let Some(entry) = self.entry_slot(slot).and_then(Option::take) {
            self.index.remove(&entry);
            self.index.set_hidden(entry.place, false);
            self.free_slots.push(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    fn table(names: &[&str]) -> ToolTable {
        let mut table = ToolTable::default();
        for name in names {
            table.insert(name, GateData::default()).unwrap().unwrap();
        }
        table
    }

    #[test]
    fn slots_are_reused_and_the_order_is_that_of_registration() {
        let mut table = table(&["a", "b", "c"]);
        assert_eq!(table.remove("a"), Some(0));
        assert_eq!(table.insert("d", GateData::default()), Ok(Some(0)));
        assert_eq!(table.slots(), [1, 2, 0]);
        assert_eq!(table.insert("d", GateData::default()), Ok(None));
        assert_eq!(table.len(), 3);
    }

    #[test]
    fn a_replaced_tool_keeps_its_place_and_its_flag() {
        let mut table = table(&["a", "b"]);
        assert!(table.set_hidden("a", true));
        let data = GateData {
            toolset: Some("web"),
            ..GateData::default()
        };
        assert_eq!(table.replace("a", data), Ok(Some(0)));
        assert_eq!(table.slots(), [0, 1]);
        assert_eq!(table.group("web"), [0]);
        assert!(table.is_hidden("a"));
        assert_eq!(table.replace("a", GateData::default()), Ok(Some(0)));
        assert!(table.group("web").is_empty());
        assert!(table.index().built_in_groups.is_empty());
    }

    #[test]
    fn a_snapshot_and_its_origin_do_not_see_each_other() {
        let mut origin = table(&["a", "b"]);
        let mut snapshot = origin.clone();
        origin.remove("a");
        snapshot.set_hidden("b", true);
        assert!(snapshot.find("a").is_some());
        assert!(!origin.is_hidden("b"));
    }

    #[test]
    fn a_change_copies_only_while_a_snapshot_lives() {
        let mut origin = table(&["a"]);
        let before = Arc::as_ptr(&origin.content);
        origin.insert("b", GateData::default()).unwrap();
        assert_eq!(Arc::as_ptr(&origin.content), before);
        let snapshot = origin.clone();
        origin.insert("b", GateData::default()).unwrap();
        assert_eq!(Arc::as_ptr(&origin.content), before);
        origin.insert("c", GateData::default()).unwrap();
        assert_ne!(Arc::as_ptr(&origin.content), before);
        assert_eq!(snapshot.len(), 2);
    }

    #[test]
    fn a_refused_entry_changes_nothing() {
        let mut table = table(&["a"]);
        let tool_only = GateData {
            mcp_tool: Some("x"),
            ..GateData::default()
        };
        assert!(table.insert("rm\n", GateData::default()).is_err());
        assert!(table.insert("mcp__solo", GateData::default()).is_err());
        assert!(table.insert("b", tool_only).is_err());
        assert!(table.replace("a", tool_only).is_err());
        assert_eq!(table.slots(), [0]);
        assert!(table.find("a").unwrap().is_built_in());
    }
}
