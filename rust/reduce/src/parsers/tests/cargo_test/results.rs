//! Results of targets whose tests passed.

use hashbrown::HashMap;

use super::line::is_empty;
use crate::output::Output;

/// Kinds of results that are distinguished.
const KINDS: usize = 400;

/// Results that say the same but for the time, how many did, and where each kind is.
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

    /// Writes them before what failed behind them, and forgets them. A target without tests states nothing
    /// beside one whose tests failed.
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
