//! A column chunk by chunk, out of a stream or of one array.

use std::ffi::c_int;
use std::ptr::NonNull;

use crate::abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use crate::error::Error;

/// A chunk whose rows can be read.
pub trait Column: Sized {
    /// The type of the rows.
    type Kind: Copy + std::fmt::Debug;

    /// The type that a schema names.
    ///
    /// # Errors
    /// A type that such a column cannot have.
    fn kind(schema: &ArrowSchema) -> Result<Self::Kind, Error>;

    /// The chunk that is in an array.
    ///
    /// # Errors
    /// An array that states what cannot be so.
    ///
    /// # Safety
    /// The array is of that type.
    unsafe fn new(array: ArrowArray, kind: Self::Kind) -> Result<Self, Error>;

    /// How many rows it has.
    fn len(&self) -> usize;

    /// Whether it has no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The chunks of a column, in their order.
#[derive(Debug)]
pub struct Chunks<C: Column> {
    kind: C::Kind,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Stream(ArrowArrayStream),
    Array(Option<ArrowArray>),
}

impl<C: Column> Chunks<C> {
    /// The chunks of a stream.
    ///
    /// # Errors
    /// A stream that was consumed before, that fails, or that holds another type.
    ///
    /// # Safety
    /// As for [`ArrowArrayStream::take`].
    pub unsafe fn from_stream(place: NonNull<ArrowArrayStream>) -> Result<Self, Error> {
        // SAFETY: the caller states it.
        let mut stream = unsafe { ArrowArrayStream::take(place) }.ok_or(Error::Consumed)?;
        let mut schema = ArrowSchema::empty();
        let get_schema = stream.get_schema.ok_or(Error::Malformed("no get_schema"))?;
        // SAFETY: the stream is not released and the schema is a place to write to.
        let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        succeeded(&mut stream, code)?;
        Ok(Self {
            kind: C::kind(&schema)?,
            source: Source::Stream(stream),
        })
    }

    /// The one chunk of an array.
    ///
    /// # Errors
    /// An array that was consumed before, or holds another type.
    ///
    /// # Safety
    /// As for [`ArrowArray::take`]; the schema is that of the array.
    pub unsafe fn from_array(
        schema: NonNull<ArrowSchema>,
        array: NonNull<ArrowArray>,
    ) -> Result<Self, Error> {
        // SAFETY: the caller states it.
        let schema = unsafe { ArrowSchema::take(schema) }.ok_or(Error::Consumed)?;
        // SAFETY: the caller states it.
        let array = unsafe { ArrowArray::take(array) }.ok_or(Error::Consumed)?;
        Ok(Self {
            kind: C::kind(&schema)?,
            source: Source::Array(Some(array)),
        })
    }

    /// The next chunk; `None` when there is none.
    ///
    /// # Errors
    /// A stream that fails, or an array that states what cannot be so.
    pub fn next_chunk(&mut self) -> Result<Option<C>, Error> {
        let array = match &mut self.source {
            Source::Array(array) => array.take(),
            Source::Stream(stream) => {
                let mut array = ArrowArray::empty();
                let get_next = stream.get_next.ok_or(Error::Malformed("no get_next"))?;
                // SAFETY: the stream is not released and the array is a place to write to.
                let code = unsafe { get_next(stream, &raw mut array) };
                succeeded(stream, code)?;
                array.release.is_some().then_some(array)
            }
        };
        // SAFETY: the schema that came with the arrays named this type.
        array
            .map(|array| unsafe { C::new(array, self.kind) })
            .transpose()
    }
}

fn succeeded(stream: &mut ArrowArrayStream, code: c_int) -> Result<(), Error> {
    if code == 0 {
        Ok(())
    } else {
        Err(Error::Stream(stream.last_error(code)))
    }
}
