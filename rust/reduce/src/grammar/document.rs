//! JSON: the template of a member is its key. A record with a value unlike those of the others is shown whole.

use hashbrown::{HashMap, HashSet};

use crate::lexicon::lexicon;
use crate::source::{Kind, Part, Source, real};
use crate::template::{hashed, mixed};
use crate::values::outliers;

const LEAST_MEMBERS: usize = 10;
/// At least one line in this many has a member.
const MEMBER_SHARE: usize = 5;
/// A key needs that many values for one to be unlike the others.
const LEAST_VALUES: usize = 12;
/// A value is part of the template of its key if keys have few values.
const FEW_SHARE: usize = 6;
/// Members of a record that are shown together.
const MOST_TOGETHER: usize = 8;
/// Lines of a record around an unusual value.
const RECORD_LINES: usize = 12;
/// The longest key.
const MOST_KEY: usize = 60;

struct Member<'t> {
    line: usize,
    key: &'t str,
    value: &'t str,
}

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let mut all: Vec<Member<'_>> = Vec::new();
    let filled = source.filled(part.start, part.end);
    let mut rows = 0;
    for number in &filled {
        let before = all.len();
        let text = source.at(*number);
        if text.trim_start().starts_with(['{', '[', '"']) {
            members(text, *number, &mut all);
        }
        rows += usize::from(all.len() > before);
    }
    if rows < LEAST_MEMBERS || rows * MEMBER_SHARE < filled.len() {
        return;
    }
    let mut values: HashMap<&str, Vec<&str>> = HashMap::new();
    for member in &all {
        values.entry(member.key).or_default().push(member.value);
    }
    let unusual: HashMap<&str, HashSet<&str>> = values
        .iter()
        .filter(|(_, values)| values.len() >= LEAST_VALUES)
        .map(|(key, values)| (*key, outliers(values)))
        .collect();
    let has_few: HashMap<&str, bool> = values
        .iter()
        .map(|(key, values)| {
            let distinct: HashSet<&&str> = values.iter().collect();
            (*key, distinct.len() * FEW_SHARE <= values.len())
        })
        .collect();
    let key_of: HashMap<usize, &str> = all.iter().map(|member| (member.line, member.key)).collect();
    let words = lexicon();
    for number in part.start..part.end {
        let text = source.at(number);
        if !text
            .bytes()
            .any(|byte| byte.is_ascii_alphanumeric() || byte == b'"' || !byte.is_ascii())
            && source.lines[number].kind != Kind::Blank
        {
            source.lines[number].kind = Kind::Ruler; // brackets
        }
        // The rest of a long string.
        let line = &source.lines[number];
        let above = line.heading.and_then(|heading| key_of.get(&heading));
        if line.is_piece
            && !key_of.contains_key(&number)
            && above.is_some_and(|key| !words.keys.contains(*key))
        {
            source.lines[number].kind = Kind::Context;
        }
    }
    weigh(source, &all, &has_few);
    for member in &all {
        let is_outlier = unusual
            .get(member.key)
            .is_some_and(|found| found.contains(member.value));
        if is_outlier {
            let key = mixed(hashed(member.key.as_bytes()), 3);
            show_record(source, part, member.line, key, &all);
        }
    }
}

/// Sets the templates and weights of lines by their first members.
fn weigh(source: &mut Source<'_>, all: &[Member<'_>], has_few: &HashMap<&str, bool>) {
    let words = lexicon();
    let mut depths: Vec<usize> = all
        .iter()
        .map(|member| source.lines[member.line].indent)
        .collect();
    depths.sort_unstable();
    depths.dedup();
    let mut records: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    let mut order: Vec<Option<usize>> = Vec::new();
    let mut before = None;
    for member in all {
        let line = &mut source.lines[member.line];
        let key = hashed(member.key.as_bytes());
        if before == Some(member.line) {
            line.template = mixed(line.template, key);
            continue;
        }
        before = Some(member.line);
        let is_container = matches!(member.value, "{" | "[");
        let value = if is_container || has_few.get(member.key) == Some(&true) {
            hashed(member.value.as_bytes())
        } else {
            0
        };
        line.template = mixed(mixed(key, value), 1);
        if !matches!(line.kind, Kind::Failure | Kind::Warning) {
            line.kind = Kind::Row;
        }
        let is_row = line.kind == Kind::Row;
        if is_container {
            let depth = depths.binary_search(&line.indent).unwrap_or_default();
            line.weight = (4.0 - real(depth)).max(0.6);
        } else if words.keys.contains(member.key) && is_row {
            line.weight = 4.0;
            if words.rule_keys.contains(member.key) {
                line.code = hashed(member.value.as_bytes());
            }
            let record = records.entry(line.heading).or_default();
            if record.is_empty() {
                order.push(line.heading);
            }
            record.push(member.line);
        } else if words.dull_keys.contains(member.key) {
            (line.kind, line.weight) = (Kind::Context, 0.2);
        } else if is_row {
            let is_empty = matches!(member.value, "null" | "false" | "[]" | "{}" | "\"\"" | "0");
            line.weight = if is_empty { 0.5 } else { 1.2 };
        }
    }
    for heading in order {
        if let Some(record) = records.remove(&heading)
            && (2..=MOST_TOGETHER).contains(&record.len())
        {
            source.bundle(record);
        }
    }
}

/// Raises a line with an unusual value, and the others of its record.
fn show_record(source: &mut Source<'_>, part: Part, number: usize, key: u64, all: &[Member<'_>]) {
    let line = &mut source.lines[number];
    (line.weight, line.template) = (6.0, key);
    let Some(heading) = line.heading else {
        return;
    };
    let at = all.partition_point(|member| member.line < number);
    let has_several = all.get(at + 1).is_some_and(|member| member.line == number);
    if has_several {
        return;
    }
    let first = number.saturating_sub(RECORD_LINES).max(heading);
    for near in first..part.end.min(number + RECORD_LINES) {
        let line = &mut source.lines[near];
        if line.heading == Some(heading) && line.weight < 4.0 {
            (line.weight, line.template) = (4.5, key);
        }
    }
}

/// Adds the members that a line has: keys with a scalar or the beginning of a container.
fn members<'t>(text: &'t str, line: usize, all: &mut Vec<Member<'t>>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) =
        memchr::memchr(b'"', bytes.get(at..).unwrap_or_default()).map(|found| at + found)
    {
        let Some(end) = string_end(bytes, start) else {
            return;
        };
        at = end + 1;
        let rest = text.get(at..).unwrap_or_default();
        let Some(value) = rest.trim_start().strip_prefix(':').map(str::trim_start) else {
            continue;
        };
        let key = text.get(start + 1..end).unwrap_or_default();
        let from = text.len() - value.len();
        let length = match bytes.get(from) {
            Some(b'{' | b'[') => 1,
            Some(b'"') => string_end(bytes, from).map_or(text.len() - from, |end| end + 1 - from),
            Some(_) => value.find([',', '{', '}', '[', ']']).unwrap_or(value.len()),
            None => 0,
        };
        at = from + length;
        if (1..=MOST_KEY).contains(&key.len()) && length > 0 {
            let value = text.get(from..at).unwrap_or_default().trim();
            all.push(Member { line, key, value });
        }
    }
}

/// The offset of the quote that ends the string at `start`.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}
