//! Lines that say the same but for numbers, told by the first and the last of them and a count.

mod mask;

use hashbrown::HashTable;

pub(super) use mask::{Masks, coarse_mask, first_word_mask, mask, shape_mask};

use super::output::Output;
use mask::COARSE_WORDS;

/// Masks that are told apart; of more, only the beginning counts.
const MAX_MASKS: usize = 4_096;
/// Masks that are told apart by their beginning once there are too many.
const MAX_COARSE_MASKS: usize = 1_024;
/// Fewer alike lines are all shown.
const MIN_FOLDED: usize = 4;
/// A line and its number, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Numbered<'a> {
    pub(super) number: usize,
    pub(super) line: &'a str,
}

/// Lines with one mask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template<'a> {
    mask: u64,
    pub(super) count: usize,
    pub(super) first: Numbered<'a>,
    second: Numbered<'a>,
    pub(super) last: Numbered<'a>,
}

impl<'a> Template<'a> {
    fn add(&mut self, here: Numbered<'a>) {
        if self.count == 1 {
            self.second = here;
        }
        self.count += 1;
        self.last = here;
    }

    /// Whether only the first and the last line are shown.
    pub(super) fn is_folded(&self) -> bool {
        self.count >= MIN_FOLDED
    }

    /// The lines that are shown, with how many each stands for.
    pub(super) fn shown(&self) -> impl Iterator<Item = (Numbered<'a>, usize)> + use<'a> {
        let folded = self.is_folded();
        let first = (self.first, if folded { self.count } else { 1 });
        let second = (self.count == MIN_FOLDED - 1).then_some((self.second, 1));
        // Of lines that are alike to the last byte one is enough.
        let differs = !folded || self.last.line != self.first.line;
        let last = (self.count > 1 && differs).then_some((self.last, 1));
        std::iter::once(first).chain(second).chain(last)
    }
}

/// The templates of a text, in the order of their first lines; memory is bounded.
#[derive(Debug, Default)]
pub(super) struct Templates<'a> {
    all: Vec<Template<'a>>,
    by_mask: HashTable<usize>,
    masks: Masks,
}

impl<'a> Templates<'a> {
    /// One more line; its mask decides with which others it is folded. The number of its template.
    pub(super) fn add(&mut self, number: usize, line: &'a str) -> usize {
        self.add_masked(mask(line), number, line)
    }

    /// One more line whose mask is `fine`.
    pub(super) fn add_masked(&mut self, fine: u64, number: usize, line: &'a str) -> usize {
        let here = Numbered { number, line };
        if let Some(index) = self.count(fine, here) {
            return index;
        }
        if self.all.len() < MAX_MASKS {
            return self.open(fine, here);
        }
        let coarse = self.masks.coarse(line, COARSE_WORDS);
        if let Some(index) = self.count(coarse, here) {
            return index;
        }
        if self.all.len() < MAX_MASKS + MAX_COARSE_MASKS {
            return self.open(coarse, here);
        }
        self.count(0, here).unwrap_or_else(|| self.open(0, here))
    }

    /// One more line of a template whose number is known from a line that only differs in digits; whether
    /// it is.
    pub(super) fn again(&mut self, template: Option<u32>, number: usize, line: &'a str) -> bool {
        let index = template.and_then(|template| usize::try_from(template).ok());
        let template = index.and_then(|index| self.all.get_mut(index));
        let Some(template) = template else {
            return false;
        };
        template.add(Numbered { number, line });
        true
    }

    /// One more line that is alike to all that were added with this `key`, whatever they say.
    pub(super) fn add_alike(&mut self, key: u64, number: usize, line: &'a str) -> usize {
        self.add_alike_or(key, || mask(line), number, line)
    }

    /// The same for a line whose mask is `fine`, which counts when there are too many keys.
    pub(super) fn add_alike_or(
        &mut self,
        key: u64,
        fine: impl FnOnce() -> u64,
        number: usize,
        line: &'a str,
    ) -> usize {
        let here = Numbered { number, line };
        match self.count(key, here) {
            Some(index) => index,
            None if self.all.len() < MAX_MASKS => self.open(key, here),
            None => self.add_masked(fine(), number, line),
        }
    }

    /// The templates.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Template<'a>> {
        self.all.iter()
    }

    /// The template of that number.
    pub(super) fn get(&self, number: usize) -> Option<&Template<'a>> {
        self.all.get(number)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The same lines, with templates of one `key` taken together.
    pub(super) fn merged(&self, key: impl Fn(&Template<'a>) -> u64) -> Templates<'a> {
        let mut merged = Templates::default();
        for template in &self.all {
            merged.merge(key(template), template);
        }
        merged
    }

    fn merge(&mut self, mask: u64, other: &Template<'a>) {
        let found = self.index(mask);
        let Some(template) = found.and_then(|index| self.all.get_mut(index)) else {
            self.push(Template { mask, ..*other });
            return;
        };
        if template.count == 1 || other.first < template.second {
            template.second = other.first;
        }
        template.count += other.count;
        template.last = template.last.max(other.last);
    }

    /// Counts a line if its template is there.
    fn count(&mut self, mask: u64, here: Numbered<'a>) -> Option<usize> {
        let index = self.index(mask)?;
        self.all.get_mut(index)?.add(here);
        Some(index)
    }

    fn index(&self, mask: u64) -> Option<usize> {
        let is_it = |index: &usize| {
            self.all
                .get(*index)
                .is_some_and(|template| template.mask == mask)
        };
        self.by_mask.find(mask, is_it).copied()
    }

    fn open(&mut self, mask: u64, here: Numbered<'a>) -> usize {
        self.push(Template {
            mask,
            count: 1,
            first: here,
            second: here,
            last: here,
        });
        self.all.len() - 1
    }

    fn push(&mut self, template: Template<'a>) {
        let templates = &self.all;
        self.by_mask
            .insert_unique(template.mask, templates.len(), |index| {
                templates.get(*index).map_or(0, |template| template.mask)
            });
        self.all.push(template);
    }
}

/// The lines, folded, in their order, as context of the output.
pub(super) fn write<'a>(lines: impl Iterator<Item = &'a str>, output: &mut Output) {
    let mut templates = Templates::default();
    for (number, line) in lines.enumerate() {
        templates.add(number, line);
    }
    let mut shown: Vec<_> = templates.iter().flat_map(Template::shown).collect();
    shown.sort_unstable();
    for (line, times) in shown {
        output.repeated(line.line, times);
    }
}

#[cfg(test)]
mod tests;
