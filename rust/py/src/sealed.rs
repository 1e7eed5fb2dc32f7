//! A table that nothing can change, with the Python objects that its slots represent.

use ethos_registry_core::table::ToolTable as Table;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{PyTraverseError, PyVisit};

use crate::table::ToolTable;

/// The base of a registry that no one can change: a table and a tuple beside it.
///
/// Both are taken once, when the object is made, and Python code has no way to put others in their
/// place: there is no attribute that `object.__setattr__` could reach. What is handed out is the
/// tuple itself and a table of its own, whose changes stay with it.
#[pyclass(frozen, subclass, weakref, module = "ethos_registry._core")]
pub(crate) struct SealedTable {
    table: Table,
    held: Py<PyTuple>,
}

#[pymethods]
impl SealedTable {
    #[new]
    #[pyo3(signature = (table, held: "tuple[object, ...]"))]
    fn new(table: &Bound<'_, ToolTable>, held: Bound<'_, PyTuple>) -> Self {
        Self {
            table: table.get().read(Table::clone),
            held: held.unbind(),
        }
    }

    /// A fresh table over the sealed entries, and the tuple.
    #[pyo3(signature = () -> "tuple[ToolTable, tuple[object, ...]]")]
    fn _sealed(&self, py: Python<'_>) -> (ToolTable, Py<PyTuple>) {
        (ToolTable::over(self.table.clone()), self.held.clone_ref(py))
    }

    /// A cycle through a tuple runs through something that can be cleared, so this clears nothing.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the signature of PyO3's slot"
    )]
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.held)
    }
}
