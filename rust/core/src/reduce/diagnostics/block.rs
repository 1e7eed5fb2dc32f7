//! What stands below findings, and between them.

/// Lines below a finding, or between findings, of which little is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Block {
    #[default]
    None,
    /// All that follows `Did you mean:`, up to the next empty line.
    Advice,
    /// The changed lines below `help: Remove it`, up to the next empty line.
    Change,
    /// The source around a place below which its message stands, up to the next empty line.
    Source,
    /// Lines of source that two files share, up to the rule in brackets.
    Duplicate,
    /// Lines that a formatter would change.
    Diff,
    /// What a rule is for, indented below a message.
    Explained,
    /// The lines of source that a finding is in, as `--show-source` prints them, up to a caret.
    Excerpt,
}
