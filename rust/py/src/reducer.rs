//! Reducers whose work is native, as objects with a kind.

use ethos_registry_core::text::Ascii;
use ethos_registry_reduce::{self as reduce, Kind, Level, Piece, Policy, Request};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::call;
use crate::source::PyText;
use crate::text::{is_ascii, joined, plain, slice};
use crate::utf8::encoded;

/// The arguments that name a range of lines, in every spelling that tools use.
const RANGE_ARGUMENTS: [&str; 8] = [
    "lineStart",
    "lineEnd",
    "line_start",
    "line_end",
    "start_line",
    "end_line",
    "offset",
    "limit",
];
/// A kind that only panics, so that a test can see what a panic does to a result.
const PANICS: &str = "_panic_for_tests";

/// A built-in reducer: `terminal`, `read_file`, `head_tail`, `generic` or `kanban_list`.
///
/// `finish` runs it in the same crossing as the trim. It never makes an input longer, never raises,
/// and gives the same text for the same text.
#[pyclass(frozen, eq, hash, module = "ethos_registry._core")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct NativeReducer(Behaviour);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Behaviour {
    Reduces(Kind),
    Panics,
}

/// The first characters of an input, and how many all of it has.
pub(crate) struct Beginning<'py> {
    pub(crate) text: Bound<'py, PyString>,
    pub(crate) total_chars: usize,
}

#[pymethods]
impl NativeReducer {
    /// The reducer of that kind; any other name raises `ValueError`.
    #[new]
    fn new(kind: &str) -> PyResult<Self> {
        if kind == PANICS {
            return Ok(Self(Behaviour::Panics));
        }
        let known = Kind::from_name(kind).map(|kind| Self(Behaviour::Reduces(kind)));
        known.ok_or_else(|| {
            let names = Kind::ALL
                .map(|kind| format!("`{}`", kind.name()))
                .join(", ");
            PyValueError::new_err(format!("unknown reducer kind: `{kind}`; known are {names}"))
        })
    }

    /// The name of the kind.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            Behaviour::Reduces(kind) => kind.name(),
            Behaviour::Panics => PANICS,
        }
    }

    /// Text of at most this many characters is not changed, whatever its content.
    #[getter]
    fn whole_chars(&self) -> usize {
        match self.0 {
            Behaviour::Reduces(kind) => kind.whole_chars(),
            Behaviour::Panics => 0,
        }
    }

    /// The reduced text; the same object when it stays as it is.
    ///
    /// `args` are the arguments of the call: of a dict, `command` and the names of line ranges are
    /// read, everything else is ignored. `ok` states whether the call succeeded; `exit_code` is that of
    /// the command, `None` when no one said: then nothing is reported as success. With a `level`
    /// (`lossless`, `facts`, `verdict`), what fits in `target_chars` stays whole; another raises
    /// `ValueError`.
    #[pyo3(signature = (text, args, ok, exit_code=None, *, target_chars=None, level=None))]
    fn reduce<'py>(
        &self,
        text: Bound<'py, PyString>,
        args: &Bound<'py, PyAny>,
        ok: bool,
        exit_code: Option<&Bound<'py, PyAny>>,
        target_chars: Option<usize>,
        level: Option<&str>,
    ) -> PyResult<Bound<'py, PyString>> {
        let call = Call {
            args: Some(args),
            ok,
            exit_code,
            policy: policy(target_chars, level)?,
        };
        let reduced = self.beginning(&text, call, usize::MAX, usize::MAX);
        Ok(reduced.map_or(text, |reduced| reduced.text))
    }

    fn __repr__(&self) -> String {
        format!("NativeReducer('{}')", self.kind())
    }
}

impl NativeReducer {
    /// The first `limit_chars` characters of the reduced text; `None` when the text stays as it is,
    /// which is also what every failure means. Of `budget_chars` characters the trim will keep all.
    pub(crate) fn beginning<'py>(
        &self,
        text: &Bound<'py, PyString>,
        call: Call<'_, 'py>,
        budget_chars: usize,
        limit_chars: usize,
    ) -> Option<Beginning<'py>> {
        call::attempted(|| {
            let kind = self.core_kind();
            if text.len()? <= kind.whole_chars() {
                return Ok(None);
            }
            let text = plain(text)?;
            let command = call.command();
            let request = Request {
                command: command.as_deref(),
                ranged: call.is_ranged(),
                ok: call.ok,
                exit_code: call.exit_code(),
                budget_chars,
                policy: call.policy,
            };
            if reduce::reads_all(kind) {
                return reduce_whole(kind, &request, &text);
            }
            let pieces = if is_ascii(&text)? {
                let backed = PyBackedStr::try_from(text.clone())?;
                let ascii = Ascii::known(&backed);
                let Ok(pieces) = call::released(text.py(), backed.len(), || {
                    reduce::pieces(kind, &request, &ascii)
                });
                pieces
            } else {
                reduce::pieces(kind, &request, &PyText::new(&text)?)?
            };
            pieces
                .map(|pieces| assemble(&text, &pieces, limit_chars))
                .transpose()
        })
    }

    #[expect(
        clippy::panic,
        reason = "a test needs a native panic, and nothing else panics"
    )]
    pub(crate) fn core_kind(&self) -> Kind {
        match self.0 {
            Behaviour::Reduces(kind) => kind,
            Behaviour::Panics => panic!("a test asked for this panic"),
        }
    }
}

