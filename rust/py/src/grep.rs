//! Lines that match a pattern, out of Python inputs and bytes.

use ethos_registry_core::grep::{self, Limits, Pattern};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::call::{checked, released};
use crate::text::{is_ascii, plain, slice};
use crate::utf8::encoded;

/// About how many characters of an input that is not ASCII are encoded at a time.
const PIECE_CHARS: usize = 4 << 20;

/// The lines that match a regular expression, or hold a plain text, out of an input given in pieces.
///
/// `text` reads `7:text` for a match in line 7, `6-text` for a neighbour, with `--` between groups
/// that do not touch. A line ends with `\n`; a `\r` before it does not belong to it. Patterns see
/// one line at a time and run in linear time, so there is no look-around and no back reference;
/// `^` and `$` stand at the ends of lines. Of the flags `imsu` only `i` (no case) makes a difference.
///
/// `max_matches` lines and `max_chars` characters are shown at most, all matches are counted. Of
/// a line of more than `max_line_bytes` the part around its match is shown, with a note on each side.
/// The first line has the number `first_number`.
/// `ValueError`, one line, for a pattern or a flag that is not one.
#[pyclass(module = "ethos_registry._core")]
pub(crate) struct Grep {
    grep: grep::Grep,
}

#[pymethods]
impl Grep {
    #[new]
    #[pyo3(signature = (
        pattern, flags="", *, literal=false, context_lines=0, max_matches=1000, max_chars=80_000,
        max_line_bytes=400, first_number=1
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        pattern: &Bound<'_, PyString>,
        flags: &str,
        literal: bool,
        context_lines: usize,
        max_matches: u64,
        max_chars: usize,
        max_line_bytes: usize,
        first_number: u32,
    ) -> PyResult<Self> {
        checked(|| {
            let limits = Limits {
                context_lines,
                max_matches,
                max_chars,
                max_line_bytes,
                first_number,
            };
            match Pattern::new(&encoded(pattern)?, flags, literal) {
                Ok(pattern) => Ok(Self {
                    grep: grep::Grep::new(pattern, limits),
                }),
                Err(error) => Err(PyValueError::new_err(error.to_string())),
            }
        })
    }

    /// A search for the same in another text; the pattern is not compiled again.
    fn again(&self) -> PyResult<Self> {
        checked(|| {
            Ok(Self {
                grep: self.grep.again(),
            })
        })
    }

    /// Searches the next piece, `str` or UTF-8 bytes: whole lines; only the last one may be
    /// open. The GIL is released for large ones.
    #[pyo3(signature = (lines: "str | bytes"))]
    fn feed(&mut self, py: Python<'_>, lines: &Bound<'_, PyAny>) -> PyResult<()> {
        let grep = &mut self.grep;
        checked(|| {
            if let Ok(bytes) = lines.cast::<PyBytes>() {
                let bytes = bytes.as_bytes();
                released(py, bytes.len(), || grep.feed(bytes));
                return Ok(());
            }
            let Ok(text) = lines.cast::<PyString>() else {
                return Err(PyTypeError::new_err("`lines` must be str or bytes"));
            };
            let text = plain(text)?;
            if is_ascii(&text)? {
                let lines = text.to_str()?;
                released(py, lines.len(), || grep.feed(lines.as_bytes()));
                return Ok(());
            }
            each_piece(&text, |lines| {
                released(py, lines.len(), || grep.feed(lines));
            })
        })
    }

    /// The lines that are shown, without a line feed at the end.
    #[getter]
    fn text(&self) -> &str {
        self.grep.text()
    }

    /// How many lines match, shown or not.
    #[getter]
    fn matches(&self) -> u64 {
        self.grep.matches()
    }

    /// How many of the matching lines are shown.
    #[getter]
    fn shown(&self) -> u64 {
        self.grep.shown()
    }
}

/// Hands over the UTF-8 of `text` in pieces of whole lines, each in memory of its own.
fn each_piece(text: &Bound<'_, PyString>, mut take: impl FnMut(&[u8])) -> PyResult<()> {
    let find = intern!(text.py(), "find");
    let chars = text.len()?;
    let mut start = 0;
    while start < chars {
        let near = start.saturating_add(PIECE_CHARS);
        let feed: isize = text.call_method1(find, ("\n", near))?.extract()?;
        let end = usize::try_from(feed).map_or(chars, |feed| feed + 1);
        take(encoded(&slice(text, start, end)?)?.as_bytes());
        start = end;
    }
    Ok(())
}
