//! Hits as they are in the text formats of searches.

use hashbrown::HashSet;

use super::{UNKNOWN_LINES, is_complaint, json};
use crate::input::Input;
use crate::line::source::is_head;
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::{Lines, lines};

/// One line of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    /// Its number as it is in the source; empty when numbers were not asked for.
    pub(super) number: &'a str,
    pub(super) text: &'a str,
    /// Whether it was found, or only is near what was found.
    pub(super) hit: bool,
}

/// One line, and which of the paths it is from.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileRow<'a> {
    pub(super) file: u32,
    pub(super) row: Row<'a>,
}

/// This many lines are held at a time: what takes more is shown in parts.
const HELD: usize = 6_144;

/// This many definitions of several files are all shown.
const DEFINITIONS: usize = 100;

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Hits<'a> {
    /// The paths in the order in which they came; one that came again is there twice.
    pub(super) paths: Vec<&'a str>,
    pub(super) rows: Vec<FileRow<'a>>,
    pub(super) found: usize,
    /// Whether paths stand over their hits.
    pub(super) headings: bool,
    pub(super) has_context: bool,
    /// The first lines of no known form, and how many there are.
    pub(super) unknown: Vec<&'a str>,
    pub(super) unknown_lines: usize,
    /// Counts of hits, `path:12`, and names of files which another search of the same command line wrote.
    pub(super) counts: Vec<&'a str>,
    pub(super) complaints: Vec<&'a str>,
}

/// Whether `line` is the path of a file alone: `./src/oak.py`.
fn is_file(line: &str) -> bool {
    const LONGEST: usize = 200;
    let in_path =
        |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"/._-+@".contains(&byte);
    let name = line.rsplit_text("/").map(|(_, name)| name);
    line.len() <= LONGEST
        && name.is_some_and(|name| name.contains('.'))
        && line.bytes().all(in_path)
}

