//! An array of integers.

use crate::abi::{ArrowArray, ArrowSchema};
use crate::array::{Header, item};
use crate::chunks::Column;
use crate::error::Error;
use crate::kinds::IntegerKind;

/// One chunk of a column of integers; gives its memory back when it is dropped.
#[derive(Debug)]
pub struct Integers {
    header: Header,
    kind: IntegerKind,
    /// Held for its memory, to which the header points.
    _array: ArrowArray,
}

impl Column for Integers {
    type Kind = IntegerKind;

    fn kind(schema: &ArrowSchema) -> Result<IntegerKind, Error> {
        IntegerKind::of(schema)
    }

    unsafe fn new(array: ArrowArray, kind: IntegerKind) -> Result<Self, Error> {
        Ok(Self {
            header: header(&array, kind)?,
            kind,
            _array: array,
        })
    }

    fn len(&self) -> usize {
        self.header.length
    }
}

impl Integers {
    /// The integer of a row, `None` for null; one over `i64::MAX` is that.
    ///
    /// # Errors
    /// A row that the column does not have.
    pub fn get(&self, row: usize) -> Result<Option<i64>, Error> {
        // SAFETY: the array lives as long as `self`, and is of this kind.
        unsafe { value(&self.header, self.kind, row) }
    }
}

/// The header of an array of integers.
pub(crate) fn header(array: &ArrowArray, kind: IntegerKind) -> Result<Header, Error> {
    let wanted = if kind == IntegerKind::Null { 0 } else { 2 };
    Header::of(array, wanted)
}

/// The integer of a row, `None` for null; one over `i64::MAX` is that.
///
/// # Safety
/// The header is that of an array of integers of that kind which is not released.
pub(crate) unsafe fn value(
    header: &Header,
    kind: IntegerKind,
    row: usize,
) -> Result<Option<i64>, Error> {
    if kind == IntegerKind::Null && row < header.length {
        return Ok(None);
    }
    let Some(place) = header.valid(row)? else {
        return Ok(None);
    };
    let buffer = header.rows_buffer(1)?;
    macro_rules! wide {
        ($type:ty) => {
            // SAFETY: there is an integer of this type for each row.
            i64::try_from(unsafe { item::<$type>(buffer, place) }).unwrap_or(i64::MAX)
        };
    }
    macro_rules! narrow {
        ($type:ty) => {
            // SAFETY: there is an integer of this type for each row.
            i64::from(unsafe { item::<$type>(buffer, place) })
        };
    }
    Ok(Some(match kind {
        IntegerKind::Null => return Ok(None),
        IntegerKind::I8 => narrow!(i8),
        IntegerKind::U8 => narrow!(u8),
        IntegerKind::I16 => narrow!(i16),
        IntegerKind::U16 => narrow!(u16),
        IntegerKind::I32 => narrow!(i32),
        IntegerKind::U32 => narrow!(u32),
        IntegerKind::I64 => narrow!(i64),
        IntegerKind::U64 => wide!(u64),
    }))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::hand::{Hand, bytes_of};

    fn read(format: &'static str, length: i64, buffer: Option<Vec<u8>>) -> Vec<Option<i64>> {
        let hand = Hand {
            format,
            length,
            null_count: i64::from(buffer.is_some()),
            buffers: vec![Some(vec![0b101]), buffer],
            ..Hand::default()
        };
        let integers: Integers = hand.column().unwrap();
        let rows = 0..integers.len();
        rows.map(|row| integers.get(row).unwrap()).collect()
    }

    #[test]
    fn every_type_is_read_and_nulls_are_none() {
        let expected = vec![Some(1), None, Some(3)];
        for (format, buffer) in [
            ("c", bytes_of!(i8: 1, 2, 3)),
            ("C", bytes_of!(u8: 1, 2, 3)),
            ("s", bytes_of!(i16: 1, 2, 3)),
            ("S", bytes_of!(u16: 1, 2, 3)),
            ("i", bytes_of!(i32: 1, 2, 3)),
            ("I", bytes_of!(u32: 1, 2, 3)),
            ("l", bytes_of!(i64: 1, 2, 3)),
            ("L", bytes_of!(u64: 1, 2, 3)),
        ] {
            assert_eq!(read(format, 3, buffer), expected, "{format}");
        }
        assert_eq!(read("n", 2, None), vec![None, None]);
        assert_eq!(read("c", 1, bytes_of!(i8: -1)), vec![Some(-1)]);
        assert_eq!(read("L", 1, bytes_of!(u64: u64::MAX)), vec![Some(i64::MAX)]);
    }

    #[test]
    fn texts_are_no_integers() {
        let hand = Hand {
            format: "u",
            ..Hand::default()
        };
        let error = hand.column::<Integers>().unwrap_err().to_string();
        assert_eq!(error, "wanted are integers, got utf8");
    }
}
