//! What the command line states.

use std::time::Duration;

use crate::STRIDE;

/// When a run is over.
pub(crate) enum End {
    /// After this many executions that are counted, and this many of each family.
    Counted { all: u64, per_family: u64 },
    /// After this many seconds.
    Seconds(u64),
    /// After the execution of that number, which is the only one.
    Only(u64),
    /// After all inputs that are made to take long, at this many bytes and at eight times that number.
    Growth(usize),
    /// The same inputs at this many bytes, each in a process of its own, for the memory that they take.
    Memory(usize),
    /// Some of these inputs and an output of each family, at this many bytes and at 100 times that number.
    Scale(usize),
}

/// A run: which executions, and how many.
pub(crate) struct Arguments {
    pub(crate) seed: u64,
    pub(crate) end: End,
    /// The families whose outputs executions begin with; all when none is named.
    pub(crate) families: Vec<String>,
}

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut seed, mut all, mut per_family) = (1, None, 0);
        let (mut seconds, mut only, mut families) = (None, None, Vec::new());
        let mut measured = None;
        while let Some(name) = words.next() {
            let value = words.next().unwrap_or_default();
            if name == "--family" {
                families.push(value);
                continue;
            }
            let number: u64 = value
                .parse()
                .map_err(|_| format!("{name} must be a number, not {value:?}"))?;
            match name.as_str() {
                "--seed" => seed = number,
                "--executions" => all = Some(number),
                "--per-family" => per_family = number,
                "--seconds" => seconds = Some(number),
                "--only" => only = Some(number),
                "--growth" => measured = usize::try_from(number).ok().map(End::Growth),
                "--memory" => measured = usize::try_from(number).ok().map(End::Memory),
                "--scale" => measured = usize::try_from(number).ok().map(End::Scale),
                _ => {
                    return Err(format!(
                        "{name}: known are --seed, --executions, --per-family, --seconds, --only, --family, --growth, --memory, --scale"
                    ));
                }
            }
        }
        let end = match (only, seconds, measured) {
            (Some(index), _, _) => End::Only(index),
            (None, Some(seconds), _) => End::Seconds(seconds),
            (None, None, Some(measured)) => measured,
            (None, None, None) => End::Counted {
                all: all.unwrap_or(100_000),
                per_family,
            },
        };
        Ok(Self {
            seed,
            end,
            families,
        })
    }

    /// The number of the first execution.
    pub(crate) fn first(&self) -> u64 {
        match self.end {
            End::Only(index) => index,
            _ => 0,
        }
    }

    /// Whether the execution of number `index` is not to be run any more, after `counted` of all and
    /// `fewest` of the family that has the fewest.
    pub(crate) fn is_over(
        &self,
        index: u64,
        (counted, fewest): (u64, u64),
        elapsed: impl FnOnce() -> Duration,
    ) -> bool {
        match self.end {
            End::Only(only) => index > only,
            End::Growth(_) | End::Memory(_) | End::Scale(_) => true,
            End::Counted { all, per_family } => counted >= all && fewest >= per_family,
            End::Seconds(seconds) => {
                index.is_multiple_of(STRIDE) && elapsed() >= Duration::from_secs(seconds)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    fn parsed(line: &str) -> Arguments {
        Arguments::parse(line.split_whitespace().map(str::to_owned)).unwrap()
    }

    #[test]
    fn a_run_goes_on_until_each_family_has_its_share() {
        let run = parsed("--seed 7 --executions 10 --per-family 3");
        assert_eq!(run.seed, 7);
        assert!(!run.is_over(100, (12, 2), || Duration::ZERO));
        assert!(!run.is_over(100, (9, 3), || Duration::ZERO));
        assert!(run.is_over(100, (10, 3), || Duration::ZERO));
    }

    #[test]
    fn one_execution_is_run_again_alone() {
        let run = parsed("--only 42 --family pytest");
        assert_eq!((run.first(), run.families), (42, vec!["pytest".to_owned()]));
        let run = parsed("--only 42");
        assert!(!run.is_over(42, (0, 0), || Duration::ZERO));
        assert!(run.is_over(43, (0, 0), || Duration::ZERO));
    }

    #[test]
    fn a_word_that_is_not_known_is_named() {
        let unknown = Arguments::parse(["--sead", "1"].map(str::to_owned).into_iter());
        assert!(unknown.err().unwrap().starts_with("--sead: known are"));
    }
}
