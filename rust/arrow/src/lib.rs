//! Columns of inputs over the Arrow C data and stream interface: in from anyone, out as `large_utf8`.
//!
//! The only crate of the project with `unsafe`: the interface is made of raw pointers. Its functions
//! run under Miri. What comes in is checked where the interface states enough to check it: types,
//! lengths, the order of offsets and their end, the sizes of view buffers, dictionary indices, UTF-8.
//! It does not say how large the validity, offset, index and view buffers are, nor that the data
//! buffer of `utf8` reaches its last offset: there the producer is trusted, as by every consumer.

mod abi;
mod array;
mod chunks;
mod error;
#[cfg(test)]
#[expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::multiple_unsafe_ops_per_block,
    reason = "tests may panic"
)]
mod hand;
mod integers;
mod kinds;
mod large_texts;
#[cfg(feature = "python")]
pub mod python;
mod rows;
mod texts;

pub use abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
pub use chunks::{Chunks, Column};
pub use error::Error;
pub use integers::Integers;
pub use kinds::{IntegerKind, PlainKind, TextKind};
pub use large_texts::{LargeTexts, LargeTextsBuilder};
pub use rows::Rows;
pub use texts::Texts;