/// What is known of the call that gave an input.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a, 'py> {
    /// Its arguments; only a dict is inspected.
    pub(crate) args: Option<&'a Bound<'py, PyAny>>,
    /// Whether it succeeded.
    pub(crate) ok: bool,
    /// What the tool states about the exit code; anything but an integer states nothing.
    pub(crate) exit_code: Option<&'a Bound<'py, PyAny>>,
    /// How much of it is kept.
    pub(crate) policy: Option<Policy>,
}

/// How much is kept at a level: everything that fits in the target; `None` without a level.
pub(crate) fn policy(target_chars: Option<usize>, level: Option<&str>) -> PyResult<Option<Policy>> {
    let Some(name) = level else {
        return Ok(None);
    };
    let Some(level) = Level::from_name(name) else {
        let names = Level::ALL.map(|level| format!("`{}`", level.name()));
        return Err(PyValueError::new_err(format!(
            "unknown level: `{name}`; known are {}",
            names.join(", ")
        )));
    };
    Ok(Some(Policy {
        target_chars: target_chars.unwrap_or(usize::MAX),
        level,
    }))
}

impl<'py> Call<'_, 'py> {
    fn argument(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        let args = self.args?.cast::<PyDict>().ok()?;
        args.get_item(name).ok()?.filter(|value| !value.is_none())
    }

    fn command(&self) -> Option<String> {
        let command = self.argument("command")?;
        encoded(&plain(command.cast::<PyString>().ok()?).ok()?).ok()
    }

    fn is_ranged(&self) -> bool {
        RANGE_ARGUMENTS
            .iter()
            .any(|name| self.argument(name).is_some())
    }

    fn exit_code(&self) -> Option<i64> {
        let exit_code = self
            .exit_code
            .filter(|code| !code.is_instance_of::<PyBool>())?;
        exit_code.extract().ok()
    }
}

/// The reduced text of a kind that reads all of it; what is not ASCII is encoded aside, so that no
/// encoded copy stays in the str.
fn reduce_whole<'py>(
    kind: Kind,
    request: &Request<'_>,
    text: &Bound<'py, PyString>,
) -> PyResult<Option<Beginning<'py>>> {
    let reduced = if is_ascii(text)? {
        let backed = PyBackedStr::try_from(text.clone())?;
        call::released(text.py(), backed.len(), || {
            reduce::reduce(kind, request, &backed)
        })
    } else {
        let utf8 = encoded(text)?;
        call::released(text.py(), utf8.len(), || {
            reduce::reduce(kind, request, &utf8)
        })
    };
    reduced
        .map(|reduced| {
            let text = PyString::new(text.py(), &reduced);
            Ok(Beginning {
                total_chars: text.len()?,
                text,
            })
        })
        .transpose()
}

/// The first `limit_chars` characters of the text that `pieces` of `text` make.
pub(crate) fn assemble<'py>(
    text: &Bound<'py, PyString>,
    pieces: &[Piece],
    limit_chars: usize,
) -> PyResult<Beginning<'py>> {
    let mut parts = Vec::new();
    let mut total_chars = 0_usize;
    for piece in pieces {
        let room = limit_chars.saturating_sub(total_chars);
        let part = match piece {
            Piece::Source { start, end } => {
                total_chars = total_chars.saturating_add(end.saturating_sub(*start));
                slice(text, *start, start.saturating_add(room).min(*end))?
            }
            Piece::Text(added) => {
                let cut = added
                    .char_indices()
                    .nth(room)
                    .map_or(added.len(), |(at, _)| at);
                total_chars = total_chars.saturating_add(added.chars().count());
                PyString::new(text.py(), added.get(..cut).unwrap_or_default())
            }
        };
        parts.push(part);
    }
    Ok(Beginning {
        text: joined(text.py(), parts)?,
        total_chars,
    })
}
