//! Folds lines that differ only in numbers into the first and the last of them with a count.

mod large;
mod numbers;
mod odd;

use hashbrown::HashTable;

use crate::line::mask::{COARSE_WORDS, Masks, mask};
use crate::output::Output;
use odd::Watch;

/// How many masks are distinguished; lines with further masks are folded by their beginning.
const MAX_MASKS: usize = 4_096;
/// How many masks of beginnings are distinguished then.
const MAX_COARSE_MASKS: usize = 1_024;
/// Fewer similar lines are all shown.
const MIN_FOLDED: usize = 4;
/// For how many templates numbers are compared at most, and from how many lines on.
const MAX_WATCHES: usize = 128;
const WATCHED_FROM: usize = 3;
/// A line and its number, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Numbered<'a> {
    pub(crate) number: usize,
    pub(crate) line: &'a str,
}

/// Lines with one mask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Template<'a> {
    mask: u64,
    pub(crate) count: usize,
    pub(crate) first: Numbered<'a>,
    second: Numbered<'a>,
    pub(crate) last: Numbered<'a>,
    watch: Watched,
}

/// Whether the numbers of a template are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watched {
    /// No: its lines may differ in more than numbers.
    No,
    /// Not yet: it has too few lines.
    Later,
    /// Yes, by the watch with this number.
    By(usize),
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
    pub(crate) fn is_folded(&self) -> bool {
        self.count >= MIN_FOLDED
    }

    /// The lines that are shown, with the number of lines that each represents.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (Numbered<'a>, usize)> + use<'a> {
        let folded = self.is_folded();
        let first = (self.first, if folded { self.count } else { 1 });
        let second = (self.count == MIN_FOLDED - 1).then_some((self.second, 1));
        // If all lines are equal, one is enough.
        let differs = !folded || self.last.line != self.first.line;
        let last = (self.count > 1 && differs).then_some((self.last, 1));
        std::iter::once(first).chain(second).chain(last)
    }
}

/// Exceptions in a template: a number that is the same in nearly all of its lines is different in these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Odd<'a> {
    pub(crate) template: usize,
    pub(crate) first: Numbered<'a>,
    pub(crate) count: usize,
}

/// The templates of an input, in the order of their first lines; memory is bounded.
#[derive(Debug, Default)]
pub(crate) struct Templates<'a> {
    all: Vec<Template<'a>>,
    by_mask: HashTable<usize>,
    masks: Masks,
    is_watching: bool,
    watches: Vec<Watch<'a>>,
}

impl<'a> Templates<'a> {
    /// Templates that do not count exceptions among the lines of their template.
    pub(crate) fn watching() -> Self {
        Self {
            is_watching: true,
            ..Self::default()
        }
    }

    /// Adds a line; lines with the same mask are folded. Returns the number of its template.
    pub(crate) fn add(&mut self, number: usize, line: &'a str) -> usize {
        self.add_masked(mask(line), number, line)
    }

