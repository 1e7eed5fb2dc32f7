//! Counting the calls of a batch in one crossing.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ethos_registry_core::usage::{self, Call, Cell, NameId, Sums};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::surrogates::without_surrogates;

/// The bucket of a duration in seconds: each is 12 % wider than the one before, the first, 0, ends
/// at one microsecond, the last, 255, holds everything above 35 days.
#[pyfunction]
pub(crate) fn usage_bucket(seconds: f64) -> i16 {
    usage::bucket_of(seconds)
}

type Row = (i32, String, String, String, String, i16, Sums);

/// Sums of calls by day, caller, owner, tool, outcome and duration, in bounded memory.
///
/// Safe from threads. `max_cells` distinct combinations are held, and calls that find no room are
/// counted in `lost_calls`. After `max_unknown_names` names that no tool has, the others are counted
/// together as `(other unknown names)`.
#[pyclass(frozen, module = "ethos_registry._core")]
pub(crate) struct UsageCounts {
    counts: Mutex<usage::UsageCounts>,
}

#[pymethods]
impl UsageCounts {
    #[new]
    #[pyo3(signature = (*, max_cells = 100_000, max_unknown_names = 1_000))]
    fn new(max_cells: usize, max_unknown_names: usize) -> Self {
        Self {
            counts: Mutex::new(usage::UsageCounts::new(max_cells, max_unknown_names)),
        }
    }

    /// Counts one call; without `duration_seconds` it never reached the implementation.
    #[pyo3(signature = (agent, owner, tool, outcome, started_at_seconds, duration_seconds = None, chars = (0, 0, 0), cost_usd = 0.0, is_repaired = false))]
    #[expect(clippy::too_many_arguments, reason = "the columns of a call")]
    fn add(
        &self,
        agent: &Bound<'_, PyString>,
        owner: &Bound<'_, PyString>,
        tool: &Bound<'_, PyString>,
        outcome: &str,
        started_at_seconds: f64,
        duration_seconds: Option<f64>,
        chars: (i64, i64, i64),
        cost_usd: f64,
        is_repaired: bool,
    ) -> PyResult<()> {
        let names = [text(agent)?, text(owner)?, text(tool)?];
        let [agent, owner, tool] = &names;
        let mut counts = self.locked();
        let call = Call {
            agent: counts.id(agent),
            owner: counts.id(owner),
            tool: tool_id(&mut counts, tool, outcome),
            outcome: counts.id(outcome),
            started_at_seconds,
            duration_seconds,
            chars: chars.into(),
            cost_usd,
            is_repaired,
        };
        counts.add(&call);
        Ok(())
    }

    /// Counts the calls of a batch of `agent`.
    ///
    /// `rows` are tuples that end in the `CallResult`, the registry's entry (or `None` for a name
    /// that no tool has) and the start in seconds of the monotonic clock (`None` for a call whose
    /// tool was not started), which plus `clock_offset_seconds` is Unix time. `now` is the Unix time
    /// of calls that were not started, `answered` the outcome of those among them that are a success.
    #[pyo3(signature = (agent, rows: "list[Any]", clock_offset_seconds, now, answered))]
    fn add_batch(
        &self,
        agent: &Bound<'_, PyString>,
        rows: &Bound<'_, PyList>,
        clock_offset_seconds: f64,
        now: f64,
        answered: &str,
    ) -> PyResult<()> {
        // Reading objects may run Python code, which may wait for others: no lock is held then.
        let mut read = Vec::with_capacity(rows.len());
        let mut entries = Entries::default();
        for row in rows.iter() {
            read.push(ReadCall::of(
                row.cast::<PyTuple>()?,
                &mut entries,
                answered,
            )?);
        }
        let agent = text(agent)?;
        let mut counts = self.locked();
        let agent = counts.id(&agent);
        let tools: Vec<(NameId, NameId)> = entries
            .names
            .iter()
            .map(|(tool, owner)| (counts.id(tool), counts.id(owner)))
            .collect();
        let ok = counts.id("ok");
        let nobody = counts.id("");
        for call in read {
            let outcome = match &call.outcome {
                Outcome::Ok => ok,
                Outcome::Other(name) => counts.id(name),
            };
            let (tool, owner) = match call.tool {
                Tool::Known(index) => tools.get(index).copied().unwrap_or((nobody, nobody)),
                Tool::Named(name) if call.outcome.is_unknown() => {
                    (counts.unknown_id(&name), nobody)
                }
                Tool::Named(name) => (counts.id(&name), nobody),
            };
            let is_started = call.started.is_some() && !call.outcome.is_refusal();
            counts.add(&Call {
                agent,
                owner,
                tool,
                outcome,
                started_at_seconds: call.started.map_or(now, |at| at + clock_offset_seconds),
                duration_seconds: is_started.then_some(call.duration_seconds),
                chars: call.chars,
                cost_usd: call.cost_usd,
                is_repaired: call.is_repaired,
            });
        }
        Ok(())
    }

    /// What was counted since the last `take`: `(day, agent, owner, tool, outcome, bucket, sums)`.
    ///
    /// `bucket` is -1 for calls that never reached the implementation. `sums` are calls, characters
    /// raw, reduced and sent, nano-dollars, microseconds, and calls with repaired arguments.
    #[pyo3(signature = () -> "list[tuple[int, str, str, str, str, int, list[int]]]")]
    fn take(&self) -> Vec<Row> {
        self.locked().take().into_iter().map(row).collect()
    }

    /// The same, and it stays.
    #[pyo3(signature = () -> "list[tuple[int, str, str, str, str, int, list[int]]]")]
    fn peek(&self) -> Vec<Row> {
        self.locked().cells().into_iter().map(row).collect()
    }

