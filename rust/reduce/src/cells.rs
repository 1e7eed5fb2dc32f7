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

/// A set of numbers whose members in a range are counted fast.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// A binary indexed tree.
    sums: Cells<usize>,
}

impl Counts {
    /// No numbers of those below `count`.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            sums: Cells::new(count + 1),
        }
    }

    /// Adds a number that is not a member, or removes one that is.
    pub(crate) fn set(&mut self, number: usize, is_member: bool) {
        let mut place = number + 1;
        while place < self.sums.len() {
            let sum = self.sums[place];
            self.sums[place] = if is_member { sum + 1 } else { sum - 1 };
            place += place & place.wrapping_neg();
        }
    }

    /// How many members are at least `start` and less than `end`.
    pub(crate) fn between(&self, start: usize, end: usize) -> usize {
        self.below(end) - self.below(start)
    }

    fn below(&self, mut place: usize) -> usize {
        let mut sum = 0;
        while place > 0 {
            sum += self.sums[place];
            place &= place - 1;
        }
        sum
    }
}
