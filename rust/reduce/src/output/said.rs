//! What a row refers to in the source.

/// A line of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceLine {
    pub(super) number: usize,
    /// The offset in the text with squeezed blanks.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where the next line begins in the source.
    pub(super) next: usize,
}

impl SourceLine {
    /// The line with this number; nothing before it is searched again.
    pub(super) fn filling(number: usize, next: usize) -> Self {
        Self {
            number,
            start: 0,
            end: 0,
            next,
        }
    }
}

/// What a row refers to in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// A line, or a line whose middle was cut.
    Line(&'a str),
    /// A line that represents this many similar lines.
    Repeated(&'a str, usize),
    /// Members of JSON.
    Members(&'a str),
    /// A number of left-out lines.
    Gap(usize),
    /// Nothing that can be located in the source.
    #[default]
    Other,
}
