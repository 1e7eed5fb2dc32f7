//! A reduced text as pieces of its source and text between them.

/// A piece of a reduced text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The source between two offsets.
    Source {
        /// The start offset.
        start: usize,
        /// The end offset.
        end: usize,
    },
    /// Text that is not a part of the source.
    Text(String),
}

/// The text of `pieces` of `text`; `None` when it cannot be allocated.
#[must_use]
pub fn join(text: &str, pieces: &[Piece]) -> Option<String> {
    let parts = || {
        pieces.iter().filter_map(|piece| match piece {
            Piece::Source { start, end } => text.get(*start..*end),
            Piece::Text(text) => Some(text.as_str()),
        })
    };
    let mut joined = String::new();
    joined.try_reserve_exact(parts().map(str::len).sum()).ok()?;
    joined.extend(parts());
    Some(joined)
}
