//! The search for the literal parts of credentials.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};

use super::Found;
use super::assignments::NAMES;
use super::forms::{ASSIGNED, FORMS};
use super::shapes::{Group, groups};

/// The search for the literal parts of all shapes: first those of the groups, then of the forms,
/// then the names of assignments.
pub(super) struct Literals {
    groups: Vec<Group>,
    pub(super) search: AhoCorasick,
}

pub(super) static LITERALS: LazyLock<Option<Literals>> = LazyLock::new(|| {
    let groups = groups();
    let literals = groups.iter().map(|group| group.literal);
    let search = AhoCorasickBuilder::new()
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(
            literals
                .chain(FORMS.iter().map(|form| form.literal))
                .chain(NAMES.iter().copied()),
        )
        .ok()?;
    Some(Literals { groups, search })
});

impl Literals {
    /// The credential that this hit of the search belongs to.
    pub(super) fn judge(&self, text: &str, pattern: usize, literal: Range<usize>) -> Option<Found> {
        if let Some(group) = self.groups.get(pattern) {
            return group.judge(text, literal.start);
        }
        let form = FORMS
            .get(pattern.checked_sub(self.groups.len())?)
            .unwrap_or(&ASSIGNED);
        let at = (form.judge)(text, literal)?;
        // The shape of a value is more specific than the name that it is assigned to.
        let value = text.get(at.clone())?;
        let groups = self.groups.iter();
        let by_shape = groups
            .filter(|group| value.starts_with(group.literal))
            .find_map(|group| group.judge(text, at.start));
        if by_shape.is_some() {
            return by_shape;
        }
        Some(Found {
            at,
            name: form.name,
        })
    }
}
