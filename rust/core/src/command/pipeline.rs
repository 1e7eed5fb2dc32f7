//! One command, or several in which each reads what the one before it prints.

use super::runner::run_by;
use super::wrapper::unwrapped;
use super::{lines_of_stage, passes_through, shell_line};

/// What a pipeline is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It may print something of its own.
    Prints,
    /// It prepares what others do and mostly prints nothing.
    Prepares,
    /// It states a few words beside what those before it printed.
    Remarks,
}

/// How a pipeline hangs on the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Link {
    /// It runs however that ended.
    #[default]
    Always,
    /// It runs if that ended well: `&&`.
    IfWell,
    /// It runs if that failed: `||`.
    IfFailed,
}

/// Commands of one pipeline of a line.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub(super) role: Role,
    /// Its commands in their order, without those that print nothing.
    pub(super) stages: Vec<Vec<String>>,
    /// Whether the last of them gets what another printed.
    pub(super) is_piped: bool,
    pub(super) link: Link,
    /// Whether it is in a branch: one of them runs, or none.
    pub(super) perhaps: bool,
    /// Whether the status behind it is not how it ended: `! make`, `make || true`, `if make`.
    pub(super) hides_end: bool,
    /// The number of the outermost loop in which it is.
    pub(super) in_loop: Option<usize>,
}

impl Pipeline {
    /// The words of its only command.
    pub(super) fn only(&self) -> Option<&[String]> {
        let words = self.stages.last().filter(|_| !self.is_piped)?;
        Some(unwrapped(words)).filter(|words| !words.is_empty())
    }

    /// The name in which it keeps how the one before it ended: `rc=$?`.
    pub(super) fn keeps_status(&self) -> Option<&str> {
        let [words] = self.stages.as_slice() else {
            return None;
        };
        words.iter().find_map(|word| {
            let (name, value) = word.split_once('=')?;
            (value == "$?" || value.starts_with("${PIPESTATUS[")).then_some(name)
        })
    }

    /// The words of the command whose output comes out, a shell for what it runs.
    pub(super) fn producing(&self) -> Option<Vec<String>> {
        let words = self.stages.iter().rev().nth(self.passing().count())?;
        let words = run_by(unwrapped(words));
        (!words.is_empty()).then(|| words.to_vec())
    }

    /// What it gives to a shell that runs it: `bash -lc 'make; echo done'`.
    pub(super) fn inner_line(&self) -> Option<String> {
        let is_all = self.passing().count() + 1 == self.stages.len();
        let words = self.producing().filter(|_| is_all)?;
        shell_line(&words).map(str::to_owned)
    }

    /// How many lines its last stages ask for.
    pub(super) fn asked_lines(&self) -> Option<usize> {
        self.passing()
            .filter_map(|words| lines_of_stage(unwrapped(words)))
            .min()
    }

    /// The last stages, through which comes what was printed before them.
    fn passing(&self) -> impl Iterator<Item = &Vec<String>> {
        let later = self.stages.iter().skip(1).rev();
        later.take_while(|words| passes_through(words))
    }
}
