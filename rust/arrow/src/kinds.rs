//! Types of columns, as the format strings of schemas name them.

use crate::abi::ArrowSchema;
use crate::error::Error;

/// A column of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Each row holds its text.
    Plain(PlainKind),
    /// Each row holds the index of its text.
    Dictionary {
        /// The type of the indices.
        indices: IntegerKind,
        /// The type of what they represent.
        values: PlainKind,
    },
}

/// A column of inputs that is not dictionary-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainKind {
    /// Every row is null.
    Null,
    /// Offsets of 32 bits into one buffer.
    Utf8,
    /// Offsets of 64 bits into one buffer.
    LargeUtf8,
    /// Views: short inputs in place, longer ones in one of many buffers.
    StringView,
}

/// A column of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerKind {
    /// Every row is null.
    Null,
    /// `int8`.
    I8,
    /// `uint8`.
    U8,
    /// `int16`.
    I16,
    /// `uint16`.
    U16,
    /// `int32`.
    I32,
    /// `uint32`.
    U32,
    /// `int64`.
    I64,
    /// `uint64`.
    U64,
}

impl TextKind {
    pub(crate) fn of(schema: &ArrowSchema) -> Result<Self, Error> {
        let Some(values) = schema.dictionary() else {
            return plain(schema).map(Self::Plain);
        };
        let format = schema.format();
        let indices = integer(format).filter(|kind| *kind != IntegerKind::Null);
        let indices = indices.ok_or_else(|| Error::NoTexts(format.to_owned()))?;
        if values.dictionary().is_some() {
            return Err(Error::NoTexts("a dictionary of dictionaries".to_owned()));
        }
        let values = plain(values)?;
        Ok(Self::Dictionary { indices, values })
    }
}

impl IntegerKind {
    pub(crate) fn of(schema: &ArrowSchema) -> Result<Self, Error> {
        let format = schema.format();
        integer(format)
            .filter(|_| schema.dictionary().is_none())
            .ok_or_else(|| Error::NoIntegers(format.to_owned()))
    }
}

fn plain(schema: &ArrowSchema) -> Result<PlainKind, Error> {
    match schema.format() {
        "n" => Ok(PlainKind::Null),
        "u" => Ok(PlainKind::Utf8),
        "U" => Ok(PlainKind::LargeUtf8),
        "vu" => Ok(PlainKind::StringView),
        format => Err(Error::NoTexts(format.to_owned())),
    }
}

fn integer(format: &str) -> Option<IntegerKind> {
    Some(match format {
        "n" => IntegerKind::Null,
        "c" => IntegerKind::I8,
        "C" => IntegerKind::U8,
        "s" => IntegerKind::I16,
        "S" => IntegerKind::U16,
        "i" => IntegerKind::I32,
        "I" => IntegerKind::U32,
        "l" => IntegerKind::I64,
        "L" => IntegerKind::U64,
        _ => return None,
    })
}
