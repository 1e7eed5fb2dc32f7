//! An array of inputs.

use crate::abi::{ArrowArray, ArrowSchema};
use crate::array::{Header, item};
use crate::chunks::Column;
use crate::error::Error;
use crate::integers;
use crate::kinds::{IntegerKind, PlainKind, TextKind};

/// Views hold inputs of up to this many bytes in place.
const INLINE_BYTES: usize = 12;
const VIEW_BYTES: usize = 16;

/// One chunk of a column of inputs; gives its memory back when it is dropped.
#[derive(Debug)]
pub struct Texts {
    rows: TextRows,
    /// Held for its memory, to which the rows point.
    _array: ArrowArray,
}

#[derive(Debug)]
enum TextRows {
    Plain(Plain),
    Dictionary {
        header: Header,
        indices: IntegerKind,
        values: Plain,
    },
}

/// An array that is not dictionary-encoded.
#[derive(Debug)]
struct Plain {
    header: Header,
    kind: PlainKind,
    /// How many bytes the data buffer of `utf8` and `large_utf8` surely has.
    data_bytes: usize,
}

impl Column for Texts {
    type Kind = TextKind;

    fn kind(schema: &ArrowSchema) -> Result<TextKind, Error> {
        TextKind::of(schema)
    }

    unsafe fn new(array: ArrowArray, kind: TextKind) -> Result<Self, Error> {
        let rows = match kind {
            // SAFETY: the caller states that the array is of this kind.
            TextKind::Plain(kind) => TextRows::Plain(unsafe { Plain::new(&array, kind) }?),
            TextKind::Dictionary { indices, values } => {
                let dictionary = array.dictionary();
                let dictionary = dictionary.ok_or(Error::Malformed("no dictionary"))?;
                TextRows::Dictionary {
                    header: integers::header(&array, indices)?,
                    indices,
                    // SAFETY: the caller states that the dictionary is of this kind.
                    values: unsafe { Plain::new(dictionary, values) }?,
                }
            }
        };
        Ok(Self {
            rows,
            _array: array,
        })
    }

    fn len(&self) -> usize {
        match &self.rows {
            TextRows::Plain(plain) => plain.header.length,
            TextRows::Dictionary { header, .. } => header.length,
        }
    }
}

impl Texts {
    /// The text of a row, `None` for null.
    ///
    /// # Errors
    /// A row that lies outside its buffers or is not UTF-8.
    pub fn get(&self, row: usize) -> Result<Option<&str>, Error> {
        let bytes = match &self.rows {
            // SAFETY: the array lives as long as `self`, to which the bytes are bound.
            TextRows::Plain(plain) => unsafe { plain.bytes(row) },
            TextRows::Dictionary {
                header,
                indices,
                values,
            } => {
                // SAFETY: as above; the header was made of an array of this kind.
                let Some(index) = (unsafe { integers::value(header, *indices, row) })? else {
                    return Ok(None);
                };
                let index = usize::try_from(index).map_err(|_| Error::MalformedRow(row))?;
                // SAFETY: as above.
                unsafe { values.bytes(index) }.map_err(|_| Error::MalformedRow(row))
            }
        };
        let text = bytes?.map(std::str::from_utf8).transpose();
        text.map_err(|_| Error::NoUtf8(row))
    }
}

impl Plain {
    /// # Safety
    /// `array` is of that kind.
    unsafe fn new(array: &ArrowArray, kind: PlainKind) -> Result<Self, Error> {
        let (wanted, offset_bytes) = match kind {
            PlainKind::Null => (0, 0),
            PlainKind::Utf8 => (3, 4),
            PlainKind::LargeUtf8 => (3, 8),
            PlainKind::StringView => (3, VIEW_BYTES),
        };
        let header = Header::of(array, wanted)?;
        let mut data_bytes = 0;
        if offset_bytes > 0 && header.length > 0 {
            let rows = header.rows_buffer(1)?;
            if kind != PlainKind::StringView {
                // SAFETY: with rows there are as many offsets as rows and one more.
                data_bytes = unsafe { offset(rows, kind, header.end()) }
                    .ok_or(Error::Malformed("a negative offset"))?;
            }
        }
        Ok(Self {
            header,
            kind,
            data_bytes,
        })
    }