    /// Calls since the last `take`.
    #[getter]
    fn call_count(&self) -> u64 {
        self.locked().calls()
    }

    /// Calls that found no room, ever.
    #[getter]
    fn lost_calls(&self) -> u64 {
        self.locked().lost_calls()
    }
}

impl UsageCounts {
    fn locked(&self) -> MutexGuard<'_, usage::UsageCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn row(cell: Cell) -> Row {
    (
        cell.day,
        cell.agent,
        cell.owner,
        cell.tool,
        cell.outcome,
        cell.bucket,
        cell.sums,
    )
}

fn text(name: &Bound<'_, PyString>) -> PyResult<String> {
    match name.extract::<String>() {
        Ok(text) => Ok(text),
        Err(_) => without_surrogates(name)?.extract(),
    }
}

fn tool_id(counts: &mut usage::UsageCounts, tool: &str, outcome: &str) -> NameId {
    if outcome == UNKNOWN {
        counts.unknown_id(tool)
    } else {
        counts.id(tool)
    }
}

const UNKNOWN: &str = "unknown";

/// The tools of one batch by the address of their entries, which the batch keeps alive.
#[derive(Default)]
struct Entries {
    by_address: HashMap<usize, usize>,
    names: Vec<(String, String)>,
    last: Option<(usize, usize)>,
}

impl Entries {
    fn index(&mut self, entry: &Bound<'_, PyAny>) -> PyResult<usize> {
        let address = entry.as_ptr() as usize;
        if let Some((known, index)) = self.last
            && known == address
        {
            return Ok(index);
        }
        let index = if let Some(index) = self.by_address.get(&address) {
            *index
        } else {
            let py = entry.py();
            let name = entry.getattr(intern!(py, "name"))?;
            let owner = entry.getattr(intern!(py, "owner"))?;
            let owner = if owner.is_none() {
                String::new()
            } else {
                text(owner.cast::<PyString>()?)?
            };
            self.names.push((text(name.cast::<PyString>()?)?, owner));
            self.by_address.insert(address, self.names.len() - 1);
            self.names.len() - 1
        };
        self.last = Some((address, index));
        Ok(index)
    }
}

enum Tool {
    Known(usize),
    Named(String),
}

enum Outcome {
    Ok,
    Other(String),
}

impl Outcome {
    fn is_unknown(&self) -> bool {
        matches!(self, Self::Other(name) if name == UNKNOWN)
    }

    fn is_refusal(&self) -> bool {
        match self {
            Self::Ok => false,
            Self::Other(name) => name != "failed" && !ends_a_run(name),
        }
    }
}

/// A call as its objects describe it.
struct ReadCall {
    tool: Tool,
    outcome: Outcome,
    started: Option<f64>,
    duration_seconds: f64,
    chars: [i64; 3],
    cost_usd: f64,
    is_repaired: bool,
}

impl ReadCall {
    fn of(row: &Bound<'_, PyTuple>, entries: &mut Entries, answered: &str) -> PyResult<Self> {
        let py = row.py();
        let places = row.len();
        let answer = row.get_item(places.wrapping_sub(3))?;
        let entry = row.get_item(places.wrapping_sub(2))?;
        let started = row.get_item(places.wrapping_sub(1))?;
        let started: Option<f64> = started.extract()?;
        let result = answer.getattr(intern!(py, "result"))?;
        let is_ok: bool = result.getattr(intern!(py, "ok"))?.extract()?;
        let outcome = if is_ok {
            if started.is_some() {
                Outcome::Ok
            } else {
                Outcome::Other(answered.to_owned())
            }
        } else {
            Outcome::Other(error_outcome(&result, started.is_some())?)
        };
        let cost = result.getattr(intern!(py, "cost_usd"))?;
        let chars = |name: &Bound<'_, PyString>| -> PyResult<i64> {
            Ok(answer.getattr(name)?.extract().unwrap_or(i64::MAX))
        };
        Ok(Self {
            tool: if entry.is_none() {
                let name = answer.getattr(intern!(py, "name"))?;
                Tool::Named(text(name.cast::<PyString>()?)?)
            } else {
                Tool::Known(entries.index(&entry)?)
            },
            outcome,
            started,
            duration_seconds: answer.getattr(intern!(py, "duration_seconds"))?.extract()?,
            chars: [
                chars(intern!(py, "raw_chars"))?,
                chars(intern!(py, "reduced_chars"))?,
                chars(intern!(py, "sent_chars"))?,
            ],
            cost_usd: if cost.is_none() {
                0.0
            } else {
                cost.extract().unwrap_or(f64::MAX)
            },
            is_repaired: answer.getattr(intern!(py, "repairs"))?.is_truthy()?,
        })
    }
}

/// Whether a call with this reason may have reached the implementation.
fn ends_a_run(reason: &str) -> bool {
    matches!(
        reason,
        "raised" | "timeout" | "cancelled" | "bad_result" | "worker_lost"
    )
}

/// The reason of the registry; `failed` for an error of the tool's own, `refused` for one that came
/// before it.
fn error_outcome(result: &Bound<'_, PyAny>, is_started: bool) -> PyResult<String> {
    let reason = result.getattr(intern!(result.py(), "reason"))?;
    if reason.is_none() {
        return Ok(if is_started { "failed" } else { "refused" }.to_owned());
    }
    let mut reason = text(reason.cast::<PyString>()?)?;
    if ends_a_run(&reason) && !is_started {
        reason.push_str("_before_start");
    }
    Ok(reason)
}
