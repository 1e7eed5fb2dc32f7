//! Patterns of a file, compiled together.

use std::borrow::Cow;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

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
pub(crate) struct Patterns(RegexSet);

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
        let texts = all.iter().map(|(_, pattern)| widened(pattern));
        let built = RegexSetBuilder::new(texts)
            .unicode(false)
            .size_limit(MOST_COMPILED_BYTES)
            .dfa_size_limit(MOST_COMPILED_BYTES)
            .nest_limit(NEST_LIMIT)
            .build();
        match built {
            Ok(set) => Ok(Self(set)),
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
        self.0.is_match(seen(line))
    }

    /// The number of the first that matches a line.
    pub(crate) fn first(&self, line: &str) -> Option<usize> {
        self.all(line).next()
    }

    /// The numbers of all that match a line.
    pub(crate) fn all(&self, line: &str) -> impl Iterator<Item = usize> {
        self.0.matches(seen(line)).into_iter()
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
