//! A table that nothing can change, with the Python objects that its slots represent.

use std::sync::{Mutex, PoisonError};

use ethos_registry_core::select::select;
use ethos_registry_core::table::ToolTable as Table;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{PyTraverseError, PyVisit};

use crate::gate::Gate;
use crate::table::ToolTable;

/// How many selections are kept; policies beyond that are selected again.
const KEPT_SELECTIONS: usize = 64;

/// The base of a registry that no one can change: a table and a tuple beside it.
///
/// Both are taken once, when the object is made, and Python code has no way to put others in their
/// place: there is no attribute that `object.__setattr__` could reach. What is handed out is the
/// tuple itself and a table of its own, whose changes stay with it.
#[pyclass(frozen, subclass, weakref, module = "ethos_registry._core")]
pub(crate) struct SealedTable {
    table: Table,
    held: Py<PyTuple>,
    /// What each gate permits, by the identity of the gate; tuples all the way down.
    selections: Mutex<Selections>,
}

#[pymethods]
impl SealedTable {
    #[new]
    #[pyo3(signature = (table, held: "tuple[object, ...]"))]
    fn new(table: &Bound<'_, ToolTable>, held: Bound<'_, PyTuple>) -> Self {
        Self {
            table: table.get().read(Table::clone),
            held: held.unbind(),
            selections: Mutex::default(),
        }
    }

    /// A fresh table over the sealed entries, and the tuple.
    #[pyo3(signature = () -> "tuple[ToolTable, tuple[object, ...]]")]
    fn _sealed(&self, py: Python<'_>) -> (ToolTable, Py<PyTuple>) {
        (ToolTable::over(self.table.clone()), self.held.clone_ref(py))
    }

    /// The entries that `gate` permits and no one hid, in order of registration; of those that have
    /// an `is_available` a pair of it and the entry's position; the same of those that have a
    /// `why_refused`.
    ///
    /// The entries are the first item of the sealed tuple, by slot. The answer is kept for each
    /// gate object.
    #[pyo3(signature = (gate: "Gate | None") -> "tuple[tuple[object, ...], ...]")]
    fn _selected<'py>(
        &self,
        py: Python<'py>,
        gate: Option<Bound<'py, Gate>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let found = self.read(|selections_by_gate| {
            selections_by_gate
                .iter()
                .find(|(known, _)| match (known, &gate) {
                    (None, None) => true,
                    (Some(known), Some(gate)) => known.is(gate),
                    _ => false,
                })
                .map(|(_, selection)| selection.clone_ref(py))
        });
        if let Some(selection) = found {
            return Ok(selection.into_bound(py));
        }
        let core = gate.as_ref().map(|gate| gate.get().core());
        let held = self.held.bind(py).get_item(0)?;
        let Ok(held) = held.cast::<PyTuple>() else {
            return Err(PyTypeError::new_err("the sealed entries are a tuple"));
        };
        let mut entries = Vec::new();
        let mut probed = Vec::new();
        let mut refusable = Vec::new();
        for slot in select(&self.table, core) {
            let entry = held.get_item(slot as usize)?;
            let probe = entry.getattr(intern!(py, "is_available"))?;
            if !probe.is_none() {
                probed.push((probe, entries.len()));
            }
            let refused = entry.getattr(intern!(py, "why_refused"))?;
            if !refused.is_none() {
                refusable.push((refused, entries.len()));
            }
            entries.push(entry);
        }
        let parts = [
            PyTuple::new(py, entries)?,
            PyTuple::new(py, probed)?,
            PyTuple::new(py, refusable)?,
        ];
        let selection = PyTuple::new(py, parts)?;
        let selections_by_gate = selection.clone().unbind();
        let gate = gate.map(Bound::unbind);
        let replaced = self.write(|selections| {
            let full = selections.len() >= KEPT_SELECTIONS;
            let old = full.then(|| std::mem::take(selections));
            selections.push((gate, selections_by_gate));
            old
        });
        drop(replaced); // outside the lock: dropping may run Python code
        Ok(selection)
    }

    /// A cycle through a tuple runs through something that can be cleared, so this clears nothing.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the signature of PyO3's slot"
    )]
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.held)?;
        if let Ok(selections) = self.selections.try_lock() {
            for (_, selection) in selections.iter() {
                visit.call(selection)?;
            }
        }
        Ok(())
    }
}

type Selections = Vec<(Option<Py<Gate>>, Py<PyTuple>)>;

impl SealedTable {
    fn read<T>(&self, look: impl FnOnce(&Selections) -> T) -> T {
        look(
            &self
                .selections
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn write<T>(&self, change: impl FnOnce(&mut Selections) -> T) -> T {
        change(
            &mut self
                .selections
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}
