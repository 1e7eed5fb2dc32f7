//! What a table holds of a tool: its name, its place and the data that gates look at.

use std::fmt;
use std::sync::Arc;

use crate::index::Place;
use crate::name::{NameError, split_mcp_name};

/// What a registration states about a tool's gates; the default is a built-in tool of no group.
#[derive(Clone, Copy, Debug, Default)]
pub struct GateData<'a> {
    /// The toolset group.
    pub toolset: Option<&'a str>,
    /// Whether a built-in tool passes the toolset gate whatever that holds.
    pub always_include: bool,
    /// The plugin; an empty text is a plugin too.
    pub plugin_id: Option<&'a str>,
    /// The MCP server; `None` lets the name decide (see [`split_mcp_name`]).
    pub mcp_server: Option<&'a str>,
    /// The bare name on that server; `None` lets the name decide.
    pub mcp_tool: Option<&'a str>,
}

/// The MCP server and bare tool that gates judge by.
#[derive(Clone, Debug)]
pub struct Mcp {
    /// The server.
    pub server: Arc<str>,
    /// The tool as the server knows it.
    pub tool: Arc<str>,
}

/// One tool of a table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The exact name.
    pub name: Arc<str>,
    /// Its place in the order and in the caller's list of tools.
    pub place: Place,
    /// The toolset group.
    pub toolset: Option<Arc<str>>,
    /// Whether a built-in tool passes the toolset gate whatever that holds.
    pub always_include: bool,
    /// The plugin it belongs to.
    pub plugin_id: Option<Arc<str>>,
    /// The MCP server it belongs to.
    pub mcp: Option<Mcp>,
}

impl Entry {
    /// Whether the tool belongs to no MCP server and no plugin, so that the toolset gate binds it.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        self.mcp.is_none() && self.plugin_id.is_none()
    }

    /// An entry at `place`.
    ///
    /// # Errors
    /// [`NameError`] where `data` and `name` do not agree on an MCP server.
    pub fn new(name: &str, place: Place, data: GateData<'_>) -> Result<Self, NameError> {
        Ok(Self {
            name: name.into(),
            place,
            toolset: data.toolset.map(Into::into),
            always_include: data.always_include,
            plugin_id: data.plugin_id.map(Into::into),
            mcp: mcp_of(name, data)?,
        })
    }
}

fn mcp_of(name: &str, data: GateData<'_>) -> Result<Option<Mcp>, NameError> {
    let Some(tool) = data.mcp_tool else {
        let split = split_mcp_name(name, data.mcp_server)?;
        return Ok(split.map(|mcp| Mcp {
            server: mcp.server.into(),
            tool: mcp.tool.into(),
        }));
    };
    let Some(server) = data.mcp_server else {
        return Err(NameError::ToolWithoutServer {
            name: name.to_owned(),
        });
    };
    if server.is_empty() {
        return Err(NameError::EmptyServer {
            name: name.to_owned(),
        });
    }
    if tool.is_empty() {
        return Err(NameError::EmptyTool {
            name: name.to_owned(),
        });
    }
    Ok(Some(Mcp {
        server: server.into(),
        tool: tool.into(),
    }))
}

/// Why a table takes no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryError {
    /// The name, or what it states about its MCP server, is refused.
    Name(NameError),
    /// Every slot number is in use.
    Full,
}

impl fmt::Display for EntryError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(out),
            Self::Full => out.write_str("the table is full; remove tools before adding more"),
        }
    }
}

impl std::error::Error for EntryError {}

impl From<NameError> for EntryError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}
