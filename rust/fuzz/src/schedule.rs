//! Which family's outputs the next execution begins with.

use crate::random::Random;

/// One execution in so many begins with an output of any family, however many it has.
const ANY_ONCE_IN: usize = 4;

/// How often each family reduced a text.
pub(crate) struct Schedule {
    counts: Vec<(&'static str, u64)>,
}

impl Schedule {
    pub(crate) fn of(families: impl Iterator<Item = &'static str>) -> Self {
        Self {
            counts: families.map(|family| (family, 0)).collect(),
        }
    }

    /// The position of the family to begin with: mostly the one that is the furthest behind.
    pub(crate) fn next(&self, random: &mut Random) -> usize {
        if random.once_in(ANY_ONCE_IN) {
            return random.below(self.counts.len());
        }
        let fewest = self.counts.iter().enumerate();
        let fewest = fewest.min_by_key(|(_, (_, count))| *count);
        fewest.map_or(0, |(position, _)| position)
    }

    /// Counts a text that `family` reduced.
    pub(crate) fn count(&mut self, family: &str) {
        let counts = self.counts.iter_mut();
        for (_, count) in counts.filter(|(name, _)| *name == family) {
            *count += 1;
        }
    }

    /// The position of the family of that name.
    pub(crate) fn position(&self, family: &str) -> Option<usize> {
        self.counts.iter().position(|(name, _)| *name == family)
    }

    /// How many texts were reduced in all, and by the family that reduced the fewest.
    pub(crate) fn counted(&self) -> (u64, u64) {
        let counts = self.counts.iter().map(|(_, count)| *count);
        (counts.clone().sum(), counts.min().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_that_reduces_little_is_begun_with_more_often() {
        let mut schedule = Schedule::of(["often", "seldom"].into_iter());
        let mut begun = [0, 0];
        for index in 0..4_000 {
            let mut random = Random::of(1, index);
            let position = schedule.next(&mut random);
            match position {
                0 => begun[0] += 1,
                _ => begun[1] += 1,
            }
            // Only one in ten of the outputs of the second family stays one of its own.
            if position == 1 && random.once_in(10) {
                schedule.count("seldom");
            } else {
                schedule.count("often");
            }
        }
        assert!(begun[1] > 3_000, "{begun:?}");
        let (all, fewest) = schedule.counted();
        assert!(all == 4_000 && fewest > 250, "{fewest}");
    }

    #[test]
    fn families_that_reduce_alike_get_alike() {
        let names = ["one", "two", "three"];
        let mut schedule = Schedule::of(names.into_iter());
        for index in 0..3_000 {
            let position = schedule.next(&mut Random::of(1, index));
            schedule.count(names.get(position).copied().unwrap_or_default());
        }
        let (all, fewest) = schedule.counted();
        assert!(all == 3_000 && fewest > 900, "{fewest}");
    }

    #[test]
    fn a_family_that_is_not_known_is_not_counted() {
        let mut schedule = Schedule::of(["one"].into_iter());
        schedule.count("two");
        assert_eq!(schedule.counted(), (0, 0));
        assert_eq!(
            (schedule.position("one"), schedule.position("two")),
            (Some(0), None)
        );
    }
}
