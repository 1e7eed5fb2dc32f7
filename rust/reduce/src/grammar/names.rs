//! Lists of paths: the template is the folder and the suffix, so that each folder and each rare suffix shows.

use crate::source::{Kind, Part, Source};
use crate::template::{hashed, mixed};

const LEAST_ROWS: usize = 8;

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let is_row = |number: &usize| {
        let kind = source.lines[*number].kind;
        let text = source.at(*number).trim();
        matches!(kind, Kind::Plain | Kind::Passed | Kind::Row)
            && text.contains('/')
            && is_path(text)
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

fn is_path(text: &str) -> bool {
    text.bytes().all(|byte| {
        byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_.@~+ (){}[],=-/".contains(&byte)
    })
}
