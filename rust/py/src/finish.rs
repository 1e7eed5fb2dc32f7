//! What happens to the text of a result before it is sent, in one crossing.

use ethos_registry_core::text::{Ascii, Source};
use ethos_registry_core::trim::{self, MARKER_MAX_CHARS, Trim};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::call;
use crate::redact::{KnownSecrets, redacted};
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
///
/// `stated_chars` is the length that the marker states, if it is not that of `text`: `text` was
/// redacted. With `is_start`, `text` is only the start of an output of that length, of at least
/// `cap` characters. With `redacts`, credentials (`known` values among them) that only a
/// reducer makes visible are taken out of what it leaves.
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
#[pyfunction]
#[pyo3(signature = (text, cap, reducer=None, args=None, ok=true, *, exit_code=None, fence=None, target_chars=None, level=None, stated_chars=None, is_start=false, redacts=false, known=None))]
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
    stated_chars: Option<usize>,
    is_start: bool,
    redacts: bool,
    known: Option<&Bound<'py, KnownSecrets>>,
) -> PyResult<Finished<'py>> {
    let cap_chars = characters(cap)?;
    let steps = Steps {
        reducer,
        cap_chars,
        stated_chars,
        is_start,
        redacts,
        known,
    };
    let call = Call {
        args,
        ok,
        exit_code,
        policy: policy(target_chars, level)?,
    };
    if let Some((tool, source)) = fence {
        let fence = Fence::new(&tool, &source)?;
        let finished = call::attempted(|| fenced(&text, &steps, call, &fence).map(Some));
        return finished.map_or_else(|| Ok((fence.around_notice()?, text.len()?, None)), Ok);
    }
    let limit_chars = cap_chars.saturating_add(MARKER_MAX_CHARS);
    let finished = call::caught(|| {
        let entering = reduced(&text, &steps, call, limit_chars)?;
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
            Entering {
                total_chars: text.len()?,
                is_start: false,
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

/// What a call of [`finish`] asks for.
struct Steps<'a, 'py> {
    reducer: Option<&'a Bound<'py, NativeReducer>>,
    cap_chars: usize,
    stated_chars: Option<usize>,
    is_start: bool,
    redacts: bool,
    known: Option<&'a Bound<'py, KnownSecrets>>,
}

/// The text that enters the trim.
struct Entering<'py> {
    text: Bound<'py, PyString>,
    /// The length that is stated if the trim cuts it.
    total_chars: usize,
    /// Whether more of it follows.
    is_start: bool,
}

/// All steps for untrusted output: it is sanitised before the trim and fenced after it.
fn fenced<'py>(
    text: &Bound<'py, PyString>,
    steps: &Steps<'_, 'py>,
    call: Call<'_, 'py>,
    fence: &Fence<'py>,
) -> PyResult<Finished<'py>> {
    let mut entering = reduced(text, steps, call, usize::MAX)?;
    let before = entering.text.len()?;
    entering.text = without_forgeries(entering.text)?;
    let after = entering.text.len()?;
    // The stated length counts what was redacted, not what was made safe.
    entering.total_chars = (entering.total_chars + after).saturating_sub(before);
    let reduced_chars = entering.total_chars;
    let (body, truncated_from) = trimmed(entering, steps.cap_chars)?;
    Ok((fence.around(body)?, reduced_chars, truncated_from))
}

/// Step 1: what the reducer leaves of `text`, as much of it as the trim will look at.
fn reduced<'py>(
    text: &Bound<'py, PyString>,
    steps: &Steps<'_, 'py>,
    call: Call<'_, 'py>,
    limit_chars: usize,
) -> PyResult<Entering<'py>> {
    let beginning = |reducer: &Bound<'py, NativeReducer>| {
        reducer
            .get()
            .beginning(text, call, steps.cap_chars, limit_chars)
    };
    let Some(beginning) = steps.reducer.and_then(beginning) else {
        return Ok(Entering {
            total_chars: steps.stated_chars.map_or_else(|| text.len(), Ok)?,
            text: text.clone(),
            is_start: steps.is_start,
        });
    };
    let Beginning { text, total_chars } = beginning;
    let is_start = text.len()? < total_chars;
    Ok(Entering {
        text: if steps.redacts {
            redacted(text, steps.known)?
        } else {
            text
        },
        total_chars,
        is_start,
    })
}

/// Steps 2 and 3: `entering` without surrogates, down to `cap_chars` characters and a marker.
///
/// A surrogate and U+FFFD are one character each, so only what is kept has to be repaired.
fn trimmed(
    entering: Entering<'_>,
    cap_chars: usize,
) -> PyResult<(Bound<'_, PyString>, Option<u64>)> {
    let Entering {
        text,
        total_chars,
        is_start,
    } = entering;
    let source = plain(&text)?;
    let verdict = if is_ascii(&source)? {
        let Ok(verdict) = decide_trim(&Ascii::known(source.to_str()?), is_start, cap_chars);
        verdict
    } else {
        decide_trim(&PyText::new(&source)?, is_start, cap_chars)?
    };
    match verdict {
        Trim::Passes(truncated_from) => {
            let sent = same_unless_changed(text, |plain| without_surrogates(plain))?;
            Ok((sent, truncated_from))
        }
        Trim::CutAt(end) => {
            let start = without_surrogates(&slice(&source, 0, end)?)?;
            let sent = start
                .add(trim::marker(total_chars))?
                .cast_into::<PyString>()?;
            Ok((sent, Some(total_chars as u64)))
        }
    }
}

/// What the trim does to an input that is `source`, or starts with it.
fn decide_trim<S: Source>(source: &S, is_start: bool, cap_chars: usize) -> Result<Trim, S::Error> {
    if !is_start {
        return trim::trim(source, cap_chars);
    }
    let position = source.position(cap_chars)?.unwrap_or(source.end());
    Ok(Trim::CutAt(trim::keep(source, position)?))
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
