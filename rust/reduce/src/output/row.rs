//! One line of a reduced text.

/// How much a row matters when not all rows fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// A failure, verdict, count or location: removed last.
    Fact,
    /// Helps to understand a fact: removed first, from the middle.
    Context,
}

/// One line of the reduced text: where it ends, how many source lines it shows, and flags for a fact and for the name
/// of a failure. There may be millions, so it is packed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row(u64);

const LINES_BITS: u32 = 23;
const FLAG_BITS: u32 = 2;
const MOST_ROW_LINES: u64 = (1 << LINES_BITS) - 1;
const FACT: u64 = 1;
const NAME: u64 = 2;

impl Row {
    pub(super) fn new(end: usize, lines: usize, weight: Weight) -> Self {
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        let lines = u64::try_from(lines).map_or(MOST_ROW_LINES, |lines| lines.min(MOST_ROW_LINES));
        let fact = if weight == Weight::Fact { FACT } else { 0 };
        Self(end << (LINES_BITS + FLAG_BITS) | lines << FLAG_BITS | fact)
    }

    /// A source line that fills a gap between rows.
    pub(super) fn filling() -> Self {
        Self::new(0, 1, Weight::Context)
    }

    /// The same row, marked as the name of a failure.
    pub(super) fn named(self) -> Self {
        Self(self.0 | NAME)
    }

    pub(super) fn moved(self, bytes: usize) -> Self {
        let Self(moved) = Self::new(bytes + self.end(), self.lines(), self.weight());
        Self(moved | self.0 & NAME)
    }

    pub(super) fn end(self) -> usize {
        let Self(packed) = self;
        usize::try_from(packed >> (LINES_BITS + FLAG_BITS)).unwrap_or(usize::MAX)
    }

    pub(super) fn lines(self) -> usize {
        let Self(packed) = self;
        usize::try_from(packed >> FLAG_BITS & MOST_ROW_LINES).unwrap_or(usize::MAX)
    }

    pub(super) fn weight(self) -> Weight {
        let Self(packed) = self;
        if packed & FACT == FACT {
            Weight::Fact
        } else {
            Weight::Context
        }
    }

    pub(super) fn is_name(self) -> bool {
        self.0 & NAME == NAME
    }
}
