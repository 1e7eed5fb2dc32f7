//! How often each rule of a linter was broken: `8178 S101 [ ] assert` with tabs between, a row for each rule.

use super::LINE_CHARS;
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;

/// Fewer rows prove nothing.
const LEAST_ROWS: usize = 3;
/// This many rules, the most frequent ones, are shown with their names; of the others their codes.
const NAMED: usize = 40;
/// This many characters of codes are in succession.
const CODES_CHARS: usize = 160;

/// A rule, and how often it was broken.
struct Row<'a> {
    count: &'a str,
    code: &'a str,
    /// Whether it can be fixed, and its name.
    told: &'a str,
}

/// Whether most of the first lines are such rows.
pub(super) fn is_of_rules(input: &Input<'_>) -> bool {
    let (mut rows, mut lines) = (0, 0);
    for line in input.beginning() {
        lines += 1;
        rows += usize::from(row(line).is_some());
    }
    rows >= LEAST_ROWS && rows * 2 > lines
}

fn row(line: &str) -> Option<Row<'_>> {
    let text = line.trim_start_matches(' ');
    let (count, rest) = text.split_text("\t")?;
    let (code, told) = rest.split_text("\t")?;
    let code = code.trim_end();
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    let number = code.get(letters..).unwrap_or_default();
    let is_row = !count.is_empty()
        && count.bytes().all(|byte| byte.is_ascii_digit())
        && letters > 0
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit());
    is_row.then_some(Row { count, code, told })
}

/// The codes of rules that were broken equally often, which wait to be written.
#[derive(Default)]
struct Codes {
    text: String,
    lines: usize,
}

impl Codes {
    fn add(&mut self, row: &Row<'_>, count: &mut String, output: &mut Output) {
        if self.text.len() >= CODES_CHARS {
            self.write(output);
        }
        if self.lines == 0 {
            count.clear();
        }
        if count != row.count {
            if self.lines > 0 {
                self.text.push_str("; ");
            }
            row.count.clone_into(count);
            self.text.push_str(row.count);
        }
        self.text.push(' ');
        self.text.push_str(row.code);
        self.lines += 1;
    }

    fn write(&mut self, output: &mut Output) {
        if self.lines > 0 {
            output.summary(&self.text, self.lines);
        }
        *self = Self::default();
    }
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    // What was broken is what failed.
    output.failed();
    let mut named = 0;
    let mut codes = Codes::default();
    let mut count = String::new();
    for line in input.lines() {
        match row(line) {
            Some(row) if named < NAMED => {
                named += 1;
                let told = row.told.strip_prefix("[ ] ").unwrap_or(row.told);
                let line = format!("{} {} {told}", row.count, row.code);
                output.fact(&shorten(&line, LINE_CHARS));
            }
            Some(row) => codes.add(&row, &mut count, output),
            None if line.trim().is_empty() => (),
            None => {
                codes.write(output);
                output.fact(&shorten(line, LINE_CHARS));
            }
        }
    }
    codes.write(output);
}
