//! A `large_utf8` array of our own, offered over the interface as often as it is asked for.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use crate::abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use crate::error::Error;

const FORMAT: &std::ffi::CStr = c"U";
const NAME: &std::ffi::CStr = c"";
const NULLABLE: i64 = 2;
/// `EINVAL` on every system: a stream was asked after its release.
const INVALID: c_int = 22;

/// Inputs and nulls, row by row.
#[derive(Debug)]
pub struct LargeTexts {
    /// One more than rows.
    offsets: Vec<i64>,
    data: Vec<u8>,
    /// One bit a row.
    validity: Vec<u8>,
    null_count: usize,
}

/// Takes inputs row by row.
#[derive(Debug)]
pub struct LargeTextsBuilder(LargeTexts);

impl Default for LargeTextsBuilder {
    fn default() -> Self {
        Self(LargeTexts {
            offsets: vec![0],
            data: Vec::new(),
            validity: Vec::new(),
            null_count: 0,
        })
    }
}

impl LargeTextsBuilder {
    /// Adds a row; `None` is null.
    ///
    /// # Errors
    /// No memory for it: the rows before stay.
    pub fn push(&mut self, text: Option<&str>) -> Result<(), Error> {
        let Self(texts) = self;
        let row = texts.len();
        let added = text.map_or(0, str::len);
        texts.data.try_reserve(added).map_err(|_| Error::NoMemory)?;
        texts.offsets.try_reserve(1).map_err(|_| Error::NoMemory)?;
        if row.is_multiple_of(8) {
            texts.validity.try_reserve(1).map_err(|_| Error::NoMemory)?;
            texts.validity.push(0);
        }
        match (text, texts.validity.last_mut()) {
            (Some(text), Some(bits)) => {
                texts.data.extend_from_slice(text.as_bytes());
                *bits |= 1 << (row % 8);
            }
            _ => texts.null_count += 1,
        }
        let end = i64::try_from(texts.data.len()).map_err(|_| Error::NoMemory)?;
        texts.offsets.push(end);
        Ok(())
    }

    /// All rows that were added, in memory of their size.
    #[must_use]
    pub fn finish(self) -> Arc<LargeTexts> {
        let Self(mut texts) = self;
        texts.offsets.shrink_to_fit();
        texts.data.shrink_to_fit();
        Arc::new(texts)
    }
}

/// What an exported array holds until it is released.
struct ExportedArray {
    buffers: [*const c_void; 3],
    /// Held for its memory, to which the buffers point.
    _texts: Arc<LargeTexts>,
}

/// What an exported stream holds until it is released.
struct ExportedStream {
    texts: Arc<LargeTexts>,
    given: bool,
}

impl LargeTexts {
    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the column.
    #[must_use]
    pub fn schema() -> ArrowSchema {
        ArrowSchema {
            format: FORMAT.as_ptr(),
            name: NAME.as_ptr(),
            flags: NULLABLE,
            release: Some(release_schema),
            ..ArrowSchema::empty()
        }
    }

    /// The rows, without a copy.
    #[must_use]
    pub fn array(self: &Arc<Self>) -> ArrowArray {
        let mut exported = Box::new(ExportedArray {
            buffers: [
                self.validity.as_ptr().cast(),
                self.offsets.as_ptr().cast(),
                self.data.as_ptr().cast(),
            ],
            _texts: Arc::clone(self),
        });
        if self.null_count == 0 {
            exported.buffers = [
                std::ptr::null(),
                self.offsets.as_ptr().cast(),
                self.data.as_ptr().cast(),
            ];
        }
        let exported = Box::into_raw(exported);
        // SAFETY: the box was leaked in the line above and is not null.
        let buffers = unsafe { &raw const (*exported).buffers };
        ArrowArray {
            length: signed(self.len()),
            null_count: signed(self.null_count),
            n_buffers: 3,
            buffers: buffers.cast(),
            release: Some(release_array),
            private_data: exported.cast(),
            ..ArrowArray::empty()
        }
    }

