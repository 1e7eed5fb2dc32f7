//! What the command line says.

use std::time::Duration;

use crate::STRIDE;

/// When a run is over.
pub(crate) enum End {
    /// After so many executions.
    Executions(u64),
    /// After so many seconds.
    Seconds(u64),
    /// After the execution of that number, which is the only one.
    Only(u64),
}

/// A run: which executions, and how many.
pub(crate) struct Arguments {
    pub(crate) seed: u64,
    pub(crate) end: End,
}

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            seed: 1,
            end: End::Executions(100_000),
        };
        while let Some(name) = words.next() {
            let number = words.next().and_then(|word| word.parse().ok());
            let number = number.ok_or_else(|| format!("{name}: wanted is a number"))?;
            match name.as_str() {
                "--seed" => arguments.seed = number,
                "--executions" => arguments.end = End::Executions(number),
                "--seconds" => arguments.end = End::Seconds(number),
                "--only" => arguments.end = End::Only(number),
                _ => {
                    return Err(format!(
                        "{name}: known are --seed, --executions, --seconds, --only"
                    ));
                }
            }
        }
        Ok(arguments)
    }

    /// The number of the first execution.
    pub(crate) fn first(&self) -> u64 {
        match self.end {
            End::Only(index) => index,
            End::Executions(_) | End::Seconds(_) => 0,
        }
    }

    /// Whether the execution of that number is not to be run any more.
    pub(crate) fn is_over(&self, index: u64, elapsed: impl FnOnce() -> Duration) -> bool {
        match self.end {
            End::Only(only) => index > only,
            End::Executions(executions) => index >= executions,
            End::Seconds(seconds) => {
                index.is_multiple_of(STRIDE) && elapsed() >= Duration::from_secs(seconds)
            }
        }
    }
}