    /// Adds a line whose mask is `fine`.
    pub(crate) fn add_masked(&mut self, fine: u64, number: usize, line: &'a str) -> usize {
        let here = Numbered { number, line };
        if let Some(index) = self.count(fine, here) {
            return index;
        }
        if self.all.len() < MAX_MASKS {
            return self.open_watched(fine, here);
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

    /// Adds a line to a template that is known from a line that differs only in digits. Returns whether that was
    /// possible.
    pub(crate) fn again(&mut self, template: Option<u32>, number: usize, line: &'a str) -> bool {
        let index = template.and_then(|template| usize::try_from(template).ok());
        index.is_some_and(|index| self.more(index, Numbered { number, line }))
    }

    /// Adds a line that is folded with all lines that have the same `key`.
    pub(crate) fn add_alike(&mut self, key: u64, number: usize, line: &'a str) -> usize {
        let here = Numbered { number, line };
        match self.count(key, here) {
            Some(index) => index,
            None if self.all.len() < MAX_MASKS => self.open(key, here),
            None => self.add_masked(mask(line), number, line),
        }
    }

    /// Adds a line whose mask is `fine`. It is distinguished by `key` from other lines with this mask unless there are
    /// too many keys.
    pub(crate) fn add_told_apart(
        &mut self,
        key: u64,
        fine: u64,
        number: usize,
        line: &'a str,
    ) -> usize {
        let here = Numbered { number, line };
        match self.count(key, here) {
            Some(index) => index,
            None if self.all.len() < MAX_MASKS => self.open_watched(key, here),
            None => self.add_masked(fine, number, line),
        }
    }

    /// The exceptions, after all lines were added; no template counts them.
    pub(crate) fn odd(&mut self) -> Vec<Odd<'a>> {
        let mut odd = Vec::new();
        for (index, template) in self.all.iter_mut().enumerate() {
            let Watched::By(watch) = template.watch else {
                continue;
            };
            let Some(watch) = self.watches.get(watch).filter(|_| template.is_folded()) else {
                continue;
            };
            let mut found = watch.odd();
            // The last line is shown anyway.
            found.retain(|found| found.first.number != template.last.number);
            let odd_lines = found.iter().map(|found| found.count).sum();
            let usual = template.count.saturating_sub(odd_lines);
            if usual < MIN_FOLDED || usual < odd_lines {
                // With more differing lines there are no exceptions.
                continue;
            }
            template.count = usual;
            for found in found {
                if found.first.number == template.first.number {
                    template.first = found.usual;
                }
                odd.push(Odd {
                    template: index,
                    first: found.first,
                    count: found.count,
                });
            }
        }
        odd
    }

    /// The templates.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Template<'a>> {
        self.all.iter()
    }

    /// The template with this number.
    pub(crate) fn get(&self, number: usize) -> Option<&Template<'a>> {
        self.all.get(number)
    }

    /// The number of the first line with this `key`, if its lines are folded.
    pub(crate) fn folded(&self, key: u64) -> Option<usize> {
        let template = self.index(key).and_then(|index| self.all.get(index))?;
        template.is_folded().then_some(template.first.number)
    }

    /// The number of templates.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The same lines, with templates that have an equal `key` merged.
    pub(crate) fn merged(&self, key: impl Fn(&Template<'a>) -> u64) -> Templates<'a> {
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

    /// Counts a line if its template exists.
    fn count(&mut self, mask: u64, here: Numbered<'a>) -> Option<usize> {
        let index = self.index(mask)?;
        self.more(index, here).then_some(index)
    }

    /// Adds a line to the template with this number. Returns whether it exists.
    fn more(&mut self, index: usize, here: Numbered<'a>) -> bool {
        let Some(template) = self.all.get_mut(index) else {
            return false;
        };
        template.add(here);
        match template.watch {
            Watched::By(watch) => {
                if let Some(watch) = self.watches.get_mut(watch) {
                    watch.line(here);
                }
            }
            Watched::Later if template.count == WATCHED_FROM => {
                template.watch = Watched::No;
                if self.watches.len() < MAX_WATCHES {
                    template.watch = Watched::By(self.watches.len());
                    let mut watch = Watch::of(template.first);
                    watch.line(template.second);
                    watch.line(here);
                    self.watches.push(watch);
                }
            }
            Watched::Later | Watched::No => {}
        }
        true
    }

    fn index(&self, mask: u64) -> Option<usize> {
        let is_it = |index: &usize| {
            self.all
                .get(*index)
                .is_some_and(|template| template.mask == mask)
        };
        self.by_mask.find(mask, is_it).copied()
    }

    fn open_watched(&mut self, mask: u64, here: Numbered<'a>) -> usize {
        let index = self.open(mask, here);
        if self.is_watching
            && let Some(template) = self.all.get_mut(index)
        {
            template.watch = Watched::Later;
        }
        index
    }

    fn open(&mut self, mask: u64, here: Numbered<'a>) -> usize {
        self.push(Template {
            mask,
            count: 1,
            first: here,
            second: here,
            last: here,
            watch: Watched::No,
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

/// Writes the folded lines in order, as context.
pub(crate) fn write<'a>(lines: impl Iterator<Item = &'a str>, output: &mut Output) {
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
