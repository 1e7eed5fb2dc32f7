//! What happens to the text of a result before it is sent, in one crossing.

use ethos_registry_core::text::{Ascii, Source};
use ethos_registry_core::trim::{self, MARKER_MAX_CHARS, Trim};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::call;
use crate::reducer::{Beginning, Call, NativeReducer, policy};
use crate::sanitize::{Fence, without_forgeries};
use crate::source::PyText;
use crate::surrogates::without_surrogates;
use crate::text::{is_ascii, plain, slice};

/// The sent text, how many characters entered the trim, and of how many it was cut.
type Finished<'py> = (Bound<'py, PyString>, usize, Option<u64>);

/// `text` reduced, freed of surrogates and trimmed: `(sent text, reduced chars, truncated from)`.
///
/// The sent text is at most `cap` characters and, when it was cut, the marker
/// `\n[truncated — N chars total]`; N is the third value, `None` when nothing was cut. The second
/// value is the length of the text that entered the trim. `reducer` is run with `args`, the
/// arguments of the call, with `ok`, whether it succeeded, and with the `exit_code` of its command,
/// `None` if it is unknown. When nothing changes, the same
/// object comes back; so it does when native code fails. A negative `cap` raises `ValueError`.
/// With a `level`, the reducer leaves what fits in `target_chars` whole.
///
/// With `fence`, the name of the tool and where its output came from, template tokens and forged
/// fences are removed before the trim, and the sent text is the trimmed one in a fence of at most
/// 363 characters, as `wrap` makes it. When that fails, a fence around a notice is sent instead.
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
#[pyfunction]
#[pyo3(signature = (text, cap, reducer=None, args=None, ok=true, *, exit_code=None, fence=None, target_chars=None, level=None))]
pub(crate) fn finish<'py>(
    text: Bound<'py, PyString>,
    cap: &Bound<'py, PyInt>,
    reducer: Option<&Bound<'py, NativeReducer>>,
    args: Option<&Bound<'py, PyAny>>,
    ok: bool,
    exit_code: Option<&Bound<'py, PyAny>>,
    fence: Option<(Bound<'py, PyString>, Bound<'py, PyString>)>,
    target_chars: Option<usize>,
    level: Option<&str>,
) -> PyResult<Finished<'py>> {
    let cap_chars = characters(cap)?;
    let call = Call {
        args,
        ok,
        exit_code,
        policy: policy(target_chars, level)?,
    };
    if let Some((tool, source)) = fence {
        let fence = Fence::new(&tool, &source)?;
        let finished =
            call::attempted(|| fenced(&text, reducer, call, cap_chars, &fence).map(Some));
        return finished.map_or_else(|| Ok((fence.around_notice()?, text.len()?, None)), Ok);
    }
    let limit_chars = cap_chars.saturating_add(MARKER_MAX_CHARS);
    let finished = call::caught(|| {
        let entering = reduced(&text, reducer, call, cap_chars, limit_chars)?;
        let reduced_chars = entering.total_chars;
        let (sent, truncated_from) = trimmed(entering, cap_chars)?;
        Ok((sent, reduced_chars, truncated_from))
    });
    finished.unwrap_or_else(|call::Panicked| {
        let chars = text.len()?;
        Ok((text, chars, None))
    })
}

/// The first `cap` characters of `text`, and how many it had if it was cut.
///
/// Characters are counted as Python counts them. An extended grapheme cluster (UAX #29) is never
/// split, unless it starts the text. An input of at most `cap` characters followed by one marker
/// passes unchanged and gives the number in the marker. Each lone surrogate becomes one U+FFFD. The
/// same object comes back when nothing changes. A negative `cap` raises `ValueError`.
#[pyfunction]
#[pyo3(name = "trim")]
pub(crate) fn trim_text<'py>(
    text: Bound<'py, PyString>,
    cap: &Bound<'py, PyInt>,
) -> PyResult<(Bound<'py, PyString>, Option<u64>)> {
    let cap_chars = characters(cap)?;
    call::checked(|| {
        trimmed(
            Beginning {
                total_chars: text.len()?,
                text,
            },
            cap_chars,
        )
    })
}

