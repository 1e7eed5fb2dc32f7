//! Which lines are shown as one word below the first of their kind.

use ethos_registry_core::find_text::FindText as _;
use hashbrown::{HashMap, HashSet};

use crate::source::{Kind, Part, Source, Span};
use crate::template::{hashed, mixed};

/// Shorter findings are not folded, and shorter groups of rows neither.
const LEAST_FINDINGS_BYTES: usize = 4_000;
const LEAST_ROWS_BYTES: usize = 640;
const LEAST_FINDINGS: usize = 3;
/// That many rows of a template are folded.
const LEAST_ROWS: usize = 12;
/// Below the first row under a heading, that many are folded into it.
const LEAST_HEADED: usize = 2;
/// Keys are at most this share of their rows.
const SHOWN_PERCENT: usize = 75;
/// That many of the keys must be different.
const KEYS_PERCENT: usize = 80;
const MOST_KEY: usize = 60;
/// Where that share of the findings of a rule has messages that repeat, they are folded by message.
const REPEATED_PERCENT: usize = 50;

/// What the lines that are folded into another have in common with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// The message: their places are listed.
    Message,
    /// The template: the words by which they differ are listed.
    Template,
}

impl Fold {
    /// What introduces the list.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Message => "  [same]",
            Self::Template => "  [similar]",
        }
    }
}

/// For each folded line the first of its kind, and the words that are listed of it.
pub(crate) type Folds = HashMap<usize, (usize, Key, Fold)>;

/// The words of a folded line that are listed: a number or a place that it begins with, and what it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) before: Span,
    pub(crate) name: Span,
}

impl Key {
    /// The characters that it takes, with a space before each word.
    pub(crate) fn chars(self, source: &Source<'_>) -> usize {
        let words = [self.before, self.name].into_iter();
        let words = words.filter(|span| !span.is_empty());
        words.map(|span| source.slice(span).char_count() + 1).sum()
    }
}

/// The lines that may be folded. Each is shown whole where there is room.
pub(crate) fn folds(source: &Source<'_>, parts: &[Part]) -> Folds {
    let mut found = Folds::new();
    for part in parts {
        rows(source, *part, &mut found);
    }
    let findings: usize = source
        .lines
        .iter()
        .filter(|line| !line.message.is_empty())
        .map(|line| line.span.end - line.span.start)
        .sum();
    if findings >= LEAST_FINDINGS_BYTES {
        for part in parts {
            messages(source, *part, &mut found);
        }
    }
    found
}

/// Lines by a key, in the order of the first of each.
fn grouped(keys: impl Iterator<Item = (usize, u64)>) -> Vec<Vec<usize>> {
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (number, key) in keys {
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        if let Some(group) = groups.get_mut(place) {
            group.push(number);
        }
    }
    groups
}

fn rows(source: &Source<'_>, part: Part, found: &mut Folds) {
    let is_row = |number: &usize| {
        let line = &source.lines[*number];
        matches!(
            line.kind,
            Kind::Row | Kind::Plain | Kind::Failed | Kind::Passed
        ) && line.template != 0
            && line.detail == 0
            && !line.is_alarming
            && line.weight < 4.0
            && !line.is_piece
    };
    let keyed = (part.start..part.end).filter(is_row).map(|number| {
        let line = &source.lines[number];
        let kind = if line.kind == Kind::Row {
            Kind::Plain
        } else {
            line.kind
        };
        let template = if line.is_name { 1 } else { line.template };
        (number, mixed(template, kind as u64))
    });
    for group in grouped(keyed) {
        let bytes: usize = group.iter().map(|number| source.at(*number).len()).sum();
        if group.len() < LEAST_ROWS || bytes < LEAST_ROWS_BYTES {
            continue;
        }
        // Rows under one heading are folded into the first of them.
        let headed = group.iter().map(|number| {
            let heading = source.lines[*number].heading.unwrap_or(usize::MAX) as u64;
            (*number, mixed(heading, folder(source, *number)))
        });
        for group in grouped(headed) {
            below_heading(source, &group, found);
        }
    }
}

