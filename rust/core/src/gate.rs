//! What may be seen and what may run: one verdict for both.

use hashbrown::{HashMap, HashSet};

use crate::entry::Entry;
use crate::table::ToolTable;

/// Exact inputs, each held once.
pub type Names = HashSet<Box<str>>;

/// Exact inputs by exact text.
pub type NamesByKey = HashMap<Box<str>, Names>;

/// Why a tool may not be seen or run, in the order in which the reasons are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No tool has this name.
    Unknown,
    /// The tool is excluded, which is stronger than everything else.
    Excluded,
    /// A built-in tool that the toolset does not hold.
    Toolset,
    /// A tool of an MCP server that is not allowed.
    McpServer,
    /// A tool that is not among those allowed of its MCP server.
    McpTool,
    /// A tool of a plugin that is not allowed.
    Plugin,
    /// A tool of another agent that was not granted.
    NotGranted,
}

impl Refusal {
    /// The negative number that represents the reason where a slot would represent a permit.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Unknown => -1,
            Self::Excluded => -2,
            Self::Toolset => -3,
            Self::McpServer => -4,
            Self::McpTool => -5,
            Self::Plugin => -6,
            Self::NotGranted => -7,
        }
    }
}

/// One policy, compiled once and held against any table.
///
/// For each field `None` is not a gate and an empty set admits none. `allowed_tools` and
/// `allowed_groups` are two halves of one gate, which binds built-in tools and is there as soon as
/// one half is. Tools of MCP servers and plugins skip it; a tool that belongs to both a server and
/// a plugin passes both of theirs.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// Names of tools of any kind; what is not among them is not permitted.
    pub granted_tools: Option<Names>,
    /// Names of built-in tools.
    pub allowed_tools: Option<Names>,
    /// Toolset groups of built-in tools.
    pub allowed_groups: Option<Names>,
    /// Names of tools of any kind.
    pub exclude_tools: Names,
    /// Toolset groups of tools of any kind.
    pub exclude_groups: Names,
    /// MCP servers.
    pub allowed_mcp_servers: Option<Names>,
    /// Bare names by MCP server; every tool of a server that is absent here passes.
    pub allowed_mcp_tools: NamesByKey,
    /// Plugins.
    pub allowed_plugins: Option<Names>,
}

impl Gate {
    /// Whether `entry` may be seen and run. Hidden entries are judged like others.
    ///
    /// # Errors
    /// The first [`Refusal`] that holds; never [`Refusal::Unknown`].
    pub fn verdict(&self, entry: &Entry) -> Result<(), Refusal> {
        if self.exclude_tools.contains(&*entry.name)
            || entry
                .toolset
                .as_deref()
                .is_some_and(|group| self.exclude_groups.contains(group))
        {
            return Err(Refusal::Excluded);
        }
        if !admits(self.granted_tools.as_ref(), &entry.name) {
            return Err(Refusal::NotGranted);
        }
        if entry.is_built_in() && !entry.always_include && !self.has_in_toolset(entry) {
            return Err(Refusal::Toolset);
        }
        if let Some(mcp) = &entry.mcp {
            if !admits(self.allowed_mcp_servers.as_ref(), &mcp.server) {
                return Err(Refusal::McpServer);
            }
            if !admits(self.allowed_mcp_tools.get(&*mcp.server), &mcp.tool) {
                return Err(Refusal::McpTool);
            }
        }
        match &entry.plugin_id {
            Some(plugin) if !admits(self.allowed_plugins.as_ref(), plugin) => Err(Refusal::Plugin),
            _ => Ok(()),
        }
    }

    fn has_in_toolset(&self, entry: &Entry) -> bool {
        let (names, groups) = (self.allowed_tools.as_ref(), self.allowed_groups.as_ref());
        if names.is_none() && groups.is_none() {
            return true;
        }
        names.is_some_and(|names| names.contains(&*entry.name))
            || groups
                .zip(entry.toolset.as_deref())
                .is_some_and(|(groups, toolset)| groups.contains(toolset))
    }
}

/// The slot that a call of `name` reaches; hidden tools may be called.
///
/// # Errors
/// [`Refusal::Unknown`], or what [`Gate::judge`] answers.
pub fn admit(table: &ToolTable, gate: Option<&Gate>, name: &str) -> Result<u32, Refusal> {
    let entry = table.find(name).ok_or(Refusal::Unknown)?;
    gate.map_or(Ok(()), |gate| gate.verdict(entry))?;
    Ok(entry.place.slot)
}

