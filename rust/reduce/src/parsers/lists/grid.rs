//! Tables drawn with bars whose last column is one of few words, a name and a verdict a row, and those that
//! a database answers with.
//!
//! ```text
//! | parse (L8)   |   COVERED |
//! | expand (L23) |    MISSED |
//! ```

mod query;
mod record;
mod states;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::{is_bad, shorten};
use crate::output::Output;
use crate::rows::report::squeezed;
use crate::rows::unknown::Unknown;

pub(crate) const FAMILY: Family = Family {
    name: "grid",
    runs: |input| input.program() == "interrogate" || query::runs(input),
    marks: Marks::Any,
    recognises,
    reduce,
};

const LINE_CHARS: usize = 240;
/// Fewer rows of a name and a verdict are not long table.
const MIN_ROWS: usize = 12;
/// Rows of numbers that stay as they are printed.
const NUMBER_ROWS: usize = 100;
/// How many verdicts are distinguished in one part of a table.
const MAX_VERDICTS: usize = 8;

/// Certain when most of the first lines are rows of a name and a verdict, likely when the shell of a
/// database draws a table.
fn recognises(input: &Input<'_>) -> Match {
    let is_answer = || {
        query::is_drawn(input) || record::form(input).is_some() || query::separator(input).is_some()
    };
    if query::runs(input) && is_answer() {
        return Match::Likely;
    }
    let (mut rows, mut lines) = (0_usize, 0_usize);
    for line in input.beginning().filter(|line| !line.trim().is_empty()) {
        lines += 1;
        rows += usize::from(verdict(line).is_some());
    }
    if rows >= MIN_ROWS && rows * 2 > lines {
        Match::Certain
    } else {
        Match::No
    }
}

/// How the shell of a database writes what it answers.
enum Answer {
    /// A line a field.
    Records(record::Form),
    /// Tables that are drawn.
    Drawn,
    /// Rows that are not, and what is between their cells.
    Bare(char),
}

/// The answer of the shell of a database, if one ran.
fn answer(input: &Input<'_>) -> Option<Answer> {
    if !query::runs(input) {
        return None;
    }
    if let Some(form) = record::form(input) {
        return Some(Answer::Records(form));
    }
    if query::is_drawn(input) {
        return Some(Answer::Drawn);
    }
    query::separator(input).map(Answer::Bare)
}

/// The cells of a row between bars; `None` for other lines.
fn cells(line: &str) -> Option<&str> {
    line.trim().strip_prefix('|')?.strip_suffix('|')
}

fn is_ruler(cells: &str) -> bool {
    cells
        .bytes()
        .all(|byte| matches!(byte, b'-' | b'=' | b'+' | b'|' | b':' | b' '))
}

/// The name and the verdict of a row of two cells: the verdict is one word.
fn verdict(line: &str) -> Option<(&str, &str)> {
    let cells = cells(line)?;
    let (name, verdict) = cells.split_once('|')?;
    let (name, verdict) = (name.trim(), verdict.trim());
    let is_word = !verdict.is_empty() && verdict.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_word && !name.is_empty()).then_some((name, verdict))
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    match answer(input) {
        Some(Answer::Records(form)) => return record::reduce(input, form, output),
        Some(Answer::Drawn) => return query::reduce(input, None, output),
        Some(Answer::Bare(separator)) => return query::reduce(input, Some(separator), output),
        None => {}
    }
    let mut reader = Reader {
        part: Vec::new(),
        number_rows: 0,
        unknown: Unknown::default(),
        output,
    };
    for line in input.lines() {
        reader.line(line);
    }
    reader.close();
}

struct Reader<'a, 'o> {
    /// Verdicts of a part of the table, each with its names.
    part: Vec<(&'a str, Vec<&'a str>)>,
    number_rows: usize,
    unknown: Unknown<'a>,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self, line: &'a str) {
        if let Some((name, verdict)) = verdict(line) {
            self.unknown.write(self.output);
            self.row(name, verdict);
            return;
        }
        self.close();
        match cells(line) {
            Some(cells) if is_ruler(cells) => {}
            Some(_) if self.number_rows < NUMBER_ROWS => {
                self.number_rows += 1;
                self.unknown.write(self.output);
                self.output.fact(line.trim_end());
            }
            _ => {
                let text = line.trim_matches(['-', '=', ' ']);
                if is_bad(text) {
                    self.output.failed();
                    self.output.fact(&shorten(text, LINE_CHARS));
                } else {
                    self.unknown.push(text);
                }
            }
        }
    }

    fn row(&mut self, name: &'a str, verdict: &'a str) {
        let known = self.part.iter_mut().find(|(known, _)| *known == verdict);
        if let Some((_, names)) = known {
            names.push(name);
            return;
        }
        if self.part.len() >= MAX_VERDICTS {
            self.close();
        }
        self.part.push((verdict, vec![name]));
    }

    /// Writes the part that was read: `parse (L8), board (L33) | MISSED`.
    fn close(&mut self) {
        self.unknown.write(self.output);
        for (verdict, names) in std::mem::take(&mut self.part) {
            let row = format!("{} | {verdict}", names.join(", "));
            self.output.summary(&squeezed(&row), names.len());
        }
    }
}
