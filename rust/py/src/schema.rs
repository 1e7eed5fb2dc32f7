//! JSON Schema for Python values.

use ethos_registry_core::schema::{self, Problem, Step, Validator};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyTuple};

use crate::call::checked;
use crate::instance::{Instance, effort, plain};
use crate::json::json;

/// A JSON Schema, compiled once; thread-safe.
///
/// Draft 2020-12 unless `$schema` names another. Nothing is coerced (`"5"` and `true` are no
/// integers, `1.0` is one), `format` is not asserted, patterns run in linear time, and nothing is
/// fetched. `ValueError`, one line with the place, for a schema that is not one: also one that refers
/// out of itself, that is nested deeper than 128 levels, whose references lead to one place on more than
/// a million ways, or whose patterns need look-around or back references.
#[pyclass(frozen, module = "ethos_registry._core")]
pub(crate) struct SchemaValidator {
    compiled: Validator<Instance>,
    /// What its patterns can cost for each byte.
    weight: usize,
}

#[pymethods]
impl SchemaValidator {
    #[new]
    #[pyo3(signature = (schema: "Mapping[str, object]"))]
    fn new(schema: &Bound<'_, PyMapping>) -> PyResult<Self> {
        checked(|| {
            let schema = json(schema.as_any()).map_err(|fault| {
                let keyword = fault.fault.keyword();
                let pointer = pointer(&fault.into_path());
                PyValueError::new_err(format!(
                    "at `{pointer}`: it is not valid JSON (`{keyword}`)"
                ))
            })?;
            let weight = schema::heaviest_pattern(&schema);
            let compiled = Validator::compile(schema).map_err(|error| {
                PyValueError::new_err(format!("at `{}`: {}", error.pointer, error.message))
            })?;
            Ok(Self { compiled, weight })
        })
    }

    /// Whether `args` matches the schema; what is not JSON does not.
    fn is_valid(&self, args: &Bound<'_, PyAny>) -> PyResult<bool> {
        checked(|| {
            if let Some((place, depth, places)) = plain(args) {
                effort::allow(places, self.weight);
                if let Some(is_valid) = self.compiled.matches(&place, depth) {
                    return Ok(is_valid);
                }
            }
            let args = json(args);
            effort::allow(args.as_ref().map_or(0, effort::places), self.weight);
            Ok(args.is_ok_and(|args| self.compiled.is_valid(&args)))
        })
    }

    /// Why `args` does not match: at most 64 of `(path, keyword, expected, in_union)`; `None` when
    /// it does.
    ///
    /// `path` holds keys and indices and ends with the name where a field is missing or unknown.
    /// `keyword` is the schema's; `names` represents a wrong name, `schema` for too many reasons
    /// to look for, `effort` for arguments that take too long to check, and for what is not JSON at
    /// all: `json` (another kind of value), `key` (a key that is not a string), `finite`, `large`,
    /// `surrogate` (a lone one) and `depth`. `expected` is the keyword's value as JSON text;
    /// `in_union` states that one alternative of a union, not the whole, expected it.
    #[pyo3(signature = (args) -> "list[tuple[tuple[str | int, ...], str, str, bool]] | None")]
    fn validate<'py>(&self, args: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Reported<'py>>>> {
        let py = args.py();
        checked(|| {
            if let Some((place, depth, places)) = plain(args) {
                effort::allow(places, self.weight);
                if self.compiled.matches(&place, depth) == Some(true) {
                    return Ok(None);
                }
                if !effort::is_spent() {
                    effort::allow(places, self.weight);
                    let problem = self.compiled.only_problem(&place, depth);
                    if let Some(problem) = problem.filter(|_| !effort::is_spent()) {
                        return Ok(Some(vec![reported(py, problem)?]));
                    }
                }
                if effort::is_spent() {
                    return Ok(Some(vec![reported(py, Problem::of_whole("effort"))?]));
                }
            }
            let args = match json(args) {
                Ok(args) => args,
                Err(fault) => {
                    let keyword = fault.fault.keyword().to_owned();
                    let path = steps(py, fault.into_path())?;
                    return Ok(Some(vec![(path, keyword, "null".to_owned(), false)]));
                }
            };
            effort::allow(effort::places(&args), self.weight);
            let problems = self.compiled.problems(&args);
            if problems.is_empty() {
                return Ok(None);
            }
            let reported = problems.into_iter().map(|problem| reported(py, problem));
            reported.collect::<PyResult<Vec<_>>>().map(Some)
        })
    }
}

/// Whether `pattern` is a regular expression that JSON Schema knows (ECMA-262), look-around and back
/// references among them; whether it takes linear time is `SchemaValidator`'s affair.
#[pyfunction]
pub(crate) fn is_pattern(pattern: &str) -> PyResult<bool> {
    checked(|| Ok(schema::is_pattern(pattern)))
}

type Reported<'py> = (Bound<'py, PyTuple>, String, String, bool);

fn reported(py: Python<'_>, problem: Problem) -> PyResult<Reported<'_>> {
    Ok((
        steps(py, problem.path)?,
        problem.keyword,
        problem.expected.to_string(),
        problem.in_union,
    ))
}

fn steps(py: Python<'_>, path: Vec<Step>) -> PyResult<Bound<'_, PyTuple>> {
    let steps = path.into_iter().map(|step| match step {
        Step::Key(key) => key
            .into_pyobject(py)
            .map(Bound::into_any)
            .map_err(PyErr::from),
        Step::Index(index) => index
            .into_pyobject(py)
            .map(Bound::into_any)
            .map_err(PyErr::from),
    });
    PyTuple::new(py, steps.collect::<PyResult<Vec<_>>>()?)
}

fn pointer(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => format!("/{key}"),
        Step::Index(index) => format!("/{index}"),
    };
    path.iter().map(step).collect()
}
