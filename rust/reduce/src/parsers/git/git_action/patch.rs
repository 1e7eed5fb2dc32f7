//! Messages of `git apply` about patches that do not apply.

use crate::output::Output;

/// How many lines that `git apply` did not find are shown: all of a single patch, the locations of many.
const SEARCHED_LINES: usize = 20;

/// The output of `git apply --check -v` for one patch after the other.
#[derive(Default)]
pub(super) struct Patch<'a> {
    /// The line that announces a patch.
    checked: Option<&'a str>,
    is_searched: bool,
    searched_lines: usize,
}

impl<'a> Patch<'a> {
    /// Whether `line` need not be shown, or is shown later.
    pub(super) fn passes(&mut self, line: &'a str, output: &mut Output) -> bool {
        let is_search = line == "error: while searching for:";
        let is_error = line.starts_with("error: ");
        let is_check = line.starts_with("Checking patch ") && line.ends_with("...");
        self.is_searched &= !is_check;
        if (is_error || !self.is_searched)
            && !is_search
            && let Some(checked) = self.checked.take()
            && !(is_error && line.contains(path(checked)))
        {
            output.context(checked);
        }
        if self.is_searched {
            self.is_searched = !is_error;
            self.searched_lines += usize::from(self.is_searched);
            return self.is_searched && self.searched_lines > SEARCHED_LINES;
        }
        self.is_searched = is_search;
        if self.is_searched {
            output.failed();
            return self.searched_lines >= SEARCHED_LINES;
        }
        if is_check {
            self.checked = Some(line);
        }
        is_check
    }

    pub(super) fn end(self, output: &mut Output) {
        if let Some(checked) = self.checked {
            output.context(checked);
        }
    }
}

/// The path in `Checking patch src/oak.c...`.
fn path(checked: &str) -> &str {
    let path = checked.strip_prefix("Checking patch ").unwrap_or(checked);
    path.strip_suffix("...").unwrap_or(path)
}