/// Folds rows into the first of them by the words in which they differ; of many, the last one stays.
fn below_heading(source: &Source<'_>, group: &[usize], found: &mut Folds) {
    let Some((first, inner)) = group.split_first() else {
        return;
    };
    if inner.len() < LEAST_HEADED {
        return;
    }
    let is_distinct = |keys: &Vec<Key>| {
        let name = |key: &Key| source.slice(key.name);
        let distinct: HashSet<&str> = keys.iter().map(name).collect();
        keys.iter().all(|key| !key.name.is_empty())
            && distinct.len() * 100 >= KEYS_PERCENT * keys.len()
    };
    let keyed = |key: fn(&Source<'_>, usize) -> Key| -> Vec<Key> {
        group.iter().map(|number| key(source, *number)).collect()
    };
    let mut candidates = [name, counted, last_word, first_word]
        .into_iter()
        .map(keyed);
    let Some(keys) = candidates.find(is_distinct) else {
        return;
    };
    let length = |span: Span| span.end - span.start;
    let shown: usize = keys
        .iter()
        .map(|key| length(key.before) + length(key.name) + 1)
        .sum();
    let whole: usize = group
        .iter()
        .map(|number| source.at(*number).trim().len())
        .sum();
    if shown * 100 > SHOWN_PERCENT * whole {
        return;
    }
    let folded = if group.len() < LEAST_ROWS {
        inner.len()
    } else {
        inner.len() - 1
    };
    for (number, key) in inner.iter().zip(keys.iter().skip(1)).take(folded) {
        found.insert(*number, (*first, *key, Fold::Template));
    }
}

/// What the paths of rows that are folded together have in common: the folder of a row that is only a path or a number
/// and a path, and the first folder of one that shows more; 0 for rows without a path.
fn folder(source: &Source<'_>, number: usize) -> u64 {
    let line = &source.lines[number];
    let (count, path) = counted_path(source.at(number));
    let slash = if line.is_name || !count.is_empty() && path.contains('/') {
        path.trim_end_matches('/').rfind('/')
    } else if line.is_path {
        path.find('/')
    } else {
        return 0;
    };
    hashed(
        path.get(..slash.unwrap_or_default())
            .unwrap_or_default()
            .as_bytes(),
    )
}

/// The number or size that a line begins with, and the rest of it.
fn counted_path(text: &str) -> (&str, &str) {
    let text = text.trim();
    let is_number = |word: &str| {
        word.starts_with(|sign: char| sign.is_ascii_digit())
            && word
                .bytes()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
    };
    match text.split_once(|sign: char| sign.is_ascii_whitespace()) {
        Some((word, rest)) if is_number(word) => (word, rest.trim_start()),
        _ => ("", text),
    }
}

/// The place of `part`, which is a part of a line.
fn span_of(source: &Source<'_>, part: &str) -> Span {
    if part.is_empty() {
        return Span::default();
    }
    let start = (part.as_ptr() as usize).saturating_sub(source.text.as_ptr() as usize);
    Span::new(start, start + part.len())
}

/// The last part of a path.
fn name(source: &Source<'_>, number: usize) -> Key {
    if !source.lines[number].is_name {
        return Key::default();
    }
    let path = source.at(number).trim();
    let slash = path
        .trim_end_matches('/')
        .rfind('/')
        .map_or(0, |slash| slash + 1);
    Key {
        before: Span::default(),
        name: span_of(source, path.get(slash..).unwrap_or_default()),
    }
}

/// A number, and the last part of the path behind it or all that follows.
fn counted(source: &Source<'_>, number: usize) -> Key {
    let (count, path) = counted_path(source.at(number));
    if count.is_empty() {
        return Key::default();
    }
    let slash = path
        .trim_end_matches('/')
        .rfind('/')
        .map_or(0, |slash| slash + 1);
    Key {
        before: span_of(source, count),
        name: span_of(source, path.get(slash..).unwrap_or_default()),
    }
}

