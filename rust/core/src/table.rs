//! The tools by name, in order of registration.

mod content;
mod overlay;

use std::iter;
use std::sync::Arc;

use crate::entry::{Entry, EntryError, GateData};
use crate::index::{Index, Place, Roster, Rosters};
use crate::name::{NameError, is_tool_name};

use content::Content;
use overlay::Overlay;

/// Tools by exact name, in order of registration.
///
/// Each has a **slot**, the index of its object in a list that the caller holds; the slot freed
/// last is given out first. A clone is a snapshot: it costs one reference count, and the first
/// change on either side while both live copies the entries, so neither sees the other's changes.
/// A [`ToolTable::branch`] shares its entries for good: a change costs what it changes.
#[derive(Clone, Debug, Default)]
pub struct ToolTable {
    content: Arc<Content>,
    overlay: Option<Arc<Overlay>>,
}

impl ToolTable {
    /// A table that holds the same, changes on its own and shares what it did not change.
    ///
    /// Free slots of this table are not given out by a branch; those that it freed itself are.
    #[must_use]
    pub fn branch(&self) -> Self {
        let empty = || Arc::new(Overlay::new(&self.content));
        Self {
            content: Arc::clone(&self.content),
            overlay: Some(self.overlay.clone().unwrap_or_else(empty)),
        }
    }

    /// How many tools there are, hidden ones too.
    #[must_use]
    pub fn len(&self) -> usize {
        let shared = self.content.len();
        self.overlay
            .as_ref()
            .map_or(shared, |overlay| overlay.len(shared))
    }

    /// Whether there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry of exactly this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.shared(name).map(Arc::as_ref)
    }

    fn shared(&self, name: &str) -> Option<&Arc<Entry>> {
        if let Some(entry) = self.overlay.as_ref().and_then(|overlay| overlay.find(name)) {
            return Some(entry);
        }
        let entry = self.content.find(name)?;
        (!self.is_covered(entry.place.slot)).then_some(entry)
    }

    /// The entry in `slot`.
    #[must_use]
    pub fn entry(&self, slot: u32) -> Option<&Entry> {
        let entry = match &self.overlay {
            Some(overlay) if overlay.covers(slot) => overlay.entry(slot),
            _ => self.content.entry(slot),
        };
        entry.map(Arc::as_ref)
    }

    /// The places of all tools, in order of registration.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let mut shared = self.uncovered(Some(&self.content.index.all)).peekable();
        let mut own = self.own().map(|index| &index.all).into_iter().flatten();
        let mut next_own = own.next();
        iter::from_fn(move || match (shared.peek(), next_own) {
            (Some(place), Some(first)) if *place < first => shared.next(),
            (_, Some(first)) => {
                next_own = own.next();
                Some(first)
            }
            (_, None) => shared.next(),
        })
    }

    /// The places on one roster, in no order.
    pub fn members<'a>(
        &'a self,
        roster: impl Fn(&'a Index) -> Option<&'a Roster>,
    ) -> impl Iterator<Item = Place> + 'a {
        let own = self.own().and_then(&roster);
        self.uncovered(roster(&self.content.index))
            .chain(own.into_iter().flatten())
    }

    /// The keys of one kind of roster, those that no tool has any more and repeated ones too.
    pub fn keys<'a>(
        &'a self,
        rosters: impl Fn(&'a Index) -> &'a Rosters,
    ) -> impl Iterator<Item = &'a Arc<str>> {
        let own = self.own().map(|index| rosters(index).keys());
        rosters(&self.content.index)
            .keys()
            .chain(own.into_iter().flatten())
    }

    /// The entries of MCP tool `tool` of `server`; names that differ may represent the same one.
    pub fn mcp_tool(&self, server: &str, tool: &str) -> impl Iterator<Item = &Entry> {
        let shared = self.content.index.mcp_tool(server, tool);
        let own = self.own().map(|index| index.mcp_tool(server, tool));
        shared
            .filter(|slot| !self.is_covered(*slot))
            .chain(own.into_iter().flatten())
            .filter_map(|slot| self.entry(slot))
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
        let place = match &self.overlay {
            Some(overlay) => overlay.next_place()?,
            None => self.content.next_place()?,
        };
        let entry = Entry::new(name, place, data)?;
        if self.find(name).is_some() {
            return Ok(None);
        }
        match &mut self.overlay {
            Some(overlay) => Arc::make_mut(overlay).add(entry),
            None => Arc::make_mut(&mut self.content).add(entry),
        }
        Ok(Some(place.slot))
    }

    /// Give a present tool new gate data; slot, position and hidden flag stay.
    ///
    /// # Errors
    /// [`EntryError::Name`] for an MCP server that is refused; nothing has changed then.
    pub fn replace(&mut self, name: &str, data: GateData<'_>) -> Result<Option<u32>, EntryError> {
        let Some(present) = self.find(name) else {
            return Ok(None);
        };
        let place = present.place;
        let entry = Entry::new(name, place, data)?;
        let hidden = self.hides(place);
        match &mut self.overlay {
            Some(overlay) => Arc::make_mut(overlay).put(Arc::new(entry), hidden),
            None => Arc::make_mut(&mut self.content).swap(entry),
        }
        Ok(Some(place.slot))
    }

    /// Take a tool out; the slot that is free now, or `None` for an unknown name.
    pub fn remove(&mut self, name: &str) -> Option<u32> {
        let slot = self.find(name)?.place.slot;
        match &mut self.overlay {
            Some(overlay) => Arc::make_mut(overlay).remove(slot),
            None => Arc::make_mut(&mut self.content).remove(name, slot),
        }
        Some(slot)
    }

    /// Leave a tool out of definitions or show it again, calls reach it all the same; whether the
    /// name is known.
    pub fn set_hidden(&mut self, name: &str, hidden: bool) -> bool {
        let Some(entry) = self.shared(name).map(Arc::clone) else {
            return false;
        };
        if self.hides(entry.place) != hidden {
            match &mut self.overlay {
                Some(overlay) => Arc::make_mut(overlay).put(entry, hidden),
                None => Arc::make_mut(&mut self.content)
                    .index
                    .set_hidden(entry.place, hidden),
            }
        }
        true
    }

    /// Whether a tool of this name is there and hidden.
    #[must_use]
    pub fn is_hidden(&self, name: &str) -> bool {
        self.find(name).is_some_and(|entry| self.hides(entry.place))
    }

    /// Whether the tool at `place` is left out of definitions.
    #[must_use]
    pub fn hides(&self, place: Place) -> bool {
        match &self.overlay {
            Some(overlay) if overlay.covers(place.slot) => overlay.index.hidden.contains(place),
            _ => self.content.index.hidden.contains(place),
        }
    }

    /// The slots of all hidden tools, in order of registration.
    #[must_use]
    pub fn hidden_slots(&self) -> Vec<u32> {
        ordered(self.members(|index| Some(&index.hidden)))
    }

    /// All slots in order of registration.
    #[must_use]
    pub fn slots(&self) -> Vec<u32> {
        self.places().map(|place| place.slot).collect()
    }

    /// The slots of a toolset group in order of registration, tools of plugins and MCP servers too.
    #[must_use]
    pub fn group(&self, toolset: &str) -> Vec<u32> {
        let built_in = self.members(|index| index.built_in_groups.get(toolset));
        let others = self.members(|index| index.other_groups.get(toolset));
        ordered(built_in.chain(others))
    }

    fn own(&self) -> Option<&Index> {
        self.overlay.as_ref().map(|overlay| &overlay.index)
    }

    fn is_covered(&self, slot: u32) -> bool {
        self.overlay
            .as_ref()
            .is_some_and(|overlay| overlay.covers(slot))
    }

    fn uncovered<'a>(&'a self, roster: Option<&'a Roster>) -> impl Iterator<Item = Place> + 'a {
        roster
            .into_iter()
            .flatten()
            .filter(|place| !self.is_covered(place.slot))
    }
}

