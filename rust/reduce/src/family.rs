//! What a family of outputs is: how it is known, and what is made of it.

use crate::input::Input;
use crate::output::Output;

/// The name of the family of outputs that several programs gave.
pub(crate) const SEVERAL: &str = "several";

/// How sure a family is that an output is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// Nothing of the family's grammar is there.
    No,
    /// Enough when the command is one of the family's.
    Likely,
    /// Beyond doubt, whatever the command was called: `make test`, `npm run check`, `./ci.sh`.
    Certain,
}

/// What an output must hold for its content alone to prove that it is of a family.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Marks {
    /// Nothing that short inputs could tell.
    Any,
    /// Content proves nothing: the command must be one of the family's.
    Never,
    /// All inputs of one of these groups, among the first lines or the last ones.
    ///
    /// An input has two bytes or more. `\n` at its beginning or end is the beginning or end of a line,
    /// each digit represents any digit.
    OneOf(&'static [&'static [&'static str]]),
    /// The same of a format that is data.
    Loaded(fn() -> &'static [Vec<String>]),
}

/// One kind of output.
pub(crate) struct Family {
    /// Its name, for tests and benchmarks.
    pub(crate) name: &'static str,
    /// Whether the command is one that gives such output.
    pub(crate) runs: fn(&Input<'_>) -> bool,
    /// Without them it recognises nothing as certain.
    pub(crate) marks: Marks,
    /// Whether the text is such output; reads at most the beginning of it, or stops at the first proof.
    pub(crate) recognises: fn(&Input<'_>) -> Match,
    /// Writes what an agent needs of it; nothing when it is not understood after all.
    pub(crate) reduce: fn(&Input<'_>, &mut Output),
}

impl Family {
    /// Writes what an agent needs of the input, each thing at its place.
    pub(crate) fn write(&self, input: &Input<'_>, output: &mut Output) {
        (self.reduce)(input, output);
        output.settle();
    }
}
