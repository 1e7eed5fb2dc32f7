//! The three structs of the Arrow C interface, each released once by the one that holds it last.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

/// The type of a column.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowSchema {
    pub(crate) format: *const c_char,
    pub(crate) name: *const c_char,
    pub(crate) metadata: *const c_char,
    pub(crate) flags: i64,
    pub(crate) n_children: i64,
    pub(crate) children: *mut *mut ArrowSchema,
    pub(crate) dictionary: *mut ArrowSchema,
    pub(crate) release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub(crate) private_data: *mut c_void,
}

/// The rows of one chunk of a column.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArray {
    pub(crate) length: i64,
    pub(crate) null_count: i64,
    pub(crate) offset: i64,
    pub(crate) n_buffers: i64,
    pub(crate) n_children: i64,
    pub(crate) buffers: *const *const c_void,
    pub(crate) children: *mut *mut ArrowArray,
    pub(crate) dictionary: *mut ArrowArray,
    pub(crate) release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub(crate) private_data: *mut c_void,
}

pub(crate) type GetSchema = unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int;
pub(crate) type GetNext = unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int;
pub(crate) type GetLastError = unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char;

/// A column chunk by chunk.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArrayStream {
    pub(crate) get_schema: Option<GetSchema>,
    pub(crate) get_next: Option<GetNext>,
    pub(crate) get_last_error: Option<GetLastError>,
    pub(crate) release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    pub(crate) private_data: *mut c_void,
}

/// Moving out of memory that another side owns, and releasing at the end.
macro_rules! released_once {
    ($name:ident, $empty:expr) => {
        // SAFETY: the interface lets a struct be read, moved and released on any thread, one at a
        // time; nothing here is shared between threads.
        unsafe impl Send for $name {}

        impl $name {
            /// A struct that holds nothing, as a producer wants it to fill it.
            pub(crate) const fn empty() -> Self {
                $empty
            }

            /// The struct out of a place that stays behind marked as released; `None` when it
            /// already was.
            ///
            /// # Safety
            /// `place` may be read and written, and what is there obeys the Arrow C interface.
            pub unsafe fn take(place: NonNull<Self>) -> Option<Self> {
                // SAFETY: the caller states that the place may be read and written; what is left
                // there is a struct without a release callback, so that only one side releases.
                let taken = unsafe { place.replace(Self::empty()) };
                taken.release.is_some().then_some(taken)
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: a struct with a release callback is owned by its holder, which is
                    // this value, and the callback is called here alone.
                    unsafe { release(self) }
                }
            }
        }
    };
}

released_once!(
    ArrowSchema,
    Self {
        format: std::ptr::null(),
        name: std::ptr::null(),
        metadata: std::ptr::null(),
        flags: 0,
        n_children: 0,
        children: std::ptr::null_mut(),
        dictionary: std::ptr::null_mut(),
        release: None,
        private_data: std::ptr::null_mut(),
    }
);
released_once!(
    ArrowArray,
    Self {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: std::ptr::null(),
        children: std::ptr::null_mut(),
        dictionary: std::ptr::null_mut(),
        release: None,
        private_data: std::ptr::null_mut(),
    }
);
released_once!(
    ArrowArrayStream,
    Self {
        get_schema: None,
        get_next: None,
        get_last_error: None,
        release: None,
        private_data: std::ptr::null_mut(),
    }
);

impl ArrowSchema {
    /// The format string, empty when there is none.
    pub(crate) fn format(&self) -> &str {
        if self.format.is_null() {
            return "";
        }
        // SAFETY: the format of a schema is a string that ends in NUL and lives as long as it.
        let format = unsafe { CStr::from_ptr(self.format) };
        format.to_str().unwrap_or_default()
    }

    /// The type of the values, where the column is dictionary-encoded.
    pub(crate) fn dictionary(&self) -> Option<&Self> {
        // SAFETY: a dictionary of a schema is null or a schema that lives as long as its parent.
        unsafe { self.dictionary.as_ref() }
    }
}

impl ArrowArray {
    /// The values, where the column is dictionary-encoded.
    pub(crate) fn dictionary(&self) -> Option<&Self> {
        // SAFETY: a dictionary of an array is null or an array that lives as long as its parent.
        unsafe { self.dictionary.as_ref() }
    }
}

impl ArrowArrayStream {
    /// What the stream states about its last failure.
    pub(crate) fn last_error(&mut self, code: c_int) -> String {
        let message = self.get_last_error.map(|get| {
            // SAFETY: the stream is not released, and its last call failed, as the callback wants.
            unsafe { get(self) }
        });
        match message.and_then(|message| NonNull::new(message.cast_mut())) {
            // SAFETY: the message is a string that ends in NUL and lives until the next call.
            Some(message) => unsafe { CStr::from_ptr(message.as_ptr()) }
                .to_string_lossy()
                .into_owned(),
            None => format!("error {code}"),
        }
    }
}