fn ordered(places: impl Iterator<Item = Place>) -> Vec<u32> {
    let mut places: Vec<Place> = places.collect();
    places.sort();
    places.into_iter().map(|place| place.slot).collect()
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
        assert!(table.content.index.built_in_groups.is_empty());
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

    #[test]
    fn a_branch_and_its_origin_do_not_see_each_other() {
        let mut origin = table(&["a", "b", "c"]);
        origin.set_hidden("c", true);
        let mut branch = origin.branch();
        let data = GateData {
            toolset: Some("web"),
            ..GateData::default()
        };
        assert_eq!(branch.replace("b", data), Ok(Some(1)));
        assert_eq!(branch.remove("a"), Some(0));
        assert!(branch.set_hidden("c", false));
        assert_eq!(branch.insert("d", GateData::default()), Ok(Some(0)));
        assert_eq!(branch.insert("a", data), Ok(Some(3)));
        origin.insert("e", GateData::default()).unwrap();
        assert_eq!(branch.slots(), [1, 2, 0, 3]);
        assert_eq!(branch.group("web"), [1, 3]);
        assert_eq!(branch.len(), 4);
        assert!(branch.find("e").is_none());
        assert!(!branch.is_hidden("c"));
        assert_eq!(origin.slots(), [0, 1, 2, 3]);
        assert!(origin.is_hidden("c"));
        assert!(origin.group("web").is_empty());
    }

    #[test]
    fn a_change_of_a_branch_copies_no_shared_entry() {
        let origin = table(&["a", "b"]);
        let mut branch = origin.branch();
        branch.insert("c", GateData::default()).unwrap();
        let mut second = branch.branch();
        second.remove("a");
        assert!(Arc::ptr_eq(&origin.content, &second.content));
        assert_eq!(branch.slots(), [0, 1, 2]);
        assert_eq!(second.slots(), [1, 2]);
    }
}
