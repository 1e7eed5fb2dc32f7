//! The entries of a table that is on its own.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::entry::{Entry, EntryError};
use crate::index::{Index, Place};

/// Names, entries by slot and the rosters, always changed together.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    names: HashTable<NamedSlot>,
    entries: Vec<Option<Arc<Entry>>>,
    free_slots: Vec<u32>,
    next_position: u64,
    pub(super) index: Index,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy, Debug)]
struct NamedSlot {
    hash: u64,
    slot: u32,
}

impl Content {
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn entry(&self, slot: u32) -> Option<&Arc<Entry>> {
        self.entries.get(usize::try_from(slot).ok()?)?.as_ref()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        let hash = self.hasher.hash_one(name);
        let found = self
            .names
            .find(hash, |item| self.is_named(*item, hash, name))?;
        self.entry(found.slot)
    }

    fn is_named(&self, item: NamedSlot, hash: u64, name: &str) -> bool {
        item.hash == hash
            && self
                .entry(item.slot)
                .is_some_and(|entry| &*entry.name == name)
    }

    fn entry_slot(&mut self, slot: u32) -> Option<&mut Option<Arc<Entry>>> {
        self.entries.get_mut(usize::try_from(slot).ok()?)
    }

    /// Where the next tool goes: the slot freed last, or the one after the end.
    pub(super) fn next_place(&self) -> Result<Place, EntryError> {
        let slot = match self.free_slots.last() {
            Some(slot) => *slot,
            None => self.slot_count()?,
        };
        Ok(Place {
            position: self.next_position,
            slot,
        })
    }

    /// How many slots there are, free ones too.
    pub(super) fn slot_count(&self) -> Result<u32, EntryError> {
        u32::try_from(self.entries.len()).map_err(|_| EntryError::Full)
    }

    /// The position after every one that was ever given out.
    pub(super) fn next_position(&self) -> u64 {
        self.next_position
    }

    /// Add an entry that is at [`Content::next_place`].
    pub(super) fn add(&mut self, entry: Entry) {
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

    /// Put an entry in the place of the one that has its name and slot.
    pub(super) fn swap(&mut self, entry: Entry) {
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

    pub(super) fn remove(&mut self, name: &str, slot: u32) {
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
