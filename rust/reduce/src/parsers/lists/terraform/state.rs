//! What `terraform show` describes the objects that there are: a row for each.

use super::FAMILY;
use crate::input::Input;
use crate::line::shorten;
use crate::nested;
use crate::output::Output;
use crate::rows::report::squeezed;

/// Values of one object that are shown.
const OBJECT_CHARS: usize = 1_000;

/// Whether objects are shown of: under the address of one is its block.
pub(super) fn is_in(input: &Input<'_>) -> bool {
    let mut lines = input.beginning().peekable();
    while let Some(line) = lines.next() {
        if address(line).is_some() && lines.peek().is_some_and(|next| opens(next)) {
            return true;
        }
    }
    false
}

/// The address of an object above its block: `# oak.elm["a"]:`.
fn address(line: &str) -> Option<&str> {
    let address = line.strip_prefix("# ")?.strip_suffix(':')?;
    address.contains('.').then_some(address)
}

fn opens(line: &str) -> bool {
    line.ends_with('{') && (line.starts_with("resource \"") || line.starts_with("data \""))
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let is_own = |line: &str| address(line).is_some() || line == "}";
    let [before, own, behind] = nested::around(input, is_own);
    nested::other(before, &FAMILY, output);
    if let Some(own) = own {
        let mut objects = Objects {
            row: String::new(),
            lines: 0,
            output,
        };
        own.lines().for_each(|line| objects.line(line));
        objects.write();
    }
    nested::other(behind, &FAMILY, output);
}

struct Objects<'o> {
    row: String,
    /// Lines that the row shows; none outside of objects.
    lines: usize,
    output: &'o mut Output,
}

impl Objects<'_> {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        if address(line).is_some() {
            self.write();
            self.row.push_str(text);
            self.lines = 1;
        } else if self.lines == 0 {
            if !text.is_empty() {
                self.output.fact(line);
            }
        } else if line == "}" {
            self.write();
        } else if opens(line) {
            self.lines += 1;
        } else if !text.is_empty() {
            self.row.push(' ');
            self.row.push_str(&squeezed(text));
            self.lines += 1;
        }
    }

    fn write(&mut self) {
        if self.lines > 0 {
            let row = shorten(&self.row, OBJECT_CHARS);
            self.output.summary(&row, self.lines);
        }
        self.row.clear();
        self.lines = 0;
    }
}
