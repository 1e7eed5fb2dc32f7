//! Arrays and streams built by hand, for tests: each buffer has memory of its exact size, so that
//! Miri sees a read beyond it.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use crate::chunks::{Chunks, Column};
use crate::error::Error;

/// An array in the making.
#[derive(Default)]
pub(crate) struct Hand {
    pub(crate) format: &'static str,
    pub(crate) length: i64,
    pub(crate) offset: i64,
    pub(crate) null_count: i64,
    /// `None` is an absent buffer.
    pub(crate) buffers: Vec<Option<Vec<u8>>>,
    pub(crate) dictionary: Option<Box<Hand>>,
    /// Counts the structs that were released.
    pub(crate) released: Arc<AtomicUsize>,
}

struct HeldSchema {
    format: *mut c_char,
    dictionary: Option<Box<ArrowSchema>>,
    released: Arc<AtomicUsize>,
}

struct HeldArray {
    _buffers: Vec<Option<Vec<u8>>>,
    pointers: Vec<*const c_void>,
    dictionary: Option<Box<ArrowArray>>,
    released: Arc<AtomicUsize>,
}

struct HeldStream {
    schema: Option<ArrowSchema>,
    arrays: std::vec::IntoIter<ArrowArray>,
    fails: Option<CString>,
    released: Arc<AtomicUsize>,
}

impl Hand {
    pub(crate) fn schema(&self) -> ArrowSchema {
        let format = CString::new(self.format).unwrap().into_raw();
        let mut schema = ArrowSchema::empty();
        schema.format = format;
        schema.release = Some(release_schema);
        let mut held = Box::new(HeldSchema {
            format,
            dictionary: self.dictionary.as_ref().map(|hand| Box::new(hand.schema())),
            released: Arc::clone(&self.released),
        });
        if let Some(dictionary) = &mut held.dictionary {
            schema.dictionary = &raw mut **dictionary;
        }
        schema.private_data = Box::into_raw(held).cast();
        schema
    }

    pub(crate) fn array(self) -> ArrowArray {
        let mut array = ArrowArray::empty();
        array.length = self.length;
        array.offset = self.offset;
        array.null_count = self.null_count;
        array.n_buffers = i64::try_from(self.buffers.len()).unwrap_or(-1);
        array.release = Some(release_array);
        let pointer = |buffer: &Option<Vec<u8>>| match buffer {
            Some(bytes) => bytes.as_ptr().cast(),
            None => std::ptr::null(),
        };
        let mut held = Box::new(HeldArray {
            pointers: self.buffers.iter().map(pointer).collect(),
            _buffers: self.buffers,
            dictionary: self.dictionary.map(|hand| Box::new(hand.array())),
            released: self.released,
        });
        array.buffers = held.pointers.as_ptr();
        if let Some(dictionary) = &mut held.dictionary {
            array.dictionary = &raw mut **dictionary;
        }
        array.private_data = Box::into_raw(held).cast();
        array
    }

    /// The array as a column of one chunk.
    pub(crate) fn chunks<C: Column>(self) -> Result<Chunks<C>, Error> {
        let mut schema = self.schema();
        let mut array = self.array();
        let places = (NonNull::from(&mut schema), NonNull::from(&mut array));
        // SAFETY: the structs were made in the lines above.
        unsafe { Chunks::from_array(places.0, places.1) }
    }

    /// The one chunk of the column.
    pub(crate) fn column<C: Column>(self) -> Result<C, Error> {
        self.chunks()?.next_chunk().map(Option::unwrap)
    }
}

/// A stream of those arrays, which fails at its end with that message if there is one.
pub(crate) fn stream(hands: Vec<Hand>, fails: Option<&str>) -> ArrowArrayStream {
    let released = Arc::clone(&hands[0].released);
    let schema = Some(hands[0].schema());
    let arrays: Vec<_> = hands.into_iter().map(Hand::array).collect();
    let held = Box::new(HeldStream {
        schema,
        arrays: arrays.into_iter(),
        fails: fails.map(|message| CString::new(message).unwrap()),
        released,
    });
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(held).cast(),
    }
}

/// `bytes` of each of those numbers, one behind the other.
macro_rules! bytes_of {
    ($type:ty: $($number:expr),* $(,)?) => {{
        let mut bytes: Vec<u8> = Vec::new();
        $(bytes.extend_from_slice(&<$type>::to_ne_bytes($number));)*
        Some(bytes)
    }};
}
pub(crate) use bytes_of;

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the owner calls this once, with the struct that `schema` made.
    let schema = unsafe { &mut *schema };
    schema.release = None;
    // SAFETY: as above.
    let held = unsafe { Box::from_raw(schema.private_data.cast::<HeldSchema>()) };
    // SAFETY: `schema` leaked this string.
    drop(unsafe { CString::from_raw(held.format) });
    held.released.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the owner calls this once, with the struct that `array` made.
    let array = unsafe { &mut *array };
    array.release = None;
    // SAFETY: as above.
    let held = unsafe { Box::from_raw(array.private_data.cast::<HeldArray>()) };
    held.released.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the owner calls this once, with the struct that `stream` made.
    let stream = unsafe { &mut *stream };
    stream.release = None;
    // SAFETY: as above.
    let held = unsafe { Box::from_raw(stream.private_data.cast::<HeldStream>()) };
    held.released.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the stream is one of `stream` that was not released.
    let held = unsafe { &mut *(*stream).private_data.cast::<HeldStream>() };
    // SAFETY: the caller gives a place to write to.
    unsafe { out.write(held.schema.take().unwrap()) }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: the stream is one of `stream` that was not released.
    let held = unsafe { &mut *(*stream).private_data.cast::<HeldStream>() };
    let next = held.arrays.next();
    if next.is_none() && held.fails.is_some() {
        return 5;
    }
    // SAFETY: the caller gives a place to write to.
    unsafe { out.write(next.unwrap_or(ArrowArray::empty())) }
    0
}

unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: the stream is one of `stream` that was not released.
    let held = unsafe { &*(*stream).private_data.cast::<HeldStream>() };
    held.fails
        .as_ref()
        .map_or(std::ptr::null(), |message| message.as_ptr())
}
