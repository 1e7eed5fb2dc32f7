//! What the shell puts in for a name, as far as the line that gives the name its value shows it.

use std::collections::BTreeMap;

use super::colours::without_colours;
use super::pipeline::Pipeline;

/// What represents a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// How a command ended.
    Status,
    /// Signs that colour what follows.
    Colour,
    /// One line, or many.
    Any,
}

/// The names of a line that hold more than a plain word.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    values: BTreeMap<&'a str, Value>,
}

impl<'a> Names<'a> {
    /// Those to which `pipelines` give values.
    pub(super) fn of(pipelines: &'a [Pipeline]) -> Self {
        let words = pipelines.iter().flat_map(|one| one.stages.iter().flatten());
        let given = words.filter_map(|word| {
            let (name, value) = word.split_once('=')?;
            Some((name, value_of(value)?))
        });
        Self {
            values: given.collect(),
        }
    }

    /// What is at the beginning of `text` for something else, and how long it is.
    pub(super) fn put_in(&self, text: &str) -> (Value, usize) {
        let (name, length) = name(text);
        let value = match self.values.get(name) {
            Some(value) => *value,
            None if is_status(name) => Value::Status,
            None => Value::Any,
        };
        (value, length.min(text.len()))
    }

    /// The name of the only value in `said` that is neither a status nor a colour.
    pub(super) fn only_of<'t>(&self, said: &'t str) -> Option<&'t str> {
        let expansions = said.match_indices(['$', '`']);
        let mut names = expansions.filter_map(|(at, _)| {
            let text = said.get(at..)?;
            let is_any = self.put_in(text).0 == Value::Any;
            is_any.then(|| name(text).0)
        });
        let is_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        let only = names.next().filter(|_| names.next().is_none())?;
        (!only.is_empty() && only.chars().all(is_name)).then_some(only)
    }

    /// Whether each status in `words` is that of the last command, which `kept` holds where it was kept.
    pub(super) fn tell_last(&self, words: &[String], status_name: Option<&str>) -> bool {
        let expansions = words
            .iter()
            .flat_map(|word| word.match_indices('$').map(move |(at, _)| word.get(at..)));
        let mut names = expansions
            .flatten()
            .map(|text| (name(text).0, self.put_in(text).0));
        names.all(|(name, value)| {
            value != Value::Status
                || status_name.map_or(is_status(name), |status_name| name == status_name)
        })
    }

    /// Whether what is put in at the end of `said` may be more than one line.
    pub(super) fn end_openly(&self, said: &str) -> bool {
        let Some(at) = said.rfind(['$', '`']) else {
            return false;
        };
        let (name, _) = name(said.get(at..).unwrap_or_default());
        name.is_empty() || self.values.get(name) == Some(&Value::Any)
    }
}

/// What a name holds that is given `value`, where that is more than a plain word.
fn value_of(value: &str) -> Option<Value> {
    let is_put_in = value.starts_with('$') || value.contains('`');
    if is_status(name(value).0) {
        Some(Value::Status)
    } else if value.contains(['\\', '\x1b'])
        && without_colours(value.trim_start_matches('$')).is_empty()
    {
        Some(Value::Colour)
    } else {
        is_put_in.then_some(Value::Any)
    }
}

fn is_status(name: &str) -> bool {
    name == "?" || name.starts_with("PIPESTATUS[")
}

/// The name at the beginning of `text`, behind a `$`, and how long both are; none for what commands give.
fn name(text: &str) -> (&str, usize) {
    let is_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    if let Some(braced) = text.strip_prefix("${") {
        let end = braced.find('}').unwrap_or(braced.len());
        return (braced.get(..end).unwrap_or_default(), end + 3);
    }
    let rest = text.get(1..).unwrap_or_default();
    let end = match rest.as_bytes().first() {
        Some(b'?' | b'#' | b'@' | b'*' | b'!' | b'$') => 1,
        _ => rest.find(|sign| !is_name(sign)).unwrap_or(rest.len()),
    };
    (rest.get(..end).unwrap_or_default(), end + 1)
}