/// The last word with a letter.
fn last_word(source: &Source<'_>, number: usize) -> Key {
    let mut words = source
        .at(number)
        .rsplit(|sign: char| sign.is_whitespace() || sign == '|');
    let word = words.next().filter(|word| is_key(word)).unwrap_or_default();
    Key {
        before: Span::default(),
        name: span_of(source, word),
    }
}

/// The first word with a letter that is not an id.
fn first_word(source: &Source<'_>, number: usize) -> Key {
    let mut words = source.at(number).split_whitespace();
    let word = words.find(|word| is_key(word)).unwrap_or_default();
    Key {
        before: Span::default(),
        name: span_of(source, word),
    }
}

fn is_key(word: &str) -> bool {
    let is_id = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_id = is_id || word.starts_with("0x");
    word.bytes().any(|byte| byte.is_ascii_alphabetic()) && word.len() < MOST_KEY && !is_id
}

fn messages(source: &Source<'_>, part: Part, found: &mut Folds) {
    let is_finding = |number: &usize| {
        let line = &source.lines[*number];
        !line.message.is_empty() && !line.place.is_empty() && !line.is_piece
    };
    let message = |number: usize| hashed(source.slice(source.lines[number].message).as_bytes());
    let key = |number: usize| match source.lines[number].code {
        0 => message(number),
        code => code,
    };
    let keyed = |numbers: Vec<usize>, key: &dyn Fn(usize) -> u64| {
        grouped(numbers.into_iter().map(|number| (number, key(number))))
    };
    let free = |number: &usize| is_finding(number) && !found.contains_key(number);
    let rules = keyed((part.start..part.end).filter(free).collect(), &key);
    for rule in rules {
        let count = rule.len();
        let (equal, single): (Vec<_>, Vec<_>) = keyed(rule.clone(), &message)
            .into_iter()
            .partition(|group| group.len() >= LEAST_FINDINGS);
        let repeated: usize = equal.iter().map(Vec::len).sum();
        // Where messages of a rule repeat, each is shown once; where they differ, the words by which they do are listed.
        if repeated * 100 >= REPEATED_PERCENT * count {
            for group in equal {
                fold(source, &group, Fold::Message, found);
            }
            fold(source, &single.concat(), Fold::Template, found);
        } else {
            fold(source, &rule, Fold::Template, found);
        }
    }
}

/// Folds findings into the first of them.
fn fold(source: &Source<'_>, group: &[usize], kind: Fold, found: &mut Folds) {
    let Some((first, others)) = group.split_first() else {
        return;
    };
    if group.len() < LEAST_FINDINGS {
        return;
    }
    for number in others {
        let line = &source.lines[*number];
        let name = unlike(source, source.lines[*first].message, line.message);
        let key = Key {
            before: line.place,
            name: name.filter(|_| kind == Fold::Template).unwrap_or_default(),
        };
        found.insert(*number, (*first, key, kind));
    }
}

/// The words from the first to the last by which a message differs from another, if they are few.
fn unlike(source: &Source<'_>, one: Span, other: Span) -> Option<Span> {
    let (one, text) = (source.slice(one), source.slice(other));
    let equal = |pairs: &mut dyn Iterator<Item = (&str, &str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let start = equal(&mut one.split_whitespace().zip(words.iter().copied()));
    let end = equal(
        &mut one
            .split_whitespace()
            .rev()
            .zip(words.iter().rev().copied()),
    );
    let differ = words.get(start..words.len().checked_sub(end)?)?;
    let (first, last) = (
        span_of(source, differ.first()?),
        span_of(source, differ.last()?),
    );
    Some(Span::new(first.start, last.end)).filter(|span| span.end - span.start < MOST_KEY)
}
