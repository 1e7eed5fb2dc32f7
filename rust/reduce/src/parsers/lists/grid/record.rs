//! Answers of a database with a line a field: the names of the fields once, then a row a record.
//!
//! ```text
//! -[ RECORD 1 ]-
//! id   | 1
//! name | ship 1
//! ```

use crate::input::Input;
use crate::line::{is_bad, shorten};
use crate::output::Output;

/// How many records are shown.
const RECORDS: usize = 400;
/// A record with more fields, or with longer ones, is not a row.
const FIELDS: usize = 16;
const ROW_CHARS: usize = 400;
/// This many fields are held at a time.
const HELD: usize = 4_096;
/// Lines of records that are not rows.
const FIELD_LINES: usize = 200;
const LINE_CHARS: usize = 240;

/// How fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `-[ RECORD 1 ]-`, then `name | value`.
    Bars,
    /// `*** 1. row ***`, then `name: value`.
    Colons,
    /// `name = value`, and an empty line between records.
    Equals,
}

/// The form of the records with which the text begins.
pub(super) fn form(input: &Input<'_>) -> Option<Form> {
    let mut lines = input.beginning().filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    if let Some(form) = head(first) {
        return Some(form);
    }
    let is_field = |line: &str| field(line, Form::Equals).is_some_and(|(name, _)| is_name(name));
    let all = is_field(first) && lines.take(2).all(is_field);
    (all && input.program() == "sqlite3").then_some(Form::Equals)
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The form of the record that `line` starts.
fn head(line: &str) -> Option<Form> {
    if line.starts_with("-[ RECORD ") {
        return Some(Form::Bars);
    }
    let is_row = line.starts_with("*****") && line.ends_with("*****") && line.contains(". row *");
    is_row.then_some(Form::Colons)
}

/// The name and the value of a field.
fn field(line: &str, form: Form) -> Option<(&str, &str)> {
    let (between, last) = match form {
        Form::Bars => ("| ", "|"),
        Form::Colons => (": ", ":"),
        Form::Equals => (" = ", " ="),
    };
    let (name, value) = line
        .split_once(between)
        .or_else(|| line.trim_end().strip_suffix(last).map(|name| (name, "")))?;
    let name = name.trim();
    (!name.is_empty()).then_some((name, value.trim()))
}

pub(super) fn reduce(input: &Input<'_>, form: Form, output: &mut Output) {
    let mut reader = Reader {
        form,
        fields: Vec::new(),
        names: Vec::new(),
        records: 0,
        lines: 0,
        hidden: 0,
    };
    for line in input.lines() {
        reader.line(line.trim_end(), output);
    }
    reader.close(output);
    output.gap(reader.hidden);
}

struct Reader<'a> {
    form: Form,
    /// Of the record that is read.
    fields: Vec<(&'a str, &'a str)>,
    /// Of the record before.
    names: Vec<&'a str>,
    records: usize,
    lines: usize,
    hidden: usize,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str, output: &mut Output) {
        if let Some(form) = head(line) {
            self.close(output);
            self.form = form;
        } else if line.is_empty() {
            self.close(output);
        } else if is_bad(line) && !line.starts_with(' ') {
            self.close(output);
            output.failed();
            output.fact(&shorten(line, LINE_CHARS));
        } else if let Some(field) = field(line, self.form) {
            self.fields.push(field);
            if self.fields.len() == HELD {
                self.close(output);
            }
        } else {
            self.close(output);
            self.field_line(line, output);
        }
    }

    fn field_line(&mut self, line: &str, output: &mut Output) {
        self.lines += 1;
        if self.lines <= FIELD_LINES {
            output.fact(&shorten(line, LINE_CHARS));
        } else {
            self.hidden += 1;
        }
    }

    /// Writes the record that was read.
    fn close(&mut self, output: &mut Output) {
        let fields = std::mem::take(&mut self.fields);
        if fields.is_empty() {
            return;
        }
        self.records += 1;
        if self.records > RECORDS {
            self.hidden += fields.len();
            return;
        }
        let chars: usize = fields.iter().map(|(_, value)| value.len() + 3).sum();
        if fields.len() == 1 || fields.len() > FIELDS || chars > ROW_CHARS {
            let between = match self.form {
                Form::Bars => " | ",
                Form::Colons => ": ",
                Form::Equals => " = ",
            };
            for (name, value) in fields {
                self.field_line(&format!("{name}{between}{value}"), output);
            }
            return;
        }
        let names = fields.iter().map(|(name, _)| *name);
        if !names.clone().eq(self.names.iter().copied()) {
            self.names = names.collect();
            output.summary(&self.names.join(" | "), 0);
        }
        let values: Vec<&str> = fields.iter().map(|(_, value)| *value).collect();
        output.summary(&values.join(" | "), fields.len());
    }
}
