//! Findings with the same message: the first of them with the locations of the others.

use hashbrown::HashTable;

use super::Row;
use super::kind::{Kind, place_length};
use crate::line::fingerprint::fingerprint_after;

/// The most messages that are distinguished.
const MAX_MESSAGES: usize = 4_096;
/// With more findings than this, not every location of a message is shown.
const MANY_FINDINGS: usize = 150;
const PLACES_OF_MANY: usize = 6;

/// `rows` in which findings with the same message, and the lines that belong to them, are moved to
/// the first of them.
///
/// A location without a path belongs to the file named above it.
pub(super) fn grouped<'a>(rows: &[Row<'a>]) -> Vec<Row<'a>> {
    let findings = rows.iter().filter(|row| place_of(row).is_some()).count();
    let most = if findings > MANY_FINDINGS {
        PLACES_OF_MANY
    } else {
        usize::MAX
    };
    let mut groups: Vec<(u64, usize)> = Vec::new();
    let mut by_message: HashTable<usize> = HashTable::new();
    let mut kept: Vec<Row<'a>> = Vec::with_capacity(rows.len());
    let mut header = 0;
    let mut rest = rows;
    while let Some((row, behind)) = rest.split_first() {
        rest = behind;
        let Some((place, message)) = place_of(row) else {
            if row.kind == Kind::Header {
                header = row.number;
            }
            kept.push(row.clone());
            continue;
        };
        let details = behind.iter().take_while(|row| row.detail > 0);
        let below = place.starts_with(|sign: char| sign.is_ascii_digit());
        let file = if below { header as u64 } else { 0 };
        let key = details.clone().fold(
            fingerprint_after(file, message.as_bytes()),
            |key, detail| fingerprint_after(key, detail.line.as_bytes()),
        );
        let is_it = |group: &usize| groups.get(*group).is_some_and(|(other, _)| *other == key);
        let found = by_message.find(key, is_it).copied();
        let first = found
            .and_then(|group| groups.get(group))
            .and_then(|(_, index)| kept.get_mut(*index));
        if let Some(first) = first {
            if first.more.len() < most {
                first.more.push(place);
            }
            first.alike += 1;
            rest = behind.get(details.count()..).unwrap_or_default();
            continue;
        }
        if groups.len() < MAX_MESSAGES {
            by_message.insert_unique(key, groups.len(), |group| {
                groups.get(*group).map_or(0, |(other, _)| *other)
            });
            groups.push((key, kept.len()));
        }
        kept.push(row.clone());
    }
    kept
}

/// The location and the message of a row that begins with a location.
fn place_of<'a>(row: &Row<'a>) -> Option<(&'a str, &'a str)> {
    // Rows of these kinds are known not to begin with a location.
    let placeless = matches!(
        row.kind,
        Kind::Plain | Kind::Header | Kind::Verdict | Kind::Finding | Kind::Change | Kind::Warning
    );
    if placeless {
        return None;
    }
    let text = row.line.trim();
    let length = place_length(text)?;
    let message = text
        .get(length..)?
        .trim_start_matches([':', ' ', '-', '\t']);
    (row.times == 1 && message.len() > 2).then_some((text.get(..length)?, message))
}
