//! The table of names and the gates, as Python sees them.

use std::sync::{Mutex, PoisonError};

use ethos_registry_core::entry::{EntryError, GateData};
use ethos_registry_core::gate::{Refusal, admit};
use ethos_registry_core::name;
use ethos_registry_core::select::select;
use ethos_registry_core::table::ToolTable as Table;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::gate::Gate;

/// Tools by exact name, in order of registration, with the data that gates look at.
///
/// Holds no Python object: each tool has a *slot*, the index of its object in a list that the
/// caller keeps. A slot stays the same until its tool is removed; the slot freed last is given out
/// first. Safe to share between threads.
#[pyclass(frozen, module = "ethos_registry._core")]
#[derive(Default)]
pub(crate) struct ToolTable {
    /// Held for single core calls only, never while Python code could run.
    table: Mutex<Table>,
}

#[pymethods]
impl ToolTable {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn __len__(&self) -> usize {
        self.read(Table::len)
    }

    /// Add a tool at the end of the order; its slot, or `None` for a name that is present.
    ///
    /// A tool with neither MCP server nor plugin is built in. Without `mcp_server` a name that
    /// starts with `mcp__` decides about server and tool, see `split_mcp_name`; `mcp_tool` goes
    /// with `mcp_server` only. `ValueError` for a name or an MCP server that is refused; nothing
    /// has changed then.
    #[pyo3(signature = (name, *, toolset=None, always_include=false, plugin_id=None, mcp_server=None, mcp_tool=None))]
    fn insert(
        &self,
        name: &str,
        toolset: Option<&str>,
        always_include: bool,
        plugin_id: Option<&str>,
        mcp_server: Option<&str>,
        mcp_tool: Option<&str>,
    ) -> PyResult<Option<u32>> {
        let data = GateData {
            toolset,
            always_include,
            plugin_id,
            mcp_server,
            mcp_tool,
        };
        self.write(|table| table.insert(name, data))
            .map_err(entry_error)
    }

    /// Give a present tool new gate data; its slot, or `None` for an unknown name.
    ///
    /// Slot, position and hidden flag stay; arguments and errors are those of `insert`.
    #[pyo3(signature = (name, *, toolset=None, always_include=false, plugin_id=None, mcp_server=None, mcp_tool=None))]
    fn replace(
        &self,
        name: &str,
        toolset: Option<&str>,
        always_include: bool,
        plugin_id: Option<&str>,
        mcp_server: Option<&str>,
        mcp_tool: Option<&str>,
    ) -> PyResult<Option<u32>> {
        let data = GateData {
            toolset,
            always_include,
            plugin_id,
            mcp_server,
            mcp_tool,
        };
        self.write(|table| table.replace(name, data))
            .map_err(entry_error)
    }

    /// Take a tool out; the slot that is free now, or `None` for an unknown name.
    fn remove(&self, name: &Bound<'_, PyString>) -> Option<u32> {
        let name = short_text(name)?;
        self.write(|table| table.remove(name))
    }

    /// The slot of exactly this name, or `None`; whatever the object is, nothing is raised.
    #[pyo3(signature = (name: "object"))]
    fn find(&self, name: &Bound<'_, PyAny>) -> Option<u32> {
        let name = short_text(name.cast().ok()?)?;
        self.read(|table| table.find(name).map(|entry| entry.place.slot))
    }

    /// Leave a tool out of `select`, or show it again; whether the name is known.
    fn set_hidden(&self, name: &Bound<'_, PyString>, hidden: bool) -> bool {
        short_text(name).is_some_and(|name| self.write(|table| table.set_hidden(name, hidden)))
    }

    /// Whether a tool of this name is there and hidden.
    fn is_hidden(&self, name: &Bound<'_, PyString>) -> bool {
        let hidden = |name| self.read(|table| table.is_hidden(name));
        short_text(name).is_some_and(hidden)
    }

    /// The slots of all hidden tools, in order of registration.
    fn hidden_slots(&self) -> Vec<u32> {
        self.read(Table::hidden_slots)
    }

    /// The slots of all tools, hidden ones too, in order of registration.
    fn slots(&self) -> Vec<u32> {
        self.read(Table::slots)
    }

    /// A table that holds the same and changes on its own.
    ///
    /// Costs the same for any number of tools; the first change on either side while both live
    /// copies the entries.
    fn snapshot(&self) -> Self {
        Self::over(self.read(Table::clone))
    }

