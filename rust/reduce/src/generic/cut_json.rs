//! Truncated multi-line JSON, which cannot be parsed as a whole. Records that differ from the others are shown
//! completely, so that no member appears next to members of another record.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::line::fingerprint::fingerprint;
use crate::line::{indent, shorten};
use crate::output::Output;
use ethos_registry_core::lines::lines;

const LEAST_LINES: usize = 30;
/// At most one line in this many may be something else.
const OTHER_SHARE: usize = 10;
const LEAST_RECORDS: usize = 4;
/// A value is unusual if at most one record in this many has it and the member has few values.
const ODD_SHARE: usize = 50;
const FEW_VALUES: usize = 12;
const ODD_RECORDS: usize = 20;
const RECORD_LINES: usize = 60;
/// This many lines before the first and after the last record are shown.
const AROUND_LINES: usize = 20;
const LINE_CHARS: usize = 400;

/// Writes the first, the last and the unusual records of `text`. Returns whether it is JSON with records.
pub(super) fn write(text: &str, output: &mut Output) -> bool {
    if !text.contains("\": ") {
        return false;
    }
    let all: Vec<&str> = lines(text).collect();
    let Some(records) = records(&all) else {
        return false;
    };
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return false;
    };
    let beginning = first.start.saturating_sub(AROUND_LINES)..first.end;
    let end = last.start..all.len().min(last.end + AROUND_LINES);
    let odd = odd(&all, &records).into_iter().take(ODD_RECORDS);
    let shown = std::iter::once(beginning).chain(odd).chain([end]);
    let mut next = 0;
    for range in shown {
        for line in all
            .get(range.start.max(next)..range.end)
            .unwrap_or_default()
        {
            if !line.trim().is_empty() {
                output.fact(&shorten(line, LINE_CHARS));
            }
        }
        next = next.max(range.end);
    }
    true
}

/// A member of an object and its key: `"name": "oak"`.
fn member(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (key, value) = line.strip_prefix('"')?.split_once("\": ")?;
    Some((key, value.trim_end_matches(',')))
}

fn is_json(line: &str) -> bool {
    let line = line.trim();
    let is_bracket = |line: &str| {
        line.trim_end_matches(',')
            .bytes()
            .all(|byte| b"{}[]".contains(&byte))
    };
    member(line).is_some()
        || is_bracket(line)
        || line.starts_with('"') && line.trim_end_matches(',').ends_with('"')
}

/// The lines of each record: an object in a list or a map.
fn records(all: &[&str]) -> Option<Vec<Range<usize>>> {
    let others = all.iter().filter(|line| !is_json(line)).count();
    if all.len() < LEAST_LINES || others * OTHER_SHARE > all.len() {
        return None;
    }
    let opens = |line: &str| {
        let text = line.trim();
        text == "{" || text.starts_with('"') && text.ends_with(": {")
    };
    let mut depths: HashMap<usize, usize> = HashMap::new();
    for line in all.iter().filter(|line| opens(line)) {
        *depths.entry(indent(line)).or_insert(0) += 1;
    }
    let many = depths
        .into_iter()
        .filter(|(_, count)| *count >= LEAST_RECORDS);
    let depth = many.map(|(depth, _)| depth).min()?;
    let mut records = Vec::new();
    let mut start = None;
    for (number, line) in all.iter().enumerate() {
        if indent(line) != depth {
            continue;
        }
        if opens(line) {
            start = Some(number);
        } else if line.trim_start().starts_with('}')
            && let Some(start) = start.take()
        {
            records.push(start..number + 1);
        }
    }
    // The last one may be truncated.
    records.extend(start.map(|start| start..all.len()));
    let is_short = |record: &Range<usize>| record.len() <= RECORD_LINES;
    (records.len() >= LEAST_RECORDS && records.iter().all(is_short)).then_some(records)
}

/// Records with a member or a value that few others have.
fn odd(all: &[&str], records: &[Range<usize>]) -> Vec<Range<usize>> {
    let members = |record: &Range<usize>| {
        let lines = all.get(record.clone()).unwrap_or_default();
        lines.iter().filter_map(|line| {
            let (key, value) = member(line)?;
            Some(((indent(line), key), fingerprint(value)))
        })
    };
    let mut values: HashMap<(usize, &str), HashMap<u64, usize>> = HashMap::new();
    for record in records {
        for (key, value) in members(record) {
            let of_key = values.entry(key).or_default();
            if of_key.len() <= FEW_VALUES || of_key.contains_key(&value) {
                *of_key.entry(value).or_insert(0) += 1;
            }
        }
    }
    let most = (records.len() / ODD_SHARE).max(1);
    let odd_values: HashSet<((usize, &str), u64)> = values
        .iter()
        .filter(|(_, values)| values.len() <= FEW_VALUES)
        .flat_map(|(key, values)| {
            let total: usize = values.values().sum();
            let is_rare_key = total <= most;
            let usual = values.values().copied().max().unwrap_or(0);
            let rare = values
                .iter()
                .filter(move |(_, count)| is_rare_key || **count <= most && usual > 2 * most);
            rare.map(move |(value, _)| (*key, *value))
        })
        .collect();
    let is_odd =
        |record: &&Range<usize>| members(record).any(|member| odd_values.contains(&member));
    records.iter().filter(is_odd).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_differs_is_shown_whole() {
        let record = |id: usize| {
            let (state, error) = if id == 77 {
                ("failed", "\"no rain\"")
            } else {
                ("ok", "null")
            };
            format!(
                "  {{\n    \"id\": {id},\n    \"state\": \"{state}\",\n    \"error\": {error}\n  }},\n"
            )
        };
        let text = format!("[\n{}", (0..200).map(record).collect::<String>());
        let cut = text.get(..text.len() - 30).unwrap_or_default();
        let mut output = Output::default();
        assert!(write(cut, &mut output));
        let short = output.finish_of(cut, cut.lines().count(), usize::MAX);
        assert!(short.contains(record(77).trim_end()), "{short}");
        assert!(short.starts_with("[\n  {\n    \"id\": 0,\n"), "{short}");
        assert!(
            short.contains("  },\n[380 lines left out]\n  {\n    \"id\": 77,"),
            "{short}"
        );
        assert_eq!(short.matches("\"id\"").count(), 3, "{short}");
    }

    #[test]
    fn other_text_has_no_records() {
        let mut output = Output::default();
        for text in [
            "",
            "\"a\": 1\n",
            &"oak: \"leaf\": 7\n".repeat(90),
            &"\"a\": 1,\n".repeat(90),
        ] {
            assert!(!write(text, &mut output), "{text}");
        }
    }
}