fn admits(gate: Option<&Names>, name: &str) -> bool {
    gate.is_none_or(|names| names.contains(name))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::entry::GateData;
    use crate::select::select;

    fn names(names: &[&str]) -> Names {
        names.iter().map(|name| (*name).into()).collect()
    }

    fn table() -> ToolTable {
        let plain = GateData::default();
        let mut table = ToolTable::default();
        for (name, data) in [
            (
                "read",
                GateData {
                    toolset: Some("files"),
                    ..plain
                },
            ),
            (
                "now",
                GateData {
                    always_include: true,
                    ..plain
                },
            ),
            ("mcp__git__log", plain),
            ("mcp__git__push", plain),
            (
                "draw",
                GateData {
                    plugin_id: Some(""),
                    ..plain
                },
            ),
            (
                "both",
                GateData {
                    plugin_id: Some("p"),
                    mcp_server: Some("git"),
                    ..plain
                },
            ),
        ] {
            table.insert(name, data).unwrap().unwrap();
        }
        table
    }

    fn verdicts(table: &ToolTable, gate: &Gate) -> Vec<i64> {
        let names = [
            "read",
            "now",
            "mcp__git__log",
            "mcp__git__push",
            "draw",
            "both",
            "none",
        ];
        let admitted = names.iter().map(|name| admit(table, Some(gate), name));
        admitted
            .map(|slot| slot.map_or_else(Refusal::code, i64::from))
            .collect()
    }

    #[test]
    fn no_gate_permits_every_tool() {
        assert_eq!(verdicts(&table(), &Gate::default()), [0, 1, 2, 3, 4, 5, -1]);
        assert_eq!(select(&table(), None), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn empty_sets_admit_none() {
        let gate = Gate {
            allowed_tools: Some(Names::default()),
            allowed_mcp_servers: Some(Names::default()),
            allowed_plugins: Some(Names::default()),
            ..Gate::default()
        };
        assert_eq!(verdicts(&table(), &gate), [-3, 1, -4, -4, -6, -4, -1]);
        assert_eq!(select(&table(), Some(&gate)), [1]);
    }

    #[test]
    fn refusals_come_in_their_order() {
        let gate = Gate {
            allowed_groups: Some(names(&["files"])),
            exclude_tools: names(&["now", "mcp__git__log"]),
            allowed_mcp_tools: [("git".into(), names(&["both"]))].into_iter().collect(),
            allowed_plugins: Some(names(&["p"])),
            ..Gate::default()
        };
        assert_eq!(verdicts(&table(), &gate), [0, -2, -2, -5, -6, 5, -1]);
        assert_eq!(select(&table(), Some(&gate)), [0, 5]);
    }

    #[test]
    fn grants_bind_tools_of_every_kind_and_those_that_always_are_included() {
        let gate = Gate {
            granted_tools: Some(names(&["draw", "read", "mcp__git__log"])),
            exclude_tools: names(&["read"]),
            ..Gate::default()
        };
        assert_eq!(verdicts(&table(), &gate), [-2, -7, 2, -7, 4, -7, -1]);
        assert_eq!(select(&table(), Some(&gate)), [2, 4]);
    }

    #[test]
    fn excluded_groups_bind_tools_of_every_kind() {
        let mut table = table();
        for (name, plugin_id) in [
            ("mcp__git__show", None),
            ("paint", Some("p")),
            ("today", None),
        ] {
            let data = GateData {
                toolset: Some("danger"),
                always_include: plugin_id.is_none(),
                plugin_id,
                ..GateData::default()
            };
            table.insert(name, data).unwrap().unwrap();
        }
        let gate = Gate {
            exclude_groups: names(&["danger"]),
            ..Gate::default()
        };
        for name in ["mcp__git__show", "paint", "today"] {
            assert_eq!(admit(&table, Some(&gate), name), Err(Refusal::Excluded));
        }
        assert_eq!(select(&table, Some(&gate)), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn hidden_tools_are_admitted_and_not_selected() {
        let mut table = table();
        table.set_hidden("read", true);
        assert_eq!(admit(&table, None, "read"), Ok(0));
        assert_eq!(select(&table, Some(&Gate::default())), [1, 2, 3, 4, 5]);
    }
}
