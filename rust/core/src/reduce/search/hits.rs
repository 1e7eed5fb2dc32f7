//! Hits as they stand in the text formats of searches.

use super::super::input::Input;
use super::is_complaint;

/// One line of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    /// Its number as it stands in the source; empty when numbers were not asked for.
    pub(super) number: &'a str,
    pub(super) text: &'a str,
    /// Whether it was found, or only stands near what was found.
    pub(super) hit: bool,
}

/// One line and the file that it is from.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileRow<'a> {
    path: &'a str,
    row: Row<'a>,
}

impl<'a> FileRow<'a> {
    pub(super) fn path(&self) -> &'a str {
        self.path
    }

    pub(super) fn row(&self) -> &Row<'a> {
        &self.row
    }
}

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Hits<'a> {
    pub(super) rows: Vec<FileRow<'a>>,
    pub(super) found: usize,
    /// Whether paths stand over their hits.
    pub(super) headings: bool,
    pub(super) has_context: bool,
    pub(super) unknown: Vec<&'a str>,
}

impl<'a> Hits<'a> {
    pub(super) fn push(&mut self, path: &'a str, row: Row<'a>) {
        self.found += usize::from(row.hit);
        self.has_context |= !row.hit;
        self.rows.push(FileRow { path, row });
    }
}

/// The hits in `input`; empty when too many lines have no form of a hit.
pub(super) fn read<'a>(input: &Input<'a>) -> Hits<'a> {
    let hits = if has_headings(input) {
        under_headings(input)
    } else {
        with_paths(input)
    };
    if hits.unknown.len() > hits.rows.len() / 4 {
        return Hits::default();
    }
    hits
}

/// Whether numbers stand at the beginning of lines and paths on lines of their own.
fn has_headings(input: &Input<'_>) -> bool {
    let lines = input
        .beginning()
        .filter(|line| !line.is_empty() && *line != "--");
    let (mut numbered, mut other) = (0, 0);
    for line in lines {
        if numbered_row(line).is_some() {
            numbered += 1;
        } else {
            other += 1;
        }
    }
    numbered > 0 && other <= numbered * 2 && input.beginning().next().is_some_and(is_heading_start)
}

fn is_heading_start(line: &str) -> bool {
    numbered_row(line).is_some() || split_path(line, "").is_none()
}

/// `12:text` or `12-text`, and `12:5:text`.
fn numbered_row(line: &str) -> Option<Row<'_>> {
    let end = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(end)?;
    let hit = rest.starts_with(':');
    let text = rest.strip_prefix([':', '-'])?;
    (!number.is_empty()).then_some(Row { number, text, hit })
}

fn under_headings<'a>(input: &Input<'a>) -> Hits<'a> {
    let mut hits = Hits {
        headings: true,
        ..Hits::default()
    };
    let mut path = "";
    let mut after_blank = true;
    for line in input.lines() {
        let blank = line.is_empty() || line == "--";
        match numbered_row(line) {
            Some(row) => hits.push(path, row),
            None if blank || is_complaint(line) => {}
            None if after_blank => path = line,
            None => hits.unknown.push(line),
        }
        after_blank = line.is_empty();
    }
    if path.is_empty() {
        hits.headings = false;
    }
    hits
}

fn with_paths<'a>(input: &Input<'a>) -> Hits<'a> {
    let mut hits = Hits::default();
    let numbered = input
        .beginning()
        .filter(|line| split_path(line, "").is_some())
        .count();
    let counts = |line: &&str| *line != "--" && !is_complaint(line);
    let lines = input.beginning().filter(counts).count();
    if numbered * 2 > lines {
        let mut path = "";
        for line in input.lines().filter(|line| *line != "--") {
            match split_path(line, path) {
                Some((known, row)) => {
                    path = known;
                    hits.push(path, row);
                }
                None if line.is_empty() || is_complaint(line) => {}
                None => hits.unknown.push(line),
            }
        }
    } else if many_paths(input) {
        for line in input.lines() {
            match line.split_once(':').filter(|(path, _)| is_path(path)) {
                Some((path, text)) => hits.push(
                    path,
                    Row {
                        number: "",
                        text,
                        hit: true,
                    },
                ),
                None if line.is_empty() || is_complaint(line) => {}
                None => hits.unknown.push(line),
            }
        }
    }
    hits
}

/// Whether nearly all lines begin with a path and a colon.
fn many_paths(input: &Input<'_>) -> bool {
    let with_path = |line: &&str| {
        let path = line.split_once(':').map(|(path, _)| path);
        path.is_some_and(|path| is_path(path) && path.contains(['/', '.']))
    };
    let paths = input.beginning().filter(with_path).count();
    paths > 0 && paths * 10 >= input.beginning().count() * 9
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains([' ', '\t', '"', '(', '='])
}

/// The path with which `line` begins and the row after it; `known` is the path of the line before.
fn split_path<'a>(line: &'a str, known: &str) -> Option<(&'a str, Row<'a>)> {
    if !known.is_empty()
        && let Some(rest) = line.strip_prefix(known)
        && let Some(row) = rest.strip_prefix([':', '-', '=']).and_then(numbered_row)
    {
        return Some((line.get(..known.len())?, row));
    }
    let of_hit = separated(line, b':');
    let of_context = separated(line, b'-');
    match (of_hit, of_context) {
        (Some(hit), Some(context)) if context.0.len() < hit.0.len() && is_odd(hit.0) => {
            Some(context)
        }
        (Some(hit), _) => Some(hit),
        (None, context) => context,
    }
}

/// Whether a path holds what paths seldom hold, so that it is rather a part of a line of text.
fn is_odd(path: &str) -> bool {
    path.contains([' ', '"', '(', '{', '='])
}

/// The first `:12:` or `-12-` in `line` after at least one character.
fn separated(line: &str, mark: u8) -> Option<(&str, Row<'_>)> {
    let bytes = line.as_bytes();
    let mut from = 1;
    loop {
        let at = from + memchr::memchr(mark, bytes.get(from..)?)?;
        let rest = line.get(at + 1..)?;
        if let Some(row) = numbered_row(rest)
            && row.hit == (mark == b':')
        {
            return Some((line.get(..at)?, row));
        }
        from = at + 1;
    }
}
