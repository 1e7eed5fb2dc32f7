//! The state of JSON text that arrives in pieces.

/// What the text is so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing but white space.
    Blank,
    /// The beginning of a value.
    Open,
    /// One whole object.
    Object,
    /// One whole value that is not an object.
    OtherValue,
    /// Not JSON, whatever follows: a syntax error, a duplicate key, more than [`crate::json_text::MAX_DEPTH`] levels, or a number
    /// larger than every float.
    Invalid,
}
