//! A column of inputs reduced in one crossing, without the GIL and without Python strings.

use std::sync::Arc;

use ethos_registry_arrow::python::{array_capsules, chunks, is_column, raised, stream_capsule};
use ethos_registry_arrow::{Column, Error, Integers, LargeTexts, LargeTextsBuilder, Rows, Texts};
use ethos_registry_reduce::Kind;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::call;
use crate::reduce_many::{Length, reduced};
use crate::reducer::{NativeReducer, policy};

/// After this much text signals are looked for, so that Ctrl-C ends a long run.
const STEP_BYTES: usize = 16 * 1024 * 1024;

/// A column of inputs in memory, of the Arrow type `large_utf8`.
///
/// Any library that reads the Arrow `PyCapsule` interface takes it without a copy, as often as it
/// is asked for: `pyarrow.array(texts)`, `polars.Series(texts)`.
#[pyclass(frozen, module = "ethos_registry._core")]
pub(crate) struct ArrowTexts(Arc<LargeTexts>);

#[pymethods]
impl ArrowTexts {
    /// How many rows there are.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("ArrowTexts(<{} rows>)", self.0.len())
    }

    /// The capsules of the schema and of one array; another type than `large_utf8` is not offered.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let _ = requested_schema;
        let (schema, array) = array_capsules(py, &self.0)?;
        Ok((schema.into_any(), array.into_any()))
    }

    /// The capsule of a stream of one chunk; another type than `large_utf8` is not offered.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = requested_schema;
        Ok(stream_capsule(py, &self.0)?.into_any())
    }
}

/// Each input of the column `outputs` reduced by `reducer`; nulls stay null.
///
/// `outputs` and `commands` offer `__arrow_c_stream__` or `__arrow_c_array__` and hold inputs
/// (`utf8`, `large_utf8`, `string_view`, a dictionary of these, `null`); `exit_codes` offers one of
/// them and holds integers, or is a list. Both have one row for each output, null where it is not
/// known. Chunks are read one after the other and given back when they are reduced. A column of
/// another type raises `TypeError`; one of another length, consumed or malformed, `ValueError`.
/// With a `level`, what fits in `target_chars` stays whole.
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
#[pyfunction]
#[pyo3(signature = (reducer, outputs, commands=None, exit_codes=None, budget_chars=None, target_chars=None, level=None))]
pub(crate) fn reduce_arrow(
    py: Python<'_>,
    reducer: &Bound<'_, NativeReducer>,
    outputs: &Bound<'_, PyAny>,
    commands: Option<&Bound<'_, PyAny>>,
    exit_codes: Option<&Bound<'_, PyAny>>,
    budget_chars: Option<usize>,
    target_chars: Option<usize>,
    level: Option<&str>,
) -> PyResult<ArrowTexts> {
    let mut work = Work {
        kind: call::checked(|| Ok(reducer.get().core_kind()))?,
        length: Length {
            budget_chars: budget_chars.unwrap_or(usize::MAX),
            policy: policy(target_chars, level)?,
        },
        outputs: Rows::new(chunks(outputs, "outputs")?),
        commands: commands
            .map(|commands| chunks(commands, "commands").map(Rows::new))
            .transpose()?,
        exit_codes: exit_codes.map(ExitCodes::of).transpose()?,
        rows: 0,
        reduced: LargeTextsBuilder::default(),
    };
    while py.detach(|| work.step())? {
        py.check_signals()?;
    }
    Ok(ArrowTexts(work.reduced.finish()))
}

/// Where the exit codes come from.
enum ExitCodes {
    Column(Rows<Integers>),
    List(std::vec::IntoIter<ExitCode>),
}

/// What a row states; nothing when it is null.
type ExitCode = Option<i64>;