    /// A table that holds the same, changes on its own and shares what it did not change.
    ///
    /// A change of it costs what it changes, whatever the number of tools; free slots of this table
    /// are not given out by it.
    fn branch(&self) -> Self {
        Self::over(self.read(Table::branch))
    }

    /// The slots of all tools that `gate` permits and that are not hidden, in order of registration.
    ///
    /// Without a gate every tool is permitted. The cost follows what is returned and what the
    /// gate's lists name, never how many tools are registered.
    fn select(&self, gate: Option<&Bound<'_, Gate>>) -> Vec<u32> {
        self.read(|table| select(table, gate.map(|gate| gate.get().core())))
    }

    /// For each name the slot that a call reaches, or the `VERDICT_*` that refuses it.
    ///
    /// Hidden tools are admitted like others. Every object is answered; what is not a name of a tool
    /// is `VERDICT_UNKNOWN`.
    #[pyo3(signature = (gate: "Gate | None", names: "list[object]") -> "list[int]")]
    fn admit(&self, gate: Option<&Bound<'_, Gate>>, names: &Bound<'_, PyList>) -> Vec<i64> {
        let table = self.read(Table::clone);
        let gate = gate.map(|gate| gate.get().core());
        let verdict = |name: Bound<'_, PyAny>| {
            let name = name
                .cast()
                .ok()
                .and_then(short_text)
                .ok_or(Refusal::Unknown)?;
            admit(&table, gate, name)
        };
        names
            .iter()
            .map(|name| verdict(name).map_or_else(Refusal::code, i64::from))
            .collect()
    }

    /// The slots of a toolset group, hidden tools and those of plugins and MCP servers too, in
    /// order of registration.
    fn group(&self, toolset: &str) -> Vec<u32> {
        self.read(|table| table.group(toolset))
    }
}

impl ToolTable {
    /// A table over entries that are shared with others.
    pub(crate) fn over(table: Table) -> Self {
        Self {
            table: Mutex::new(table),
        }
    }

    pub(crate) fn read<T>(&self, look: impl FnOnce(&Table) -> T) -> T {
        look(&self.table.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, change: impl FnOnce(&mut Table) -> T) -> T {
        change(&mut self.table.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether a tool may have this name: the whole of it matches `[a-zA-Z][a-zA-Z0-9_-]{0,63}`.
#[pyfunction]
pub(crate) fn is_tool_name(name: &Bound<'_, PyString>) -> bool {
    short_text(name).is_some_and(name::is_tool_name)
}

/// The MCP server and bare tool that a name represents, or `None` for a tool of no MCP server.
///
/// With `mcp_server` the bare tool is what follows `mcp__{mcp_server}__`, or the whole name where
/// that prefix or a rest is missing. Without it, a name that starts with exactly `mcp__` has to
/// split into a non-empty server and a non-empty tool in exactly one way; underscores that overlap
/// count. `ValueError` for a name that does not, and for an empty `mcp_server`.
#[pyfunction]
#[pyo3(signature = (name, mcp_server=None))]
pub(crate) fn split_mcp_name<'a>(
    name: &'a str,
    mcp_server: Option<&'a str>,
) -> PyResult<Option<(&'a str, &'a str)>> {
    match name::split_mcp_name(name, mcp_server) {
        Ok(split) => Ok(split.map(|mcp| (mcp.server, mcp.tool))),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    }
}

/// The text of `name` where it can be the name of a tool: short enough, no lone surrogate.
///
/// Longer inputs are not looked at, because reading an input that is not ASCII leaves a second copy
/// of it in the object. The length of a subclass is that of its text, whatever its `__len__` states.
fn short_text<'a>(name: &'a Bound<'_, PyString>) -> Option<&'a str> {
    let chars = if name.is_exact_instance_of::<PyString>() {
        name.len().ok()?
    } else {
        let py = name.py();
        let length = py
            .get_type::<PyString>()
            .call_method1(intern!(py, "__len__"), (name,));
        length.and_then(|length| length.extract()).ok()?
    };
    if chars > name::MAX_TOOL_NAME_CHARS {
        return None;
    }
    name.to_str().ok()
}

fn entry_error(error: EntryError) -> PyErr {
    match error {
        EntryError::Name(error) => PyValueError::new_err(error.to_string()),
        EntryError::Full => PyOverflowError::new_err(error.to_string()),
    }
}
