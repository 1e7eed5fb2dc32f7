//! How much of an input is kept when a caller states how long the reduced text may be.

/// What is kept of an input that is longer than the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Level {
    /// Everything: only escapes, overwritten progress and exact repeats go.
    Lossless,
    /// The rows of the family, and the lines of the source that fit.
    #[default]
    Facts,
    /// Verdicts, counts and the names of failures alone.
    Verdict,
}

impl Level {
    /// Every level, in the order in which messages name them.
    pub const ALL: [Self; 3] = [Self::Lossless, Self::Facts, Self::Verdict];

    /// The name by which programs ask for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lossless => "lossless",
            Self::Facts => "facts",
            Self::Verdict => "verdict",
        }
    }

    /// The level of that exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// How long a reduced text may be, and what of it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// What fits in this many characters stays whole.
    pub target_chars: usize,
    /// What is kept of what does not fit.
    pub level: Level,
}
