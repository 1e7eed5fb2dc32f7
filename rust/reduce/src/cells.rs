//! A vector that is read and written without panics.

use std::ops::{Index, IndexMut};

/// Values by number. A number beyond the end reads as the default, and what is written there is lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells<T> {
    all: Vec<T>,
    none: T,
}

impl<T: Clone + Default> Cells<T> {
    /// `count` default values.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            all: vec![T::default(); count],
            none: T::default(),
        }
    }

    pub(crate) fn push(&mut self, value: T) {
        self.all.push(value);
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.all.iter()
    }
}

impl<T: Clone + Default> Index<usize> for Cells<T> {
    type Output = T;

    fn index(&self, number: usize) -> &T {
        self.all.get(number).unwrap_or(&self.none)
    }
}

impl<T: Clone + Default> IndexMut<usize> for Cells<T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        if let Some(value) = self.all.get_mut(number) {
            value
        } else {
            self.none = T::default();
            &mut self.none
        }
    }
}
