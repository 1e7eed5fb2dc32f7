//! How much of an output is kept when the caller sets a target length.

/// What is kept of an output that is longer than the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Level {
    /// Everything: only escapes, overwritten progress and exact repeats are removed.
    Lossless,
    /// The rows of the family, and the source lines that fit.
    #[default]
    Facts,
    /// Only verdicts, counts and the names of failures.
    Verdict,
}

impl Level {
    /// Every level, in the order in which messages list them.
    pub const ALL: [Self; 3] = [Self::Lossless, Self::Facts, Self::Verdict];

    /// The public name of the level.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lossless => "lossless",
            Self::Facts => "facts",
            Self::Verdict => "verdict",
        }
    }

    /// The level with exactly this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// The target length of a reduced text, and what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Text of at most this many characters is not shortened.
    pub target_chars: usize,
    /// What is kept of longer text.
    pub level: Level,
}
