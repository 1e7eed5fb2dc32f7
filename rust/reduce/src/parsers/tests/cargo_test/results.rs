//! Results of targets whose tests passed.

use hashbrown::HashMap;

use super::line::is_empty;
use crate::output::Output;

/// How many kinds of results are distinguished.
const KINDS: usize = 400;

/// Results that are equal except for the time: how many there are, and where each kind is.
#[derive(Default)]
pub(super) struct Results<'a> {
    list: Vec<(&'a str, usize)>,
    kinds: HashMap<&'a str, usize>,
}

impl<'a> Results<'a> {
    pub(super) fn add(&mut self, line: &'a str) {
        let kind = line.split("; finished in ").next().unwrap_or(line);
        let known = self.kinds.get(kind);
        if let Some((_, times)) = known.and_then(|at| self.list.get_mut(*at)) {
            *times += 1;
        } else if self.list.len() < KINDS {
            self.kinds.insert(kind, self.list.len());
            self.list.push((line, 1));
        }
    }

    /// Writes and removes them before a failure that follows. If another target failed, results of targets without
    /// tests are left out.
    pub(super) fn write(&mut self, some_failed: bool, output: &mut Output) {
        self.kinds.clear();
        for (line, times) in self.list.drain(..) {
            if some_failed && is_empty(line) {
                continue;
            }
            if times > 1 {
                output.summary(&format!("{line} \u{d7}{times}"), times);
            } else {
                output.fact(line);
            }
        }
    }
}
