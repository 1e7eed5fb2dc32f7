//! Counts and sorts tickets.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write;

use hashbrown::HashMap;

use super::value::Value;

/// How many open tickets are listed.
const TOP_TICKETS: usize = 5;
/// The statuses of closed tickets, in lower case.
const CLOSED: [&str; 4] = ["done", "archived", "cancelled", "closed"];
/// The status that is shown for tickets without one.
const UNKNOWN: &str = "unknown";
/// The length of an escaped character.
const ESCAPE_MAX_CHARS: usize = 6;
/// Words for priorities, in lower case, and their numbers.
const PRIORITY_WORDS: [(&str, f64); 19] = [
    ("critical", 5.0),
    ("blocker", 5.0),
    ("urgent", 5.0),
    ("highest", 5.0),
    ("p0", 5.0),
    ("high", 4.0),
    ("major", 4.0),
    ("p1", 4.0),
    ("medium", 3.0),
    ("normal", 3.0),
    ("moderate", 3.0),
    ("p2", 3.0),
    ("low", 2.0),
    ("minor", 2.0),
    ("p3", 2.0),
    ("lowest", 1.0),
    ("trivial", 1.0),
    ("p4", 1.0),
    ("p5", 0.0),
];

/// An entry of the list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry<'a> {
    pub(super) is_object: bool,
    /// Whether it is an object that has at least one field of a ticket.
    pub(super) has_fields: bool,
    id: Value<'a>,
    title: Value<'a>,
    status: Value<'a>,
    priority: Value<'a>,
    updated_at: Value<'a>,
    updated_at_camel: Value<'a>,
}

impl<'a> Entry<'a> {
    /// Where the value of that field is stored, if it is a field of tickets.
    pub(super) fn field(&mut self, name: &str) -> Option<&mut Value<'a>> {
        match name {
            "id" => Some(&mut self.id),
            "title" => Some(&mut self.title),
            "status" => Some(&mut self.status),
            "priority" => Some(&mut self.priority),
            "updated_at" => Some(&mut self.updated_at),
            "updatedAt" => Some(&mut self.updated_at_camel),
            _ => None,
        }
    }
}

/// A summary of a list of tickets, built ticket by ticket.
#[derive(Debug, Default)]
pub(super) struct Board<'a> {
    counts: Vec<(Cow<'a, str>, usize)>,
    index_of_status: HashMap<Cow<'a, str>, usize>,
    top: Vec<Ranked<'a>>,
    entries: usize,
    has_tickets: bool,
}

/// An open ticket, and the values by which tickets are sorted.
#[derive(Debug)]
struct Ranked<'a> {
    priority: Option<f64>,
    updated: Updated<'a>,
    entry: Entry<'a>,
}

/// The time of the last change: numbers come before strings, strings before nothing, and the greatest comes first.
#[derive(Debug, PartialEq, PartialOrd)]
enum Updated<'a> {
    Never,
    Text(Cow<'a, str>),
    Number(f64),
}

impl<'a> Board<'a> {
    pub(super) fn add(&mut self, entry: Entry<'a>) {
        self.entries += 1;
        self.has_tickets |= entry.has_fields;
        let status = entry.status.shown().unwrap_or(Cow::Borrowed(UNKNOWN));
        let is_closed = CLOSED
            .iter()
            .any(|closed| closed.eq_ignore_ascii_case(&status));
        self.count(status);
        if entry.is_object && !is_closed {
            self.rank(entry);
        }
    }

    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    /// Whether any entry has a field of a ticket.
    pub(super) fn has_tickets(&self) -> bool {
        self.has_tickets
    }

    fn count(&mut self, status: Cow<'a, str>) {
        if let Some((_, count)) = self
            .index_of_status
            .get(&status)
            .and_then(|index| self.counts.get_mut(*index))
        {
            *count += 1;
            return;
        }
        self.index_of_status
            .insert(status.clone(), self.counts.len());
        self.counts.push((status, 1));
    }

    /// Adds the ticket if it is among the first; equal tickets stay in order.
    fn rank(&mut self, entry: Entry<'a>) {
        let ranked = Ranked {
            priority: priority(entry.priority),
            updated: updated(entry),
            entry,
        };
        let place = self
            .top
            .partition_point(|other| !ranked.comes_before(other));
        if place < TOP_TICKETS {
            self.top.insert(place, ranked);
            self.top.truncate(TOP_TICKETS);
        }
    }

    /// The summary on one line; `None` when it cannot be allocated.
    pub(super) fn summary(&self) -> Option<String> {
        let mut line = String::from("Counts by status: ");
        for (place, (status, count)) in self.counts.iter().enumerate() {
            line.push_str(if place == 0 { "" } else { ", " });
            push_escaped(&mut line, status, &[';', ',', '=', ':'])?;
            write!(line, "={count}").ok()?;
        }
        write!(line, ". Top {} open: ", self.top.len()).ok()?;
        for (place, Ranked { entry, .. }) in self.top.iter().enumerate() {
            line.push_str(if place == 0 { "" } else { "; " });
            push_escaped(&mut line, &entry.id.shown().unwrap_or("?".into()), &[';'])?;
            line.push_str(": ");
            match entry.title.shown() {
                Some(title) => push_escaped(&mut line, &title, &[';'])?,
                None if entry.title == Value::Nested => line.push_str("(not text)"),
                None => line.push_str("(no title)"),
            }
        }
        Some(line)
    }
}

impl Ranked<'_> {
    fn comes_before(&self, other: &Self) -> bool {
        let by_priority = self.priority.partial_cmp(&other.priority);
        let order = match by_priority {
            None | Some(Ordering::Equal) => self.updated.partial_cmp(&other.updated),
            order => order,
        };
        order == Some(Ordering::Greater)
    }
}

/// The priority as a number; greater is more urgent. Words stand for 5 to 0.
fn priority(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) => number.parse().ok(),
        Value::Text(text) => {
            let word = text.decoded();
            let known = |(known, _): &&(&str, f64)| known.eq_ignore_ascii_case(&word);
            PRIORITY_WORDS.iter().find(known).map(|(_, number)| *number)
        }
        _ => None,
    }
}

fn updated(entry: Entry<'_>) -> Updated<'_> {
    let spellings = [entry.updated_at_camel, entry.updated_at];
    match spellings.into_iter().find(|value| value.is_ordered()) {
        Some(Value::Text(text)) => Updated::Text(text.decoded()),
        Some(Value::Number(number)) => number.parse().map_or(Updated::Never, Updated::Number),
        _ => Updated::Never,
    }
}

/// Appends `text`, with JSON escapes for characters that could be read as a part of the line.
///
/// Those are backslashes, `separators`, control characters, line separators, and characters that
/// change the text direction. `None` when it cannot be allocated.
fn push_escaped(line: &mut String, text: &str, separators: &[char]) -> Option<()> {
    let is_escaped = |character: &char| {
        separators.contains(character)
            || matches!(
                *character,
                '\\' | '\0'..='\u{1f}'
                    | '\u{7f}'..='\u{9f}'
                    | '\u{2028}'
                    | '\u{2029}'
                    | '\u{202a}'..='\u{202e}'
                    | '\u{2066}'..='\u{2069}'
            )
    };
    let escaped = text.chars().filter(is_escaped).count();
    line.try_reserve(text.len() + escaped * ESCAPE_MAX_CHARS)
        .ok()?;
    for character in text.chars() {
        match character {
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            _ if is_escaped(&character) => write!(line, "\\u{:04x}", u32::from(character)).ok()?,
            _ => line.push(character),
        }
    }
    Some(())
}
