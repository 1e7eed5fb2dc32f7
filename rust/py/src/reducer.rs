//! Reducers whose work is native, as objects with a kind.

use ethos_registry_core::reduce::{self, Kind, Piece, Plan, Request};
use ethos_registry_core::text::Ascii;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyString};

use crate::call;
use crate::text::{PyText, encoded, is_ascii, joined, plain, slice};

/// The arguments that name a range of lines, in every spelling that tools use.
const RANGE_ARGUMENTS: [&str; 6] = [
    "lineStart",
    "lineEnd",
    "line_start",
    "line_end",
    "start_line",
    "end_line",
];
/// A kind that only panics, so that a test can see what a panic does to a result.
const PANICS: &str = "_panic_for_tests";

/// A built-in reducer: `terminal`, `read_file`, `head_tail` or `kanban_list`.
///
/// `finish` runs it in the same crossing as the trim. It never makes a text longer, never raises,
/// and gives the same text for the same text.
#[pyclass(frozen, eq, hash, module = "ethos_registry._core")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct NativeReducer(Behaviour);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Behaviour {
    Reduces(Kind),
    Panics,
}

/// The first characters of a text, and how many all of it has.
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

    /// The reduced text; the same object when it stays as it is.
    ///
    /// `args` are the arguments of the call: of a dict, `command` and the names of line ranges are
    /// read, everything else is ignored. `ok` says whether the call succeeded.
    fn reduce<'py>(
        &self,
        text: Bound<'py, PyString>,
        args: &Bound<'py, PyAny>,
        ok: bool,
    ) -> Bound<'py, PyString> {
        self.beginning(&text, Some(args), ok, usize::MAX)
            .map_or(text, |reduced| reduced.text)
    }

    fn __repr__(&self) -> String {
        format!("NativeReducer('{}')", self.kind())
    }
}

impl NativeReducer {
    /// The first `limit_chars` characters of the reduced text; `None` when the text stays as it is,
    /// which is also what every failure means.
    pub(crate) fn beginning<'py>(
        &self,
        text: &Bound<'py, PyString>,
        args: Option<&Bound<'py, PyAny>>,
        ok: bool,
        limit_chars: usize,
    ) -> Option<Beginning<'py>> {
        call::attempted(|| {
            let kind = self.core_kind();
            if text.len()? <= kind.whole_chars() {
                return Ok(None);
            }
            let text = plain(text)?;
            let plan = plan(kind, args, ok);
            if is_ascii(&text)? {
                return reduce_ascii(plan, &text, limit_chars);
            }
            if plan.reads_all() {
                return reduce_encoded(plan, &text);
            }
            let pieces = plan.reduce(&PyText::new(&text)?)?;
            pieces
                .map(|pieces| assemble(&text, &pieces, limit_chars))
                .transpose()
        })
    }

    #[expect(
        clippy::panic,
        reason = "a test needs a native panic, and nothing else panics"
    )]
    fn core_kind(&self) -> Kind {
        match self.0 {
            Behaviour::Reduces(kind) => kind,
            Behaviour::Panics => panic!("a test asked for this panic"),
        }
    }
}

/// What `kind` does to the text of a call with `args`, of which only a dict is looked into.
fn plan(kind: Kind, args: Option<&Bound<'_, PyAny>>, ok: bool) -> Plan {
    let args = args.and_then(|args| args.cast::<PyDict>().ok());
    let argument = |name: &str| {
        let value = args.and_then(|args| args.get_item(name).ok().flatten());
        value.filter(|value| !value.is_none())
    };
    let command = argument("command");
    let command = command
        .as_ref()
        .and_then(|command| command.cast::<PyString>().ok());
    let command = command.and_then(|command| encoded(&plain(command).ok()?).ok());
    let ranged = RANGE_ARGUMENTS.iter().any(|name| argument(name).is_some());
    Plan::new(
        kind,
        &Request {
            command: command.as_deref(),
            ranged,
            ok,
        },
    )
}

fn reduce_ascii<'py>(
    plan: Plan,
    text: &Bound<'py, PyString>,
    limit_chars: usize,
) -> PyResult<Option<Beginning<'py>>> {
    let backed = PyBackedStr::try_from(text.clone())?;
    let utf8: &str = &backed;
    let Ok(pieces) = call::released(text.py(), utf8.len(), || plan.reduce(&Ascii::known(utf8)));
    pieces
        .map(|pieces| assemble(text, &pieces, limit_chars))
        .transpose()
}

fn reduce_encoded<'py>(
    plan: Plan,
    text: &Bound<'py, PyString>,
) -> PyResult<Option<Beginning<'py>>> {
    let utf8 = encoded(text)?;
    let reduced = call::released(text.py(), utf8.len(), || reduce::reduce(plan, &utf8));
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
fn assemble<'py>(
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
