//! How large a Python value is as JSON, without writing it.

use ethos_registry_core::schema::MAX_DEPTH;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::call;
use crate::text::is_ascii;

/// Longer integers are not written: Python refuses more than 4,300 digits.
const MAX_INTEGER_BITS: usize = 14_000;
/// Counted for a value that has to be converted first.
const FOREIGN_BYTES: usize = 16;

/// The size of `value` as compact JSON in UTF-8, and whether it is plain JSON: `(bytes, is_plain)`.
///
/// Plain are `None`, booleans, finite floats, integers of up to about 4,200 digits, strings without
/// lone surrogates, and dicts with string keys, lists and tuples of these, none of them of a subclass
/// and nested at most 128 levels deep. A value that occurs several times counts each time. Counting
/// stops once the size exceeds `limit`, so the time is bounded whatever the value holds.
#[pyfunction]
pub(crate) fn json_size(value: &Bound<'_, PyAny>, limit: usize) -> PyResult<(usize, bool)> {
    call::checked(|| {
        let mut count = Count {
            bytes: 0,
            limit,
            is_plain: true,
        };
        count.add(value, MAX_DEPTH)?;
        Ok((count.bytes, count.is_plain))
    })
}

struct Count {
    bytes: usize,
    limit: usize,
    is_plain: bool,
}

impl Count {
    fn is_over(&self) -> bool {
        self.bytes > self.limit
    }

    fn foreign(&mut self) {
        self.is_plain = false;
        self.bytes += FOREIGN_BYTES;
    }

    fn add(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(text) = value.cast_exact::<PyString>() {
            return self.add_text(text);
        }
        if value.is_none() {
            self.bytes += 4;
        } else if let Ok(boolean) = value.cast_exact::<PyBool>() {
            self.bytes += if boolean.is_true() { 4 } else { 5 };
        } else if let Ok(integer) = value.cast_exact::<PyInt>() {
            self.add_integer(integer)?;
        } else if let Ok(float) = value.cast_exact::<PyFloat>() {
            self.add_float(float.value());
        } else if depth == 0 {
            self.foreign();
        } else if let Ok(fields) = value.cast_exact::<PyDict>() {
            self.bytes += 1 + usize::from(fields.is_empty());
            for (key, item) in fields.iter() {
                match key.cast_exact::<PyString>() {
                    Ok(key) => self.add_text(key)?,
                    Err(_) => self.foreign(),
                }
                self.bytes += 2; // the colon, and a comma or the closing brace
                self.add(&item, depth - 1)?;
                if self.is_over() {
                    break;
                }
            }
        } else if let Ok(items) = value.cast_exact::<PyList>() {
            self.add_items(items.iter(), depth)?;
        } else if let Ok(items) = value.cast_exact::<PyTuple>() {
            self.add_items(items.iter(), depth)?;
        } else {
            self.foreign();
            // At least a character and a comma for each item of a set, a deque, a range.
            self.bytes = self
                .bytes
                .saturating_add(value.len().unwrap_or(0).saturating_mul(2));
        }
        Ok(())
    }

    fn add_items<'py>(
        &mut self,
        items: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
        depth: usize,
    ) -> PyResult<()> {
        self.bytes += 1 + usize::from(items.len() == 0);
        for item in items {
            self.bytes += 1;
            self.add(&item, depth - 1)?;
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }

    fn add_text(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        self.bytes += 2;
        if is_ascii(text)? {
            self.bytes += written_bytes(text.to_str()?.as_bytes());
            return Ok(());
        }
        // Not `to_str`: it would leave a second copy of the text in the object.
        let encoded = text.call_method0(intern!(text.py(), "encode"));
        if let Ok(bytes) = encoded.and_then(|bytes| Ok(bytes.cast_into::<PyBytes>()?)) {
            self.bytes += written_bytes(bytes.as_bytes());
        } else {
            self.is_plain = false;
            self.bytes += 3 * text.len()?;
        }
        Ok(())
    }

    fn add_integer(&mut self, integer: &Bound<'_, PyInt>) -> PyResult<()> {
        if let Ok(small) = integer.extract::<i64>() {
            let digits = small.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
            self.bytes += digits as usize + usize::from(small < 0);
            return Ok(());
        }
        let bits = integer.call_method0(intern!(integer.py(), "bit_length"))?;
        let bits = bits.extract::<usize>()?;
        if bits > MAX_INTEGER_BITS {
            self.foreign();
        } else {
            self.bytes += bits * 30_103 / 100_000 + 2;
        }
        Ok(())
    }

    fn add_float(&mut self, float: f64) {
        if !float.is_finite() {
            self.foreign();
            return;
        }
        let written = format!("{float:?}");
        // Python writes the sign of an exponent, and two digits of it.
        self.bytes += written.len() + 2 * usize::from(written.contains('e'));
    }
}

/// How long `text` is between the quotes of JSON.
fn written_bytes(text: &[u8]) -> usize {
    let escaped: usize = text
        .iter()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
            0x00..=0x1f => 5,
            _ => 0,
        })
        .sum();
    text.len() + escaped
}
