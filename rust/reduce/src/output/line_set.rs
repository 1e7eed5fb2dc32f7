//! Sets of line numbers.

/// A set of line numbers.
#[derive(Clone, Debug, Default)]
pub(in crate::output) struct LineSet(Vec<u64>);

impl LineSet {
    pub(in crate::output) fn of(lines: usize) -> Self {
        Self(vec![0; lines / 64 + 1])
    }

    pub(in crate::output) fn insert(&mut self, line: usize) {
        if let Some(word) = self.0.get_mut(line / 64) {
            *word |= 1 << (line % 64);
        }
    }

    pub(in crate::output) fn contains(&self, line: usize) -> bool {
        let word = self.0.get(line / 64).copied().unwrap_or_default();
        word >> (line % 64) & 1 == 1
    }

    pub(in crate::output) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// How many lines from `from` to `to` are in neither set.
    pub(in crate::output) fn outside(&self, other: &Self, from: usize, to: usize) -> usize {
        let mut outside = 0;
        let mut at = from;
        while at < to {
            let word = at / 64;
            let end = to.min((word + 1) * 64);
            let of = |set: &Self| set.0.get(word).copied().unwrap_or_default();
            let width = end - at;
            let window = if width == 64 {
                u64::MAX
            } else {
                (1 << width) - 1
            };
            let outside_here = !(of(self) | of(other)) >> (at % 64) & window;
            outside += outside_here.count_ones() as usize;
            at = end;
        }
        outside
    }
}
