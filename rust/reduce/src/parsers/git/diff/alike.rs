//! Groups changed lines that differ only in numbers.

use hashbrown::HashMap;

use crate::line::fingerprint::without_numbers;

/// How many kinds of lines are counted at most; a table of more would be twice as large.
const KINDS: usize = 14_336;
/// The kind of a line that is not counted.
pub(super) const NO_KIND: u32 = u32::MAX;
/// If at least this many changed lines differ only in numbers, the first and the last are shown.
const MANY: u32 = 6;

/// How many lines of each kind there are.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    index: HashMap<u64, u32>,
    /// How many there are of each kind, and how many of them were asked about.
    counts: Vec<(u32, u32)>,
}

impl Kinds {
    /// Counts a line. Returns its kind, or [`NO_KIND`] when there are too many.
    pub(super) fn count(&mut self, line: &str) -> u32 {
        let key = without_numbers(line);
        if let Some(kind) = self.index.get(&key).copied() {
            if let Some((count, _)) = self.counts.get_mut(kind as usize) {
                *count += 1;
            }
            return kind;
        }
        let next = u32::try_from(self.counts.len()).unwrap_or(NO_KIND);
        if self.counts.len() >= KINDS {
            return NO_KIND;
        }
        self.index.insert(key, next);
        self.counts.push((1, 0));
        next
    }

    /// Whether enough lines of its kind are shown. It must be called once for each line, in order.
    pub(super) fn is_told(&mut self, kind: u32) -> bool {
        let Some((count, seen)) = self.counts.get_mut(kind as usize) else {
            return false;
        };
        *seen += 1;
        *count >= MANY && *seen > 1 && *seen < *count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_alike_the_first_and_the_last_are_told() {
        let mut kinds = Kinds::default();
        let of: Vec<u32> = (0..7).map(|n| kinds.count(&format!("+row {n}"))).collect();
        let told: Vec<bool> = of.into_iter().map(|kind| kinds.is_told(kind)).collect();
        assert_eq!(told, [false, true, true, true, true, true, false]);
        let odd = kinds.count("+other");
        assert!(!kinds.is_told(odd) && !kinds.is_told(NO_KIND));
    }
}
