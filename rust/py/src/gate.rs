//! Gates from Python's lists.

use ethos_registry_core::gate::{Gate as Rules, Names, NamesByKey};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyMapping, PySequence, PyString};

use crate::table::ToolTable;

/// One policy, compiled once and good for every table.
///
/// For each list `None` is not a gate and an empty one admits none. `allowed_tools` and
/// `allowed_groups` (toolset groups, without a prefix) are two halves of one gate, which binds
/// built-in tools and is there as soon as one half is; tools that always are included pass it.
/// Tools of MCP servers and plugins skip it; a tool of both a server and a plugin passes both of
/// theirs. `allowed_mcp_tools` maps a server to bare names; every tool of a server that is absent
/// passes. `granted_tools` names tools of any kind, and binds those that always are included too.
/// `exclude_tools` is stronger than everything; its entries are names, or `toolset:<group>` for the
/// tools of a group, of any kind. `TypeError` for lists that are not sequences of `str`; an entry
/// that holds a lone surrogate matches nothing and is ignored.
#[pyclass(frozen, module = "ethos_registry._core")]
pub(crate) struct Gate {
    rules: Rules,
}

#[pymethods]
impl Gate {
    #[new]
    #[pyo3(signature = (*, allowed_tools=None, allowed_groups=None, exclude_tools=None, allowed_mcp_servers=None, allowed_mcp_tools=None, allowed_plugins=None, granted_tools=None))]
    fn new(
        allowed_tools: Option<NameList>,
        allowed_groups: Option<NameList>,
        exclude_tools: Option<NameList>,
        allowed_mcp_servers: Option<NameList>,
        allowed_mcp_tools: Option<NameLists>,
        allowed_plugins: Option<NameList>,
        granted_tools: Option<NameList>,
    ) -> Self {
        let excluded = exclude_tools.map(NameList::into_names).unwrap_or_default();
        let (exclude_groups, exclude_tools) = split_groups(excluded);
        Self {
            rules: Rules {
                granted_tools: granted_tools.map(NameList::into_names),
                allowed_tools: allowed_tools.map(NameList::into_names),
                allowed_groups: allowed_groups.map(NameList::into_names),
                exclude_tools,
                exclude_groups,
                allowed_mcp_servers: allowed_mcp_servers.map(NameList::into_names),
                allowed_mcp_tools: allowed_mcp_tools.map(|lists| lists.0).unwrap_or_default(),
                allowed_plugins: allowed_plugins.map(NameList::into_names),
            },
        }
    }

    /// The entries of each list that match no tool of `table`, sorted; lists without any are left
    /// out.
    ///
    /// `allowed_tools` and `allowed_groups` match built-in tools only; excluded groups keep their
    /// prefix and follow the names. MCP tools read `server/tool`; `server/` is a server without a
    /// tool for which no bare name was given. `granted_tools` is left out.
    #[pyo3(signature = (table) -> "dict[str, list[str]]")]
    fn unmatched<'py>(&self, table: &Bound<'py, ToolTable>) -> PyResult<Bound<'py, PyDict>> {
        let unmatched = table.get().read(|table| self.rules.unmatched(table));
        let groups = unmatched.exclude_groups.iter();
        let groups = groups.map(|group| format!("{GROUP_PREFIX}{group}"));
        let excluded = unmatched.exclude_tools.into_iter().chain(groups).collect();
        let lists = [
            ("allowed_tools", unmatched.allowed_tools),
            ("allowed_groups", unmatched.allowed_groups),
            ("exclude_tools", excluded),
            ("allowed_mcp_servers", unmatched.allowed_mcp_servers),
            ("allowed_mcp_tools", unmatched.allowed_mcp_tools),
            ("allowed_plugins", unmatched.allowed_plugins),
        ];
        let found = lists.into_iter().filter(|(_, entries)| !entries.is_empty());
        found.into_py_dict(table.py())
    }
}

/// The mark of a group among names; no name of a tool holds a colon.
const GROUP_PREFIX: &str = "toolset:";

/// The groups of a list without their prefix, and its other entries.
fn split_groups(names: Names) -> (Names, Names) {
    let (mut groups, mut rest) = (Names::new(), Names::new());
    for name in names {
        match name.strip_prefix(GROUP_PREFIX) {
            Some(group) => groups.insert(group.into()),
            None => rest.insert(name),
        };
    }
    (groups, rest)
}

impl Gate {
    pub(crate) fn core(&self) -> &Rules {
        &self.rules
    }
}

/// A sequence of `str` that is not text itself: `"ab"` would otherwise read as `["a", "b"]`.
struct NameList(Names);

impl NameList {
    fn into_names(self) -> Names {
        self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for NameList {
    type Error = PyErr;

    #[cfg(feature = "stubs")]
    const INPUT_TYPE: pyo3::inspect::PyStaticExpr = <Vec<String> as FromPyObject>::INPUT_TYPE;

    fn extract(list: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if list.is_instance_of::<PyString>() || list.is_instance_of::<PyBytes>() {
            return Err(wrong_type("a sequence of `str`", &list));
        }
        let sequence = list.cast::<PySequence>();
        let sequence = sequence.map_err(|_| wrong_type("a sequence of `str`", &list))?;
        let mut names = Names::new();
        for entry in sequence.try_iter()? {
            if let Some(name) = text(&entry?)? {
                names.insert(name);
            }
        }
        Ok(Self(names))
    }
}

/// A mapping to such sequences.
struct NameLists(NamesByKey);

impl<'py> FromPyObject<'_, 'py> for NameLists {
    type Error = PyErr;

    #[cfg(feature = "stubs")]
    const INPUT_TYPE: pyo3::inspect::PyStaticExpr = pyo3::type_hint_subscript!(
        <PyMapping as pyo3::PyTypeInfo>::TYPE_HINT,
        <PyString as pyo3::PyTypeInfo>::TYPE_HINT,
        NameList::INPUT_TYPE
    );

    fn extract(lists: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mapping = lists.cast::<PyMapping>();
        let mapping = mapping.map_err(|_| wrong_type("a mapping to sequences of `str`", &lists))?;
        let mut names_by_key = NamesByKey::new();
        for item in mapping.items()? {
            let (key, list) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            let names = list.extract::<NameList>()?.0;
            if let Some(key) = text(&key)? {
                names_by_key.insert(key, names);
            }
        }
        Ok(Self(names_by_key))
    }
}

/// The text of an entry, or `None` where a lone surrogate keeps it from matching anything.
fn text(entry: &Bound<'_, PyAny>) -> PyResult<Option<Box<str>>> {
    let text = entry
        .cast::<PyString>()
        .map_err(|_| wrong_type("`str` entries", entry))?;
    Ok(text.to_str().ok().map(Into::into))
}

fn wrong_type(expected: &str, got: &Bound<'_, PyAny>) -> PyErr {
    match got.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("expected {expected}, got `{name}`")),
        Err(error) => error,
    }
}
