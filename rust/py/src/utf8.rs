//! The UTF-8 of a `str` in memory of its own.
//!
//! `PyString::to_str` would leave a second copy of the text in the object for as long as it lives.

use encoding_rs::mem::convert_utf16_to_str;
use ethos_registry_core::text::replace_surrogates;
use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::text::{is_ascii, slice};

/// This many characters of a long text are encoded at a time: they stay in the cache, and most pieces of an input
/// with a few odd signs hold none of them.
const PIECE_CHARS: usize = 1 << 12;
/// How many bytes a character takes at most for each of its UTF-16 units.
const UNIT_BYTES: usize = 3;

/// The UTF-8 of `text`, each lone surrogate replaced by one U+FFFD.
pub(crate) fn encoded(text: &Bound<'_, PyString>) -> PyResult<String> {
    let chars = text.len()?;
    if chars > PIECE_CHARS
        && let Some(utf8) = in_pieces(text, chars)?
    {
        return Ok(utf8);
    }
    let bytes = text
        .call_method1(
            intern!(text.py(), "encode"),
            (
                intern!(text.py(), "utf-8"),
                intern!(text.py(), "surrogatepass"),
            ),
        )?
        .cast_into::<PyBytes>()?;
    replace_surrogates(bytes.as_bytes().to_vec())
        .ok_or_else(|| PyUnicodeDecodeError::new_err("`str.encode` did not give UTF-8"))
}

/// The UTF-8 of an input without surrogates; none when it has one.
///
/// Python writes UTF-16 several times faster than UTF-8.
fn in_pieces(text: &Bound<'_, PyString>, chars: usize) -> PyResult<Option<String>> {
    let mut utf8 = String::with_capacity(chars);
    let mut units = Vec::with_capacity(PIECE_CHARS);
    let mut piece = "\0".repeat(2 * PIECE_CHARS * UNIT_BYTES);
    for start in (0..chars).step_by(PIECE_CHARS) {
        let here = slice(text, start, start + PIECE_CHARS)?;
        if is_ascii(&here)? {
            utf8.push_str(here.to_str()?);
            continue;
        }
        let Ok(bytes) = here.call_method1(
            intern!(text.py(), "encode"),
            (intern!(text.py(), "utf-16"),),
        ) else {
            return Ok(None);
        };
        let bytes = bytes.cast_into::<PyBytes>()?;
        let (pairs, _) = bytes.as_bytes().as_chunks();
        units.clear();
        // The first one is the mark of the order of the bytes, which is that of this machine.
        units.extend(pairs.iter().skip(1).map(|pair| u16::from_ne_bytes(*pair)));
        let written = convert_utf16_to_str(&units, &mut piece);
        utf8.push_str(piece.get(..written).unwrap_or_default());
    }
    Ok(Some(utf8))
}
