//! Names that share one row.

use crate::output::Output;

pub(super) struct Names {
    row: String,
    lines: usize,
}

impl Names {
    pub(super) fn new(head: &str) -> Self {
        Self {
            row: head.to_owned(),
            lines: 0,
        }
    }

    pub(super) fn add(&mut self, name: &str) {
        self.lines += 1;
        self.row.push(' ');
        self.row.push_str(name);
    }

    pub(super) fn write(&self, output: &mut Output) {
        if self.lines > 0 {
            output.summary(&self.row, self.lines);
        }
    }
}
