//! The numbers of either kind of value.

use std::borrow::Cow;

use jsonschema::json::JsonNumber;
use serde_json::Number;

/// A number of either kind.
pub(crate) enum PlaceNumber<'a> {
    Integer(i64),
    Float(f64),
    Value(&'a Number),
}

impl JsonNumber for PlaceNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Integer(integer) => u64::try_from(*integer).ok(),
            Self::Float(_) => None,
            Self::Value(number) => number.as_u64(),
        }
    }

    fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Integer(integer) => Some(*integer),
            Self::Float(_) => None,
            Self::Value(number) => number.as_i64(),
        }
    }

    fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "asked for as a float")]
            Self::Integer(integer) => Some(*integer as f64),
            Self::Float(float) => Some(*float),
            Self::Value(number) => number.as_f64(),
        }
    }

    fn as_str(&self) -> Cow<'_, str> {
        match self {
            Self::Integer(integer) => Cow::Owned(integer.to_string()),
            Self::Float(_) => Cow::Owned(self.to_number().to_string()),
            Self::Value(number) => Cow::Borrowed(Number::as_str(number)),
        }
    }

    fn to_number(&self) -> Cow<'_, Number> {
        match self {
            Self::Integer(integer) => Cow::Owned(Number::from(*integer)),
            Self::Float(float) => {
                Cow::Owned(Number::from_f64(*float).unwrap_or_else(|| Number::from(0)))
            }
            Self::Value(number) => Cow::Borrowed(number),
        }
    }

    fn is_integer(&self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(float) => float.fract() == 0.0,
            Self::Value(number) => JsonNumber::is_integer(number),
        }
    }
}
