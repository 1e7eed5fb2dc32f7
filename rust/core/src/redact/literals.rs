//! The search for the literal parts of credentials.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use super::Found;
use super::forms::FORMS;
use super::shapes::{Group, groups};

/// The search for the literal parts of all shapes: first those of the groups, then of the forms.
pub(super) struct Literals {
    groups: Vec<Group>,
    pub(super) search: AhoCorasick,
}

pub(super) static LITERALS: LazyLock<Option<Literals>> = LazyLock::new(|| {
    let groups = groups();
    let literals = groups.iter().map(|group| group.literal);
    let search = AhoCorasickBuilder::new()
        .match_kind(MatchKind::LeftmostLongest)
        .build(literals.chain(FORMS.iter().map(|form| form.literal)))
        .ok()?;
    Some(Literals { groups, search })
});

impl Literals {
    /// The credential that this hit of the search belongs to.
    pub(super) fn judge(&self, text: &str, pattern: usize, literal: Range<usize>) -> Option<Found> {
        if let Some(group) = self.groups.get(pattern) {
            return group.judge(text, literal.start);
        }
        let form = FORMS.get(pattern.checked_sub(self.groups.len())?)?;
        let at = (form.judge)(text, literal)?;
        Some(Found {
            at,
            name: form.name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{FORMS, groups};

    /// More literals, or shorter ones, are searched for without vector instructions, several times slower.
    const LITERALS_AT_MOST: usize = 64;

    #[test]
    fn the_literals_are_few_and_long_enough_for_a_vectorised_search() {
        let groups = groups();
        let literals = groups.iter().map(|group| group.literal);
        let literals: Vec<&str> = literals
            .chain(FORMS.iter().map(|form| form.literal))
            .collect();
        assert!(literals.len() <= LITERALS_AT_MOST, "{}", literals.len());
        assert!(literals.iter().all(|literal| literal.len() >= 3));
    }
}
