//! One line of a reduced text.

/// How much a row matters when not all rows fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// A failure, a verdict, a count, a place: goes last.
    Fact,
    /// What helps to understand it: goes first, from the middle.
    Context,
}

/// One line of the reduced text: where it ends, how many lines of the source it shows, and a bit for a
/// fact. There may be millions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row(u64);

const LINES_BITS: u32 = 23;
const MOST_ROW_LINES: u64 = (1 << LINES_BITS) - 1;

impl Row {
    pub(super) fn new(end: usize, lines: usize, weight: Weight) -> Self {
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        let lines = u64::try_from(lines).map_or(MOST_ROW_LINES, |lines| lines.min(MOST_ROW_LINES));
        Self(end << (LINES_BITS + 1) | lines << 1 | u64::from(weight == Weight::Fact))
    }

    pub(super) fn moved(self, bytes: usize) -> Self {
        Self::new(bytes + self.end(), self.lines(), self.weight())
    }

    pub(super) fn end(self) -> usize {
        let Self(packed) = self;
        usize::try_from(packed >> (LINES_BITS + 1)).unwrap_or(usize::MAX)
    }

    pub(super) fn lines(self) -> usize {
        let Self(packed) = self;
        usize::try_from(packed >> 1 & MOST_ROW_LINES).unwrap_or(usize::MAX)
    }

    pub(super) fn weight(self) -> Weight {
        let Self(packed) = self;
        if packed & 1 == 1 {
            Weight::Fact
        } else {
            Weight::Context
        }
    }
}
