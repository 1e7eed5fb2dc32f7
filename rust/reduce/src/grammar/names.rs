//! Lists of paths: the template is the folder and the suffix, so that each folder and each rare suffix shows.

use crate::source::{Kind, Part, Source};
use crate::template::{hashed, mixed};

const LEAST_ROWS: usize = 8;

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let is_name = |number: usize| is_path(source.at(number).trim());
    // A path above other lines is their heading; one of several below each other is a row.
    let is_row = |number: &usize| match source.lines[*number].kind {
        Kind::Plain | Kind::Passed | Kind::Row => is_name(*number),
        Kind::Heading => {
            is_name(*number)
                && (is_name(*number + 1) || *number > part.start && is_name(*number - 1))
        }
        _ => false,
    };
    let rows: Vec<usize> = (part.start..part.end).filter(is_row).collect();
    if rows.len() < LEAST_ROWS {
        return;
    }
    for number in rows {
        let text = source.at(number).trim().trim_end_matches('/');
        let (folder, name) = text.rsplit_once('/').unwrap_or(("", text));
        let suffix = name
            .get(1..)
            .and_then(|rest| rest.rsplit_once('.'))
            .map_or("", |(_, suffix)| suffix);
        let line = &mut source.lines[number];
        line.file = hashed(folder.as_bytes());
        line.template = mixed(line.file, hashed(suffix.as_bytes()));
        (line.is_path, line.is_name) = (true, true);
        line.kind = Kind::Row;
    }
}

/// Whether a line is nothing but a path with a folder.
fn is_path(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    first.contains('/')
        && text.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_.@~+ (){}[],=-/".contains(&byte)
        })
}
