//! The search for what credentials begin with, or are recognised by.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Input, MatchKind};
use memchr::memmem::Finder;

use super::Found;
use super::assignments::NAMES;
use super::forms::{ASSIGNED, FORMS, FORMS_IN_RUNS, Form, IN_URL};
use super::runs::{TOKEN_MIN_BYTES, next_run, word_length};
use super::shapes::{Group, groups, in_word};

/// The searches: in the whole text for the few literals that stand beside a credential, which
/// vector instructions find; and in long runs of token characters, which are rare, for the rest.
pub(super) struct Literals {
    groups: Vec<Group>,
    /// By the first two bytes of its prefixes, one more than the index of a group.
    by_start: Vec<u16>,
    /// First the forms, then the names of assignments.
    everywhere: AhoCorasick,
    in_urls: Finder<'static>,
    in_runs: AhoCorasick,
}

pub(super) static LITERALS: LazyLock<Option<Literals>> = LazyLock::new(|| {
    let groups = groups();
    let mut by_start = vec![0; 1 << 16];
    for (index, group) in groups.iter().enumerate() {
        let start = start(group.literal.as_bytes(), 0)?;
        *by_start.get_mut(start)? = u16::try_from(index + 1).ok()?;
    }
    let mut builder = AhoCorasickBuilder::new();
    builder.match_kind(MatchKind::LeftmostLongest);
    let forms = FORMS.iter().map(|form| form.literal);
    Some(Literals {
        groups,
        by_start,
        everywhere: builder.build(forms.chain(NAMES.iter().copied())).ok()?,
        in_urls: Finder::new(IN_URL.literal),
        in_runs: builder
            .build(FORMS_IN_RUNS.iter().map(|form| form.literal))
            .ok()?,
    })
});

/// The two bytes at a place, as one number.
fn start(bytes: &[u8], at: usize) -> Option<usize> {
    let pair = bytes.get(at..at + 2)?;
    Some(usize::from(u16::from_be_bytes(pair.try_into().ok()?)))
}

impl Literals {
    /// Adds the credentials of `text`, in no order.
    pub(super) fn search(&self, text: &str, found: &mut Vec<Found>) {
        let forms = |pattern: usize| FORMS.get(pattern).unwrap_or(&ASSIGNED);
        self.search_forms(&self.everywhere, forms, text, 0..text.len(), found);
        for at in self.in_urls.find_iter(text.as_bytes()) {
            found.extend(self.find_form(&IN_URL, text, at..at + IN_URL.literal.len()));
        }
        let mut from = 0;
        while let Some(run) = next_run(text.as_bytes(), from) {
            from = run.end;
            let forms = |pattern: usize| FORMS_IN_RUNS.get(pattern).unwrap_or(&ASSIGNED);
            self.search_forms(&self.in_runs, forms, text, run.clone(), found);
            self.search_prefixes(text, run, found);
        }
    }

    fn search_forms(
        &self,
        search: &AhoCorasick,
        form_of: impl Fn(usize) -> &'static Form,
        text: &str,
        range: Range<usize>,
        found: &mut Vec<Found>,
    ) {
        let mut from = range.start;
        while let Some(hit) = search.find(Input::new(text).range(from..range.end)) {
            from = hit.start() + 1;
            let form = form_of(hit.pattern().as_usize());
            if let Some(each) = self.find_form(form, text, hit.range()) {
                from = each.at.end.clamp(from, range.end.max(from));
                found.push(each);
            }
            if from > range.end {
                return;
            }
        }
    }

    /// The credential that this literal of a form belongs to.
    fn find_form(&self, form: &Form, text: &str, literal: Range<usize>) -> Option<Found> {
        let at = (form.secret_range)(text, literal)?;
        // The shape of a value is more specific than the name that it is assigned to.
        let by_shape = self.by_shape(text, at.start);
        let end = by_shape
            .as_ref()
            .map_or(at.end, |each| each.at.end.max(at.end));
        Some(Found {
            at: at.start..end,
            name: by_shape.map_or(form.name, |each| each.name),
        })
    }

    /// The credential whose prefix is at this place.
    fn by_shape(&self, text: &str, at: usize) -> Option<Found> {
        let index = self.by_start.get(start(text.as_bytes(), at)?)?;
        let group = self.groups.get(usize::from(*index).checked_sub(1)?)?;
        group.find(text, at)
    }

    /// The credentials that begin with a prefix at the start of a word.
    fn search_prefixes(&self, text: &str, run: Range<usize>, found: &mut Vec<Found>) {
        let bytes = text.as_bytes();
        let mut at = run.start;
        while at + TOKEN_MIN_BYTES <= run.end {
            if !in_word(bytes, at)
                && let Some(each) = self.by_shape(text, at)
            {
                at = each.at.end.max(at);
                found.push(each);
            }
            // The next word: no token begins within one.
            let rest = bytes.get(at..run.end).unwrap_or_default();
            at += word_length(rest) + 1;
        }
    }
}