    /// # Safety
    /// The array is not released for as long as the bytes are used.
    unsafe fn bytes<'a>(&self, row: usize) -> Result<Option<&'a [u8]>, Error> {
        if self.kind == PlainKind::Null {
            return if row < self.header.length {
                Ok(None)
            } else {
                Err(Error::MalformedRow(row))
            };
        }
        let Some(place) = self.header.valid(row)? else {
            return Ok(None);
        };
        let found = if self.kind == PlainKind::StringView {
            // SAFETY: the row is one of the array.
            unsafe { self.viewed(place) }?
        } else {
            // SAFETY: the row is one of the array.
            unsafe { self.between_offsets(place) }?
        };
        let (start, length) = found.ok_or(Error::MalformedRow(row))?;
        if length == 0 {
            return Ok(Some(&[]));
        }
        if start.is_null() {
            return Err(Error::MalformedRow(row));
        }
        // SAFETY: the bytes lie in a buffer of the array, which the caller keeps.
        Ok(Some(unsafe { std::slice::from_raw_parts(start, length) }))
    }

    /// Where an input begins and how many bytes it has.
    ///
    /// # Safety
    /// `place` is that of a row of the array, which has offsets.
    unsafe fn between_offsets(&self, place: usize) -> Result<Option<(*const u8, usize)>, Error> {
        let offsets = self.header.rows_buffer(1)?;
        // SAFETY: there are as many offsets as rows and one more.
        let start = unsafe { offset(offsets, self.kind, place) };
        // SAFETY: as above.
        let end = unsafe { offset(offsets, self.kind, place + 1) };
        let (Some(start), Some(end)) = (start, end) else {
            return Ok(None);
        };
        if start > end || end > self.data_bytes {
            return Ok(None);
        }
        let data = self.header.buffer(2)?;
        // An absent buffer stays the null pointer that the caller looks for.
        let begin = if data.is_null() {
            data
        } else {
            // SAFETY: a data buffer has at least as many bytes as its last offset states.
            unsafe { data.add(start) }
        };
        Ok(Some((begin, end - start)))
    }

    /// Where an input begins and how many bytes it has.
    ///
    /// # Safety
    /// `place` is that of a row of the array, which has views.
    unsafe fn viewed(&self, place: usize) -> Result<Option<(*const u8, usize)>, Error> {
        let views = self.header.rows_buffer(1)?;
        // SAFETY: there is a view for each row.
        let [length, _, index, start] = unsafe { item::<[i32; 4]>(views, place) };
        let Ok(length) = usize::try_from(length) else {
            return Ok(None);
        };
        if length <= INLINE_BYTES {
            // SAFETY: a short text is in its view, behind its length.
            return Ok(Some((unsafe { views.add(place * VIEW_BYTES + 4) }, length)));
        }
        let (Ok(index), Ok(start)) = (usize::try_from(index), usize::try_from(start)) else {
            return Ok(None);
        };
        // The last buffer holds the sizes of those between it and the views.
        let data_buffers = self.header.buffer_count - 3;
        if index >= data_buffers {
            return Ok(None);
        }
        let sizes = self.header.buffer(data_buffers + 2)?;
        let data = self.header.buffer(index + 2)?;
        if sizes.is_null() || data.is_null() {
            return Ok(None);
        }
        // SAFETY: there is a size for each data buffer.
        let size = unsafe { item::<i64>(sizes, index) };
        if usize::try_from(size).is_ok_and(|size| start + length <= size) {
            // SAFETY: the text lies in a buffer of that size.
            return Ok(Some((unsafe { data.add(start) }, length)));
        }
        Ok(None)
    }
}

/// An offset, where it is not negative.
///
/// # Safety
/// `offsets` holds at least `index + 1` offsets of that kind.
unsafe fn offset(offsets: *const u8, kind: PlainKind, index: usize) -> Option<usize> {
    if kind == PlainKind::Utf8 {
        // SAFETY: the caller states that the offset lies in the buffer.
        usize::try_from(unsafe { item::<i32>(offsets, index) }).ok()
    } else {
        // SAFETY: as above.
        usize::try_from(unsafe { item::<i64>(offsets, index) }).ok()
    }
}

#[cfg(test)]
mod tests;
