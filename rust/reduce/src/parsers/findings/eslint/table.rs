//! Findings in a table below their file name, with wrapped messages.

use super::{Listed, MAX_OTHERS, OTHER_CHARS};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use crate::parsers::findings::finding::Finding;

/// What a line of such a table contains.
#[derive(Clone, Copy)]
pub(super) enum Line<'a> {
    /// The file that the next findings are in.
    File(&'a str),
    /// A finding: its location in the file, and where its message begins in the line.
    Row(&'a str, usize),
    /// A continuation of the message above.
    More,
    Form,
    Other,
}

/// Findings with their files, and all other lines, each once.
#[derive(Debug, Default)]
pub(super) struct Table<'a> {
    pub(super) listed: Listed<'a>,
    pub(super) others: Vec<&'a str>,
    skipped: usize,
}

impl<'a> Table<'a> {
    /// The table in `input`. `read` classifies each line, without trailing blanks, given the current file.
    pub(super) fn of(input: &Input<'a>, read: fn(&'a str, &str) -> Line<'a>) -> Self {
        let mut table = Self::default();
        let mut file = "";
        // The last finding, and where its message begins.
        let mut open: Option<(Finding<'a>, usize)> = None;
        let mut start = 0;
        for line in input.text.split_inclusive('\n') {
            let text = line.trim_end();
            let end = start + text.len();
            let said = read(text, file);
            if let (Line::More, Some((last, from))) = (said, open.as_mut()) {
                last.message = input.text.get(*from..end).unwrap_or(last.message);
            } else {
                table.close(&mut open);
            }
            match said {
                Line::File(named) => file = named,
                Line::Row(place, column) => {
                    let from = start + column;
                    let finding = Finding {
                        place,
                        path: file,
                        message: input.text.get(from..end).unwrap_or_default(),
                        whole: "",
                    };
                    open = Some((finding, from));
                }
                Line::More | Line::Form => {}
                Line::Other => table.other(text),
            }
            start += line.len();
        }
        table.close(&mut open);
        table
    }

    fn close(&mut self, open: &mut Option<(Finding<'a>, usize)>) {
        if let Some((finding, _)) = open.take() {
            self.listed.push(finding.path, finding);
        }
    }

    fn other(&mut self, text: &'a str) {
        if text.is_empty() || self.others.contains(&text) {
            return;
        }
        if self.others.len() < MAX_OTHERS {
            self.others.push(text);
        } else {
            self.skipped += 1;
        }
    }

    pub(super) fn write(mut self, target_chars: usize, output: &mut Output) {
        if self.listed.repeats() {
            self.listed.write(target_chars, output);
        } else {
            self.listed.write_below_files(&[], output);
        }
        for other in &self.others {
            output.fact(&shorten(other.trim(), OTHER_CHARS));
        }
        output.gap(self.skipped);
    }
}