impl<'a> Hits<'a> {
    /// Whether they are the definitions of one file, or not many of several under names of their own: who looks
    /// for them wants to know them all.
    pub(super) fn is_outline(&self) -> bool {
        let of_one = self.rows.last().is_some_and(|row| row.file == 0);
        if !of_one && self.found > DEFINITIONS {
            return false;
        }
        let heads = || self.rows.iter().filter(|row| is_head(row.row.text));
        let are_heads = heads().count() * 10 >= self.found * 9;
        let named = |row: &FileRow<'a>| row.row.text.split(['(', ':', '{']).next();
        are_heads && (of_one || heads().map(named).collect::<HashSet<_>>().len() * 2 > self.found)
    }

    pub(super) fn push(&mut self, path: &'a str, row: Row<'a>) {
        self.found += usize::from(row.hit);
        self.has_context |= !row.hit;
        if self.paths.last() != Some(&path) {
            self.paths.push(path);
        }
        let file = u32::try_from(self.paths.len() - 1).unwrap_or(u32::MAX);
        self.rows.push(FileRow { file, row });
    }

    pub(super) fn path(&self, row: &FileRow<'a>) -> &'a str {
        self.paths
            .get(row.file as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Reads a line that is not a hit: an error of the program, or one of no known form.
    pub(super) fn push_other(&mut self, line: &'a str) {
        if is_complaint(line) {
            self.complaints.push(line);
        } else if self.counts.len() < HELD && (is_count(line) || is_file(line)) {
            self.counts.push(line);
        } else if !line.is_empty() {
            self.unknown_lines += 1;
            if self.unknown.len() < UNKNOWN_LINES {
                self.unknown.push(line);
            }
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= HELD
    }

    /// Forgets what was shown, except for the last path.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.paths.clear();
        self.unknown.clear();
        self.complaints.clear();
        self.counts.clear();
    }
}

/// Whether `line` is a path and how many hits it has, `src/oak.py:12`.
fn is_count(line: &str) -> bool {
    line.ends_with(|sign: char| sign.is_ascii_digit())
        && line.rsplit_text(":").is_some_and(|(path, count)| {
            count.bytes().all(|byte| byte.is_ascii_digit())
                && path.contains(['/', '.'])
                && is_path(path)
        })
}

/// How the lines of a search are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Paths over numbered lines.
    Headings,
    /// `path:12:text`.
    Numbered,
    /// `path:text`.
    Paths,
    /// One event a line.
    Events,
    /// Nothing of these.
    Unknown,
}

pub(super) fn form(input: &Input<'_>) -> Form {
    if json::is_events(input) {
        return Form::Events;
    }
    if has_headings(input) {
        return Form::Headings;
    }
    let counts = |line: &&str| *line != "--" && !is_complaint(line);
    let (mut numbered, mut lines) = (0, 0);
    for line in input.beginning() {
        numbered += usize::from(split_path(line, "").is_some());
        lines += usize::from(counts(&line));
    }
    if numbered * 2 > lines {
        Form::Numbered
    } else if many_paths(input) {
        Form::Paths
    } else {
        Form::Unknown
    }
}

/// Reads hits of one form, line by line.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    form: Form,
    lines: Lines<'a>,
    path: &'a str,
    after_blank: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(input: &Input<'a>) -> Self {
        Self {
            form: form(input),
            lines: input.lines(),
            path: "",
            after_blank: true,
        }
    }

    /// How many bytes of the text were not read.
    pub(super) fn unread_bytes(&self) -> usize {
        self.lines.unread_bytes()
    }

    /// Reads hits until there are as many as are held at a time, or no more lines.
    pub(super) fn read(&mut self, hits: &mut Hits<'a>) {
        if self.form == Form::Unknown {
            self.lines = lines("");
        }
        while let Some(line) = self.lines.next() {
            self.line(line, hits);
            if hits.is_full() {
                break;
            }
        }
        hits.headings = self.form == Form::Headings && !self.path.is_empty();
    }

    fn line(&mut self, line: &'a str, hits: &mut Hits<'a>) {
        match self.form {
            Form::Headings => self.under_heading(line, hits),
            Form::Numbered => match split_path(line, self.path) {
                Some((path, row)) => {
                    self.path = path;
                    hits.push(path, row);
                }
                None if line == "--" => {}
                None => hits.push_other(line),
            },
            Form::Paths => match line.split_text(":").filter(|(path, _)| is_path(path)) {
                Some((path, text)) => hits.push(
                    path,
                    Row {
                        number: "",
                        text,
                        hit: true,
                    },
                ),
                None => hits.push_other(line),
            },
            Form::Events => match json::row(line) {
                Some((path, row)) => hits.push(path, row),
                None if json::is_row(line) => hits.push_other(line),
                None => {}
            },
            Form::Unknown => {}
        }
    }

    fn under_heading(&mut self, line: &'a str, hits: &mut Hits<'a>) {
        match numbered_row(line) {
            Some(row) => hits.push(self.path, row),
            None if line.is_empty() || line == "--" => {}
            None if is_count(line) => {
                // What another search counted is not a path of what is below.
                self.path = "";
                hits.push_other(line);
            }
            None if self.is_heading(line) => self.path = line,
            None => match split_path(line, "").filter(|(path, _)| is_path(path)) {
                // Another search of the same command line wrote it.
                Some((path, row)) => hits.push(path, row),
                None => hits.push_other(line),
            },
        }
        self.after_blank = line.is_empty();
    }

    /// Whether `line` is the path of the hits below it. Not all programs write an empty line before it.
    fn is_heading(&self, line: &str) -> bool {
        let heads = |next: &str| numbered_row(next).is_some();
        !is_complaint(line)
            && (self.after_blank || is_path(line))
            && self.lines.clone().next().is_some_and(heads)
    }
}

/// Whether numbers are at the beginning of lines and paths on lines of their own.
fn has_headings(input: &Input<'_>) -> bool {
    let lines = input
        .beginning()
        .filter(|line| !line.is_empty() && *line != "--" && !is_count(line));
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

/// `12:text` or `12-text`, `12=text` of the function that holds a hit, and `12:5:text`.
fn numbered_row(line: &str) -> Option<Row<'_>> {
    let end = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(end)?;
    let hit = rest.starts_with(':');
    let text = rest.strip_prefix([':', '-', '='])?;
    (!number.is_empty()).then_some(Row { number, text, hit })
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
    if of_hit.is_some_and(|hit| !is_odd(hit.0)) {
        return of_hit;
    }
    let of_context = separated(line, b'-').or_else(|| separated(line, b'='));
    match (of_hit, of_context) {
        (Some(hit), Some(context)) if context.0.len() < hit.0.len() => Some(context),
        (Some(hit), _) => Some(hit),
        (None, context) => context,
    }
}

/// Whether a path holds what paths seldom hold, so that it is rather a part of a line of text.
fn is_odd(path: &str) -> bool {
    let bytes = path.as_bytes();
    memchr::memchr3(b' ', b'"', b'(', bytes).is_some()
        || memchr::memchr2(b'{', b'=', bytes).is_some()
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
