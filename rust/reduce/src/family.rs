//! The definition of an output family: how it is recognised and reduced.

use crate::input::Input;
use crate::output::Output;

/// The name of the family for output of several programs.
pub(crate) const SEVERAL: &str = "several";

/// How certain a family is that it recognises an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// Nothing matches the format of the family.
    No,
    /// Sufficient when the command belongs to the family.
    Likely,
    /// Certain, whatever the command was: `make test`, `npm run check`, `./ci.sh`.
    Certain,
}

/// What an output must contain so that its content alone proves its family.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Marks {
    /// There are no short strings to check.
    Any,
    /// Content proves nothing: the command must belong to the family.
    Never,
    /// All strings of one of these groups, among the first lines or the last ones.
    ///
    /// A string has at least two bytes. `\n` at its start or end matches the start or end of a line, and
    /// each digit matches any digit.
    OneOf(&'static [&'static [&'static str]]),
    /// Like `OneOf`, for a format that is loaded from a file.
    Loaded(fn() -> &'static [Vec<String>]),
}

/// One kind of output.
pub(crate) struct Family {
    /// The name.
    pub(crate) name: &'static str,
    /// Whether the command prints such output.
    pub(crate) runs: fn(&Input<'_>) -> bool,
    /// Without these, the family is never certain.
    pub(crate) marks: Marks,
    /// Whether the text is such output; reads only the beginning of it, or stops at the first proof.
    pub(crate) recognises: fn(&Input<'_>) -> Match,
    /// Writes the reduced rows; nothing when the output turns out not to be understood.
    pub(crate) reduce: fn(&Input<'_>, &mut Output),
}

impl Family {
    /// Writes the reduced rows of the input, each in its place.
    pub(crate) fn write(&self, input: &Input<'_>, output: &mut Output) {
        (self.reduce)(input, output);
        output.settle();
    }
}
