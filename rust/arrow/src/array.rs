//! What every type of array has in common: rows, some of them null, and buffers.

use std::ffi::c_void;

use crate::abi::ArrowArray;
use crate::error::Error;

/// The rows and buffers of an array, their counts checked; valid as long as the array is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// Rows of the buffers that stand before the first row of the array.
    offset: usize,
    pub(crate) length: usize,
    /// One bit a row; null where no row is.
    validity: *const u8,
    buffers: *const *const c_void,
    pub(crate) buffer_count: usize,
}

// SAFETY: a header only reads memory that its array holds, and an array may move between threads.
unsafe impl Send for Header {}

impl Header {
    /// The header of an array that has at least `wanted` buffers, the first of them its validity.
    pub(crate) fn of(array: &ArrowArray, wanted: usize) -> Result<Self, Error> {
        let count = |number| usize::try_from(number).ok();
        let (Some(offset), Some(length)) = (count(array.offset), count(array.length)) else {
            return Err(Error::Malformed("a negative length or offset"));
        };
        // A buffer has at most `isize::MAX` bytes, and a row of views sixteen.
        let most_rows = isize::MAX.unsigned_abs() / 16 - 1;
        if offset.saturating_add(length) > most_rows {
            return Err(Error::Malformed("more rows than memory can hold"));
        }
        let buffer_count = count(array.n_buffers).unwrap_or(0);
        if buffer_count < wanted || (wanted > 0 && array.buffers.is_null()) {
            return Err(Error::Malformed("buffers are missing"));
        }
        let mut header = Self {
            offset,
            length,
            validity: std::ptr::null(),
            buffers: array.buffers,
            buffer_count,
        };
        if wanted > 0 && array.null_count != 0 {
            header.validity = header.buffer(0)?;
            if header.validity.is_null() && array.null_count > 0 {
                return Err(Error::Malformed("nulls without a validity buffer"));
            }
        }
        Ok(header)
    }

    /// Where a buffer begins; null for an absent one.
    pub(crate) fn buffer(&self, index: usize) -> Result<*const u8, Error> {
        if index >= self.buffer_count {
            return Err(Error::Malformed("buffers are missing"));
        }
        // SAFETY: the list of buffers has `buffer_count` items.
        let place = unsafe { self.buffers.add(index) };
        // SAFETY: as above; an item is a pointer, aligned as the C interface aligns pointers.
        Ok(unsafe { place.read() }.cast())
    }

    /// A buffer that cannot be absent where there are rows.
    pub(crate) fn rows_buffer(&self, index: usize) -> Result<*const u8, Error> {
        let buffer = self.buffer(index)?;
        if buffer.is_null() && self.length > 0 {
            return Err(Error::Malformed("rows without a buffer"));
        }
        Ok(buffer)
    }

    /// Where a row is in the buffers; `None` when it is null.
    pub(crate) fn valid(&self, row: usize) -> Result<Option<usize>, Error> {
        if row >= self.length {
            return Err(Error::MalformedRow(row));
        }
        let place = self.offset + row;
        if self.validity.is_null() {
            return Ok(Some(place));
        }
        // SAFETY: a validity buffer has a bit for each of the `offset + length` rows.
        let bits: u8 = unsafe { item(self.validity, place / 8) };
        Ok((bits >> (place % 8) & 1 == 1).then_some(place))
    }

    /// Where the row behind the last one is.
    pub(crate) fn end(&self) -> usize {
        self.offset + self.length
    }
}

/// The item of that index; producers need not align their buffers.
///
/// # Safety
/// `buffer` holds at least `index + 1` items, for which any bits are a value.
pub(crate) unsafe fn item<T: Copy>(buffer: *const u8, index: usize) -> T {
    // SAFETY: the caller states that the item lies in the buffer.
    let place = unsafe { buffer.cast::<T>().add(index) };
    // SAFETY: as above; the read needs no alignment.
    unsafe { place.read_unaligned() }
}
