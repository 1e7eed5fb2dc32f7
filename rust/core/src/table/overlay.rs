//! What one table changed over entries that it shares with others.

use std::sync::Arc;

use hashbrown::HashMap;

use super::content::Content;
use crate::entry::{Entry, EntryError};
use crate::index::{Index, Place};

/// The slots that differ from the shared ones, with all that belongs to their tools.
///
/// A tool that is replaced or hidden keeps its place: the overlay then **covers** the shared slot,
/// and neither the shared entry nor what the shared rosters say of it counts any more.
#[derive(Clone, Debug)]
pub(super) struct Overlay {
    /// By slot; `None` where nothing is.
    entries: HashMap<u32, Option<Arc<Entry>>>,
    names: HashMap<Arc<str>, u32>,
    shared_slots: u32,
    covered: usize,
    free_slots: Vec<u32>,
    slot_count: u32,
    next_position: u64,
    pub(super) index: Index,
}

impl Overlay {
    /// An overlay that changes nothing.
    pub(super) fn new(shared: &Content) -> Self {
        // A table with more slots than numbers takes no entry, so none is ever out of reach.
        let shared_slots = shared.slot_count().unwrap_or(u32::MAX);
        Self {
            entries: HashMap::new(),
            names: HashMap::new(),
            shared_slots,
            covered: 0,
            free_slots: Vec::new(),
            slot_count: shared_slots,
            next_position: shared.next_position(),
            index: Index::default(),
        }
    }

    /// Whether the shared slot of this number does not count.
    pub(super) fn covers(&self, slot: u32) -> bool {
        self.entries.contains_key(&slot)
    }

    /// How many tools there are over `shared_len` shared ones.
    pub(super) fn len(&self, shared_len: usize) -> usize {
        shared_len
            .saturating_sub(self.covered)
            .saturating_add(self.names.len())
    }

    pub(super) fn entry(&self, slot: u32) -> Option<&Arc<Entry>> {
        self.entries.get(&slot)?.as_ref()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        self.entry(*self.names.get(name)?)
    }

    /// Where the next tool goes: the slot freed here last, or the one after the end.
    pub(super) fn next_place(&self) -> Result<Place, EntryError> {
        let slot = match self.free_slots.last() {
            Some(slot) => *slot,
            None if self.slot_count == u32::MAX => return Err(EntryError::Full),
            None => self.slot_count,
        };
        Ok(Place {
            position: self.next_position,
            slot,
        })
    }

    /// Add an entry that is at [`Overlay::next_place`].
    pub(super) fn add(&mut self, entry: Entry) {
        self.next_position = self.next_position.saturating_add(1);
        if self.free_slots.pop().is_none() {
            self.slot_count = self.slot_count.saturating_add(1);
        }
        self.put(Arc::new(entry), false);
    }

    /// Let an entry stand in its slot instead of what the slot holds.
    pub(super) fn put(&mut self, entry: Arc<Entry>, hidden: bool) {
        let place = entry.place;
        self.empty(place.slot);
        self.index.add(&entry);
        self.index.set_hidden(place, hidden);
        self.names.insert(Arc::clone(&entry.name), place.slot);
        self.entries.insert(place.slot, Some(entry));
    }

    /// Let nothing stand in a slot, which is free then.
    pub(super) fn remove(&mut self, slot: u32) {
        self.empty(slot);
        self.free_slots.push(slot);
    }

    fn empty(&mut self, slot: u32) {
        match self.entries.insert(slot, None) {
            Some(Some(present)) => {
                self.index.remove(&present);
                self.index.set_hidden(present.place, false);
                self.names.remove(&present.name);
            }
            None if slot < self.shared_slots => self.covered = self.covered.saturating_add(1),
            Some(None) | None => {}
        }
    }
}
