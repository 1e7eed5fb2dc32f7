//! What a row states of the source, and a line of the source that it may be.

/// A line of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceLine {
    pub(super) number: usize,
    /// Where it is in the text with squeezed blanks.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where the next line begins in the source.
    pub(super) next: usize,
}

impl SourceLine {
    /// The line of that number, before which nothing is looked for any more.
    pub(super) fn filling(number: usize, next: usize) -> Self {
        Self {
            number,
            start: 0,
            end: 0,
            next,
        }
    }
}

/// What a row states of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// It is a line, or a line whose middle was cut.
    Line(&'a str),
    /// A line that represents this many that are similar to it.
    Repeated(&'a str, usize),
    /// Members of JSON.
    Members(&'a str),
    /// How many lines are left out here.
    Gap(usize),
    /// Nothing that can be found in the source by itself.
    #[default]
    Other,
}