impl ExitCodes {
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if is_column(given)? {
            return Ok(Self::Column(Rows::new(chunks(given, "exit_codes")?)));
        }
        let list: Vec<ExitCode> = given.extract().map_err(|error| {
            PyTypeError::new_err(format!(
                "`exit_codes` must be a column of integers or a list of integers and None: {error}"
            ))
        })?;
        Ok(Self::List(list.into_iter()))
    }

    fn next(&mut self) -> Result<Option<ExitCode>, Error> {
        match self {
            Self::List(list) => Ok(list.next()),
            Self::Column(rows) => {
                let row = rows.next_row()?;
                row.map(|(chunk, row)| chunk.get(row)).transpose()
            }
        }
    }
}

/// Columns side by side, and what has become of their rows so far.
struct Work {
    kind: Kind,
    length: Length,
    outputs: Rows<Texts>,
    commands: Option<Rows<Texts>>,
    exit_codes: Option<ExitCodes>,
    rows: usize,
    reduced: LargeTextsBuilder,
}

/// Why the work cannot go on; an exception as soon as there is an interpreter.
enum Failure {
    Column(&'static str, Error),
    Shorter(&'static str, usize),
    Longer(&'static str, usize),
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let message = match failure {
            Failure::Column(name, error) => return raised(name, &error),
            Failure::Shorter(name, rows) => {
                format!("`{name}` has {rows} rows and `outputs` has more")
            }
            Failure::Longer(name, rows) => {
                format!("`{name}` has more than the {rows} rows of `outputs`")
            }
        };
        PyValueError::new_err(format!(
            "{message}: give one for each, null where it is not known"
        ))
    }
}

impl Work {
    /// Reduces the next rows; whether there may be more.
    fn step(&mut self) -> Result<bool, Failure> {
        let mut bytes = 0;
        while bytes < STEP_BYTES {
            let row = self.outputs.next_row();
            let Some((chunk, row)) = row.map_err(|error| Failure::Column("outputs", error))? else {
                return self.end();
            };
            let output = chunk.get(row);
            let output = output.map_err(|error| Failure::Column("outputs", error))?;
            let command = match &mut self.commands {
                Some(commands) => {
                    let row = next(commands, "commands", self.rows)?;
                    let command = row.0.get(row.1);
                    command.map_err(|error| Failure::Column("commands", error))?
                }
                None => None,
            };
            let exit_code = match &mut self.exit_codes {
                Some(exit_codes) => exit_codes
                    .next()
                    .map_err(|error| Failure::Column("exit_codes", error))?
                    .ok_or(Failure::Shorter("exit_codes", self.rows))?,
                None => None,
            };
            let shorter =
                output.and_then(|text| reduced(self.kind, text, command, exit_code, self.length));
            let added = self.reduced.push(shorter.as_deref().or(output));
            added.map_err(|error| Failure::Column("outputs", error))?;
            bytes += output.map_or(1, |text| text.len().max(1));
            self.rows += 1;
        }
        Ok(true)
    }

    /// Sees that the other columns end with the outputs.
    fn end(&mut self) -> Result<bool, Failure> {
        if let Some(commands) = &mut self.commands {
            match commands.next_row() {
                Ok(None) => {}
                Ok(Some(_)) => return Err(Failure::Longer("commands", self.rows)),
                Err(error) => return Err(Failure::Column("commands", error)),
            }
        }
        if let Some(exit_codes) = &mut self.exit_codes {
            match exit_codes.next() {
                Ok(None) => {}
                Ok(Some(_)) => return Err(Failure::Longer("exit_codes", self.rows)),
                Err(error) => return Err(Failure::Column("exit_codes", error)),
            }
        }
        Ok(false)
    }
}

fn next<'a, C: Column>(
    rows: &'a mut Rows<C>,
    name: &'static str,
    row: usize,
) -> Result<(&'a C, usize), Failure> {
    rows.next_row()
        .map_err(|error| Failure::Column(name, error))?
        .ok_or(Failure::Shorter(name, row))
}
