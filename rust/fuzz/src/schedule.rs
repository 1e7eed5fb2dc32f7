//! Which family's outputs the next execution begins with.

use crate::random::Random;

/// One execution in this many begins with an output of any family, however many it has.
const ANY_ONCE_IN: usize = 4;

/// How often each family reduced an input.
pub(crate) struct Schedule {
    counts: Vec<(&'static str, u64)>,
    /// The positions of those to begin with.
    wanted: Vec<usize>,
}

impl Schedule {
    /// One of all `families` that begins with those in `wanted`, or with any when none is; shows a name
    /// that is not known.
    pub(crate) fn of(
        families: impl Iterator<Item = &'static str>,
        wanted: &[String],
    ) -> Result<Self, String> {
        let counts: Vec<_> = families.map(|family| (family, 0)).collect();
        let position = |name: &String| {
            let position = counts.iter().position(|(known, _)| known == name);
            position.ok_or_else(|| {
                let known: Vec<_> = counts.iter().map(|(name, _)| *name).collect();
                format!("--family {name}: known are {}", known.join(", "))
            })
        };
        let mut wanted = wanted.iter().map(position).collect::<Result<Vec<_>, _>>()?;
        if wanted.is_empty() {
            wanted = (0..counts.len()).collect();
        }
        Ok(Self { counts, wanted })
    }

    /// The position of the family to begin with: mostly the one that is the furthest behind.
    pub(crate) fn next(&self, random: &mut Random) -> usize {
        let next = if random.once_in(ANY_ONCE_IN) {
            self.wanted.get(random.below(self.wanted.len())).copied()
        } else {
            let count = |position: &&usize| self.counts.get(**position).map(|(_, count)| *count);
            self.wanted.iter().min_by_key(count).copied()
        };
        next.unwrap_or_default()
    }

    /// Counts an input that `family` reduced.
    pub(crate) fn count(&mut self, family: &str) {
        let counts = self.counts.iter_mut();
        for (_, count) in counts.filter(|(name, _)| *name == family) {
            *count += 1;
        }
    }

    /// How many inputs were reduced in all, and by the family that is started with and reduced the fewest.
    pub(crate) fn counted(&self) -> (u64, u64) {
        let all = self.counts.iter().map(|(_, count)| *count).sum();
        let wanted = self.wanted.iter();
        let fewest = wanted.filter_map(|position| self.counts.get(*position));
        (all, fewest.map(|(_, count)| *count).min().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn a_family_that_reduces_little_is_begun_with_more_often() {
        let mut schedule = Schedule::of(["often", "seldom"].into_iter(), &[]).unwrap();
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
    fn families_that_reduce_equally_get_equal_turns() {
        let names = ["one", "two", "three"];
        let mut schedule = Schedule::of(names.into_iter(), &[]).unwrap();
        for index in 0..3_000 {
            let position = schedule.next(&mut Random::of(1, index));
            schedule.count(names.get(position).copied().unwrap_or_default());
        }
        let (all, fewest) = schedule.counted();
        assert!(all == 3_000 && fewest > 900, "{fewest}");
    }

    #[test]
    fn a_family_that_is_not_known_is_not_counted() {
        let mut schedule = Schedule::of(["one"].into_iter(), &[]).unwrap();
        schedule.count("two");
        assert_eq!(schedule.counted(), (0, 0));
    }

    #[test]
    fn a_run_begins_with_the_families_that_are_named() {
        let names = || ["one", "two", "three"].into_iter();
        let wanted = ["three", "two"].map(str::to_owned);
        let mut schedule = Schedule::of(names(), &wanted).unwrap();
        for index in 0..1_000 {
            let position = schedule.next(&mut Random::of(1, index));
            assert_ne!(position, 0);
            schedule.count(names().nth(position).unwrap());
        }
        let (all, fewest) = schedule.counted();
        assert!(all == 1_000 && fewest > 400, "{fewest}");
        let unknown = Schedule::of(names(), &["four".to_owned()]).err();
        let counted = "--family four: known are one, two, three";
        assert_eq!(unknown.as_deref(), Some(counted));
    }
}