    /// The rows as a stream of one chunk, without a copy.
    #[must_use]
    pub fn stream(self: &Arc<Self>) -> ArrowArrayStream {
        let exported = Box::new(ExportedStream {
            texts: Arc::clone(self),
            given: false,
        });
        ArrowArrayStream {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release_stream),
            private_data: Box::into_raw(exported).cast(),
        }
    }
}

/// A count of items in memory, never more than `i64::MAX`.
fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the one that calls a release callback gives the struct that it belongs to.
    unsafe { (*schema).release = None }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the one that calls a release callback gives the struct that it belongs to.
    let array = unsafe { &mut *array };
    array.release = None;
    // SAFETY: `array` leaked this box, and the callback is called once.
    drop(unsafe { Box::from_raw(array.private_data.cast::<ExportedArray>()) });
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the one that calls a release callback gives the struct that it belongs to.
    let stream = unsafe { &mut *stream };
    stream.release = None;
    // SAFETY: `stream` leaked this box, and the callback is called once.
    drop(unsafe { Box::from_raw(stream.private_data.cast::<ExportedStream>()) });
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the caller gives the stream that the callback belongs to.
    if unsafe { (*stream).release }.is_none() {
        return INVALID;
    }
    // SAFETY: the caller gives a place to write to; what is there is not to be released.
    unsafe { out.write(LargeTexts::schema()) }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: the caller gives the stream that the callback belongs to.
    let stream = unsafe { &mut *stream };
    if stream.release.is_none() {
        return INVALID;
    }
    // SAFETY: `stream` leaked this box, and it is dropped by the release alone.
    let exported = unsafe { &mut *stream.private_data.cast::<ExportedStream>() };
    let array = if exported.given {
        ArrowArray::empty()
    } else {
        exported.texts.array()
    };
    exported.given = true;
    // SAFETY: the caller gives a place to write to; what is there is not to be released.
    unsafe { out.write(array) }
    0
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    std::ptr::null()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use std::ptr::NonNull;

    use super::*;
    use crate::chunks::{Chunks, Column};
    use crate::texts::Texts;

    fn built(texts: &[Option<&str>]) -> Arc<LargeTexts> {
        let mut builder = LargeTextsBuilder::default();
        for text in texts {
            builder.push(*text).unwrap();
        }
        builder.finish()
    }

    fn read(mut chunks: Chunks<Texts>) -> Vec<Option<String>> {
        let texts = chunks.next_chunk().unwrap().unwrap();
        assert!(chunks.next_chunk().unwrap().is_none());
        let rows = 0..texts.len();
        rows.map(|row| texts.get(row).unwrap().map(str::to_owned))
            .collect()
    }

    #[test]
    fn what_goes_out_comes_in_again_as_a_stream_and_as_an_array() {
        let many: Vec<_> = (0..20).map(|row| (row % 3 > 0).then_some("née")).collect();
        for texts in [
            &[][..],
            &[None],
            &[Some("")],
            &[Some("a"), Some("b")],
            &many,
        ] {
            let built = built(texts);
            let expected: Vec<_> = texts.iter().map(|text| text.map(str::to_owned)).collect();
            let mut stream = built.stream();
            // SAFETY: the stream was made in the line above.
            let chunks = unsafe { Chunks::from_stream(NonNull::from(&mut stream)) };
            assert_eq!(read(chunks.unwrap()), expected);
            let (mut schema, mut array) = (LargeTexts::schema(), built.array());
            let places = (NonNull::from(&mut schema), NonNull::from(&mut array));
            drop(built);
            // SAFETY: the structs were made in the lines above.
            let chunks = unsafe { Chunks::from_array(places.0, places.1) };
            assert_eq!(read(chunks.unwrap()), expected);
        }
    }

    #[test]
    fn memory_is_held_until_the_last_export_is_released() {
        let built = built(&[Some("text")]);
        let (first, second) = (built.array(), built.stream());
        assert_eq!(Arc::strong_count(&built), 3);
        drop(first);
        drop(second);
        assert_eq!(Arc::strong_count(&built), 1);
    }
}