/// `text` with each lone surrogate replaced by one U+FFFD, never two joined; the same object when
/// there is none.
#[pyfunction]
pub(crate) fn replace_surrogates(text: Bound<'_, PyString>) -> PyResult<Bound<'_, PyString>> {
    call::checked(|| same_unless_changed(text, |plain| without_surrogates(plain)))
}

/// All steps for untrusted output: it is sanitised before the trim and fenced after it.
fn fenced<'py>(
    text: &Bound<'py, PyString>,
    reducer: Option<&Bound<'py, NativeReducer>>,
    call: Call<'_, 'py>,
    cap_chars: usize,
    fence: &Fence<'py>,
) -> PyResult<Finished<'py>> {
    let safe = without_forgeries(reduced(text, reducer, call, cap_chars, usize::MAX)?.text)?;
    let entering = Beginning {
        total_chars: safe.len()?,
        text: safe,
    };
    let reduced_chars = entering.total_chars;
    let (body, truncated_from) = trimmed(entering, cap_chars)?;
    Ok((fence.around(body)?, reduced_chars, truncated_from))
}

/// Step 1: what the reducer leaves of `text`, as much of it as the trim will look at.
fn reduced<'py>(
    text: &Bound<'py, PyString>,
    reducer: Option<&Bound<'py, NativeReducer>>,
    call: Call<'_, 'py>,
    cap_chars: usize,
    limit_chars: usize,
) -> PyResult<Beginning<'py>> {
    let beginning = |reducer: &Bound<'py, NativeReducer>| {
        reducer.get().beginning(text, call, cap_chars, limit_chars)
    };
    match reducer.and_then(beginning) {
        Some(beginning) => Ok(beginning),
        None => Ok(Beginning {
            total_chars: text.len()?,
            text: text.clone(),
        }),
    }
}

/// Steps 2 and 3: `entering` without surrogates, down to `cap_chars` characters and a marker.
///
/// A surrogate and U+FFFD are one character each, so only what is kept has to be repaired.
fn trimmed(
    entering: Beginning<'_>,
    cap_chars: usize,
) -> PyResult<(Bound<'_, PyString>, Option<u64>)> {
    let Beginning { text, total_chars } = entering;
    let source = plain(&text)?;
    let verdict = if is_ascii(&source)? {
        let Ok(verdict) = judge(&Ascii::known(source.to_str()?), total_chars, cap_chars);
        verdict
    } else {
        judge(&PyText::new(&source)?, total_chars, cap_chars)?
    };
    match verdict {
        Trim::Passes(truncated_from) => {
            let sent = same_unless_changed(text, |plain| without_surrogates(plain))?;
            Ok((sent, truncated_from))
        }
        Trim::CutAt(end) => {
            let kept = without_surrogates(&slice(&source, 0, end)?)?;
            let sent = kept
                .add(trim::marker(total_chars))?
                .cast_into::<PyString>()?;
            Ok((sent, Some(total_chars as u64)))
        }
    }
}

/// What the trim does to an input of `total_chars` characters that begins with `source`.
fn judge<S: Source>(source: &S, total_chars: usize, cap_chars: usize) -> Result<Trim, S::Error> {
    if source.characters(0, source.end())? == total_chars {
        return trim::trim(source, cap_chars);
    }
    match source.position(cap_chars)? {
        Some(position) => Ok(Trim::CutAt(trim::keep(source, position)?)),
        None => Ok(Trim::Passes(None)),
    }
}

/// What `change` makes of the plain text, or `text` itself, subclass and all, when that is equal.
fn same_unless_changed<'py>(
    text: Bound<'py, PyString>,
    change: impl FnOnce(&Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>>,
) -> PyResult<Bound<'py, PyString>> {
    let plain = plain(&text)?;
    let changed = change(&plain)?;
    Ok(if changed.is(&plain) { text } else { changed })
}

/// `cap` as a number of characters; more than any text has is the same as all of it.
fn characters(cap: &Bound<'_, PyInt>) -> PyResult<usize> {
    match cap.extract::<usize>() {
        Ok(cap) => Ok(cap),
        Err(_) if cap.lt(0)? => Err(PyValueError::new_err(format!(
            "`cap` must be at least 0: {cap}"
        ))),
        Err(_) => Ok(usize::MAX),
    }
}
