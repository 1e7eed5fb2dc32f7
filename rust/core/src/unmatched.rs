//! Entries of a policy that match no tool: likely typing errors.

use crate::entry::Entry;
use crate::gate::{Gate, Names};
use crate::index::{Index, Rosters};
use crate::table::ToolTable;

/// Entries of a gate's lists that match nothing in a table, each list sorted by code point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// Names that no built-in tool has.
    pub allowed_tools: Vec<String>,
    /// Groups without a built-in tool.
    pub allowed_groups: Vec<String>,
    /// Names that no tool has.
    pub exclude_tools: Vec<String>,
    /// Groups without a tool of any kind.
    pub exclude_groups: Vec<String>,
    /// Servers without a tool.
    pub allowed_mcp_servers: Vec<String>,
    /// `server/tool` for an unknown tool; `server/` for an unknown server without tools.
    pub allowed_mcp_tools: Vec<String>,
    /// Plugins without a tool.
    pub allowed_plugins: Vec<String>,
}

impl Gate {
    /// Entries of the lists that match nothing in `table`.
    #[must_use]
    pub fn unmatched(&self, table: &ToolTable) -> Unmatched {
        let built_in = |name: &str| table.find(name).is_some_and(Entry::is_built_in);
        let has_members = |rosters: fn(&Index) -> &Rosters, key: &str| {
            table
                .members(|index| rosters(index).get(key))
                .next()
                .is_some()
        };
        Unmatched {
            allowed_tools: missing(self.allowed_tools.as_ref(), built_in),
            allowed_groups: missing(self.allowed_groups.as_ref(), |group| {
                has_members(|index| &index.built_in_groups, group)
            }),
            exclude_tools: missing(Some(&self.exclude_tools), |name| table.find(name).is_some()),
            exclude_groups: missing(Some(&self.exclude_groups), |group| {
                has_members(|index| &index.built_in_groups, group)
                    || has_members(|index| &index.other_groups, group)
            }),
            allowed_mcp_servers: missing(self.allowed_mcp_servers.as_ref(), |server| {
                has_members(|index| &index.servers, server)
            }),
            allowed_mcp_tools: self.missing_mcp_tools(table),
            allowed_plugins: missing(self.allowed_plugins.as_ref(), |plugin| {
                has_members(|index| &index.plugins, plugin)
            }),
        }
    }

    fn missing_mcp_tools(&self, table: &ToolTable) -> Vec<String> {
        let mut missing = Vec::new();
        for (server, tools) in &self.allowed_mcp_tools {
            let has_server = || {
                let mut members = table.members(|index| index.servers.get(&**server));
                members.next().is_some()
            };
            if tools.is_empty() && !has_server() {
                missing.push(format!("{server}/"));
            }
            for tool in tools {
                if table.mcp_tool(server, tool).next().is_none() {
                    missing.push(format!("{server}/{tool}"));
                }
            }
        }
        missing.sort_unstable();
        missing
    }
}

fn missing(names: Option<&Names>, is_present: impl Fn(&str) -> bool) -> Vec<String> {
    let absent = names.into_iter().flatten().filter(|name| !is_present(name));
    let mut absent: Vec<String> = absent.map(ToString::to_string).collect();
    absent.sort_unstable();
    absent
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::entry::GateData;

    fn names(names: &[&str]) -> Names {
        names.iter().map(|name| (*name).into()).collect()
    }

    #[test]
    fn entries_without_a_match_are_named() {
        let mut table = ToolTable::default();
        for (name, plugin_id) in [
            ("read", None),
            ("mcp__git__log", None),
            ("draw", Some("p")),
            ("blank", Some("")),
        ] {
            let data = GateData {
                toolset: Some("files"),
                plugin_id,
                ..GateData::default()
            };
            table.insert(name, data).unwrap();
        }
        let gate = Gate {
            granted_tools: None,
            allowed_tools: Some(names(&["read", "draw", "nope"])),
            allowed_groups: Some(names(&["files", "web"])),
            exclude_tools: names(&["draw", "gone"]),
            exclude_groups: names(&["files", "danger"]),
            allowed_mcp_servers: Some(names(&["git", "svn"])),
            allowed_mcp_tools: [
                ("git".into(), names(&["log", "x"])),
                ("svn".into(), names(&[])),
            ]
            .into_iter()
            .collect(),
            allowed_plugins: Some(names(&["", "p", "q"])),
        };
        let unmatched = gate.unmatched(&table);
        assert_eq!(unmatched.allowed_tools, ["draw", "nope"]);
        assert_eq!(unmatched.allowed_groups, ["web"]);
        assert_eq!(unmatched.exclude_tools, ["gone"]);
        assert_eq!(unmatched.exclude_groups, ["danger"]);
        assert_eq!(unmatched.allowed_mcp_servers, ["svn"]);
        assert_eq!(unmatched.allowed_mcp_tools, ["git/x", "svn/"]);
        assert_eq!(unmatched.allowed_plugins, ["q"]);
    }
}
