//! The output of `pytest --collect-only`: a tree of modules, classes and functions, node ids, or counts.

use super::line::is_bare_node;
use crate::line::beginnings::Beginnings;
use crate::output::Output;
use crate::rows::unknown::Unknown;

/// How many rows are shown of a list, the first ones.
const ROWS: usize = 200;
/// How many rows are remembered.
const MOST_ROWS: usize = 4_096;
/// The longest row of names.
const ROW_CHARS: usize = 160;

/// Prefixes of tree nodes that contain tests.
static FOLDERS: Beginnings<8> = Beginnings::new([
    "<Dir ",
    "<Package ",
    "<Module ",
    "<Class ",
    "<UnitTestCase ",
    "<Session ",
    "<DoctestModule ",
    "<DoctestTextfile ",
]);
/// Prefixes of tree nodes that are tests.
static NAMES: Beginnings<4> = Beginnings::new([
    "<Function ",
    "<Coroutine ",
    "<TestCaseFunction ",
    "<DoctestItem ",
]);

#[derive(Debug)]
struct Row<'a> {
    text: &'a str,
    /// Whether the row means something else if tests ran.
    unknown: bool,
}

/// The collected tests in order.
#[derive(Debug, Default)]
pub(super) struct Collected<'a> {
    rows: Vec<Row<'a>>,
    more: usize,
}

impl<'a> Collected<'a> {
    /// Reads `line` if it may be a row of such a list; if it is `unknown`, it is not shown elsewhere.
    pub(super) fn take(&mut self, line: &'a str, unknown: bool) -> bool {
        if !is_row(line) {
            return false;
        }
        if self.rows.len() < MOST_ROWS {
            self.rows.push(Row {
                text: line,
                unknown,
            });
        } else {
            self.more += 1;
        }
        true
    }

    /// Returns the rows if they are not a list, because the counts show that tests ran.
    pub(super) fn give_back(&mut self, unknown: &mut Unknown<'a>) {
        for row in self.rows.drain(..).filter(|row| row.unknown) {
            unknown.push(row.text);
        }
    }

    /// Writes one row per folder, and its names in a row below.
    pub(super) fn write(&self, output: &mut Output) {
        let mut told = Told {
            names: String::new(),
            joined: 0,
            rows: 0,
            hidden: self.more,
        };
        // If there are more ids than are shown individually, they are listed below their files.
        let by_file = self.rows.len() > ROWS;
        let mut file = "";
        for row in &self.rows {
            let text = row.text.trim();
            let node = text.split_once("::").filter(|_| by_file && is_node(text));
            match (name(text), node) {
                (Some(name), _) => told.name(name, output),
                (None, Some((path, below))) => {
                    if path != file {
                        told.folder(path, output);
                        file = path;
                    }
                    told.name(below, output);
                }
                (None, None) => told.folder(text, output),
            }
        }
        told.close(output);
        output.gap(told.hidden);
    }
}

/// What was shown of a list so far.
struct Told {
    /// The names in the open row, and their number.
    names: String,
    joined: usize,
    rows: usize,
    hidden: usize,
}

impl Told {
    fn name(&mut self, name: &str, output: &mut Output) {
        if self.names.len() + name.len() >= ROW_CHARS {
            self.close(output);
        }
        if !self.names.is_empty() {
            self.names.push(' ');
        }
        self.names.push_str(name);
        self.joined += 1;
    }

    fn folder(&mut self, text: &str, output: &mut Output) {
        self.close(output);
        self.rows += 1;
        if self.rows <= ROWS {
            output.fact(text);
        } else {
            self.hidden += 1;
        }
    }

    /// Writes the names of the open row.
    fn close(&mut self, output: &mut Output) {
        if self.joined == 0 {
            return;
        }
        self.rows += 1;
        if self.rows <= ROWS {
            output.summary(&self.names, self.joined);
        } else {
            self.hidden += self.joined;
        }
        self.names.clear();
        self.joined = 0;
    }
}

/// The name in `<Function test_x>`.
fn name(text: &str) -> Option<&str> {
    let inside = text.strip_suffix('>').filter(|_| NAMES.begin(text))?;
    inside.split_once(' ').map(|(_, name)| name)
}

fn is_row(line: &str) -> bool {
    let text = line.trim();
    match text.as_bytes().first() {
        Some(b'<') => text.ends_with('>') && (NAMES.begin(text) || FOLDERS.begin(text)),
        Some(_) => text.len() == line.trim_end().len() && (is_node(text) || is_count(text)),
        None => false,
    }
}

/// A node id and nothing else; parameter values may contain blanks.
fn is_node(text: &str) -> bool {
    let (name, parameters) = text.split_once('[').unwrap_or((text, "]"));
    is_bare_node(text) && !name.contains(' ') && parameters.ends_with(']')
}

/// `tests/test_a.py: 12`
fn is_count(text: &str) -> bool {
    text.rsplit_once(".py: ").is_some_and(|(path, count)| {
        !path.contains(' ') && !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_tests_all_files_are_told_with_the_names_beside_each_other() {
        let ids: Vec<String> = (0..300)
            .map(|number| format!("tests/test_oak_{}.py::Leaf::test_{number}", number / 100))
            .collect();
        let mut collected = Collected::default();
        assert!(ids.iter().all(|id| collected.take(id, true)));
        let mut output = Output::default();
        collected.write(&mut output);
        let told = output.finish(300, usize::MAX);
        assert!(
            told.starts_with("tests/test_oak_0.py\nLeaf::test_0 Leaf::test_1 "),
            "{told}"
        );
        assert!(
            told.contains("\ntests/test_oak_2.py\nLeaf::test_200 "),
            "{told}"
        );
        assert!(told.contains(" Leaf::test_299"), "{told}");
    }
}
