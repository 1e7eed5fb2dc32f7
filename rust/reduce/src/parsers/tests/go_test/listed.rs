//! The output of `go test -list`: one name per line.

use crate::output::Output;

const ROW_CHARS: usize = 160;
/// How many rows of names are shown.
const ROWS: usize = 200;
const KINDS: [&str; 4] = ["Test", "Benchmark", "Example", "Fuzz"];

/// The names in the open row.
#[derive(Default)]
pub(super) struct Listed {
    row: String,
    names: usize,
    rows: usize,
}

impl Listed {
    /// Reads `line` if it is a name; writes the row where names end.
    pub(super) fn take(&mut self, line: &str, output: &mut Output) -> bool {
        if !is_name(line) {
            self.write(output);
            return false;
        }
        if self.row.len() + line.len() >= ROW_CHARS {
            self.write(output);
        }
        if self.names > 0 {
            self.row.push(' ');
        }
        self.row.push_str(line);
        self.names += 1;
        true
    }

    pub(super) fn write(&mut self, output: &mut Output) {
        if self.names > 0 && self.rows < ROWS {
            output.summary(&self.row, self.names);
            self.rows += 1;
        }
        self.row.clear();
        self.names = 0;
    }
}

fn is_name(line: &str) -> bool {
    matches!(line.as_bytes().first(), Some(b'T' | b'B' | b'E' | b'F'))
        && KINDS.iter().any(|kind| line.starts_with(kind))
        && line
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
