//! Output of several programs in sequence: `ruff check . ; pytest -q`, a script, a target of make.
//!
//! Where it is certain that the output of a program begins or ends, the text is divided. Each part is reduced
//! like a separate output, because one family would take the lines of other programs for noise.

mod aligned;
mod division;
mod known;
mod line;
mod marked;
mod own;
mod parts;
mod printed;
mod program;
mod remarks;
mod split;

use crate::family::{Family, Marks, Match, SEVERAL};
use crate::input::Input;
use crate::output::Output;
pub(crate) use aligned::words;
pub(crate) use division::Division;
use known::IsMuch;
pub(crate) use marked::Sections;

pub(crate) const FAMILY: Family = Family {
    name: SEVERAL,
    runs: |_| false,
    marks: Marks::Never,
    recognises: |input| recognises(input, IsMuch::OfAnother),
    reduce: |input, output| reduce(input, IsMuch::OfAnother, output),
};

/// The same for the output of one command of a runner: only a second recognised output proves a second program.
pub(crate) const OF_ONE: Family = Family {
    recognises: |input| recognises(input, IsMuch::OfTheSame),
    reduce: |input, output| reduce(input, IsMuch::OfTheSame, output),
    ..FAMILY
};

fn recognises(input: &Input<'_>, much: IsMuch) -> Match {
    if Division::by_content(*input, much).is_known() {
        Match::Certain
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, much: IsMuch, output: &mut Output) {
    Division::by_content(*input, much).write(output);
}

#[cfg(test)]
mod tests;
