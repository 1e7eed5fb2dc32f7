//! Patterns of a file, compiled together.

use std::borrow::Cow;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternSet};

use super::FormatError;

/// The longest pattern.
const MOST_BYTES: usize = 1_000;
const MOST_COMPILED_BYTES: usize = 4 << 20;
const NEST_LIMIT: u32 = 60;
/// Only this many bytes of a line are looked at.
const LINE_BYTES: usize = 2_000;

/// Patterns that are searched together. Classes such as `\w` and `\b` are those of ASCII, except in a pattern with other
/// characters.
#[derive(Debug)]
pub(crate) struct Patterns(Search);

#[derive(Debug)]
enum Search {
    /// What all patterns of the package need; a [`RegexSet`] compiles each of them backwards too.
    Forward(Box<Forward>),
    /// With word boundaries of Unicode.
    Set(RegexSet),
}

type NewState = Box<dyn Fn() -> (Cache, PatternSet) + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// An automaton whose states are built when a line needs them.
struct Forward {
    automaton: DFA,
    states: Pool<(Cache, PatternSet), NewState>,
}

impl fmt::Debug for Forward {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Forward").finish_non_exhaustive()
    }
}

impl Forward {
    fn new(patterns: &[Cow<'_, str>]) -> Option<Self> {
        let syntax = syntax::Config::new()
            .unicode(false)
            .utf8(false)
            .nest_limit(NEST_LIMIT);
        let thompson = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MOST_COMPILED_BYTES));
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(MOST_COMPILED_BYTES);
        let automaton = DFA::builder()
            .syntax(syntax)
            .thompson(thompson)
            .configure(config)
            .build_many(patterns)
            .ok()?;
        let shared = automaton.clone();
        let states: NewState = Box::new(move || {
            let found = PatternSet::new(shared.pattern_len());
            (shared.create_cache(), found)
        });
        Some(Self {
            automaton,
            states: Pool::new(states),
        })
    }

    // It has neither bytes at which it stops nor a limit of its cache, so that a search cannot fail.

    fn any(&self, bytes: &[u8]) -> bool {
        let mut state = self.states.get();
        let input = Input::new(bytes).earliest(true);
        let found = self.automaton.try_search_fwd(&mut state.0, &input);
        found.is_ok_and(|found| found.is_some())
    }

    fn all(&self, bytes: &[u8]) -> Vec<usize> {
        let mut state = self.states.get();
        let (cache, found) = &mut *state;
        found.clear();
        let searched =
            self.automaton
                .try_which_overlapping_matches(cache, &Input::new(bytes), found);
        match searched {
            Ok(()) => found.iter().map(|pattern| pattern.as_usize()).collect(),
            Err(_) => Vec::new(),
        }
    }
}

/// What of a line patterns see.
pub(crate) fn seen(line: &str) -> &[u8] {
    let bytes = line.as_bytes();
    bytes.get(..LINE_BYTES).unwrap_or(bytes)
}

impl Patterns {
    /// The patterns of keys; an error names the key.
    pub(crate) fn new<'t>(
        patterns: impl Iterator<Item = (&'t str, &'t str)>,
    ) -> Result<Self, FormatError> {
        let all: Vec<(&str, &str)> = patterns.collect();
        for (key, pattern) in &all {
            if pattern.is_empty() || pattern.len() > MOST_BYTES {
                let reason = format!(
                    "{key}: a pattern has 1 to {MOST_BYTES} bytes, got {}",
                    pattern.len()
                );
                return Err(FormatError(reason));
            }
        }
        let texts: Vec<Cow<'_, str>> = all.iter().map(|(_, pattern)| widened(pattern)).collect();
        if let Some(forward) = Forward::new(&texts) {
            return Ok(Self(Search::Forward(Box::new(forward))));
        }
        let built = RegexSetBuilder::new(texts)
            .unicode(false)
            .size_limit(MOST_COMPILED_BYTES)
            .dfa_size_limit(MOST_COMPILED_BYTES)
            .nest_limit(NEST_LIMIT)
            .build();
        match built {
            Ok(set) => Ok(Self(Search::Set(set))),
            Err(error) => Err(Self::blame(&all, &error)),
        }
    }

    /// The error of the first pattern that cannot be compiled, or of all together.
    fn blame(all: &[(&str, &str)], error: &regex::Error) -> FormatError {
        for (key, pattern) in all {
            if let Err(error) = builder(pattern).build() {
                return FormatError(format!(
                    "{key}: {pattern:?} is not a pattern: {}",
                    reason(&error)
                ));
            }
        }
        let key = all.first().map_or("", |(key, _)| key);
        FormatError(format!(
            "{key}: the patterns are too large together: {}",
            reason(error)
        ))
    }

    /// Whether one of them matches a line.
    pub(crate) fn any(&self, line: &str) -> bool {
        match &self.0 {
            Search::Forward(forward) => forward.any(seen(line)),
            Search::Set(set) => set.is_match(seen(line)),
        }
    }

    /// The number of the first that matches a line.
    pub(crate) fn first(&self, line: &str) -> Option<usize> {
        self.all(line).next()
    }

    /// The numbers of all that match a line.
    pub(crate) fn all(&self, line: &str) -> impl Iterator<Item = usize> {
        let found = match &self.0 {
            Search::Forward(forward) => forward.all(seen(line)),
            Search::Set(set) => set.matches(seen(line)).into_iter().collect(),
        };
        found.into_iter()
    }
}

/// A single pattern.
pub(super) fn one(pattern: &str) -> Option<Regex> {
    builder(pattern).build().ok()
}

fn builder(pattern: &str) -> RegexBuilder {
    let mut builder = RegexBuilder::new(&widened(pattern));
    builder
        .unicode(false)
        .size_limit(MOST_COMPILED_BYTES)
        .dfa_size_limit(MOST_COMPILED_BYTES)
        .nest_limit(NEST_LIMIT);
    builder
}

/// `pattern` with the classes of Unicode if it has a character that is not ASCII.
fn widened(pattern: &str) -> Cow<'_, str> {
    if pattern.is_ascii() {
        Cow::Borrowed(pattern)
    } else {
        Cow::Owned(format!("(?u:{pattern})"))
    }
}

/// The last line of an error, which contains the reason.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.unwrap_or("it cannot be compiled").trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
