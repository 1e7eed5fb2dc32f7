//! What may be seen and what may run: one verdict for both.

use hashbrown::{HashMap, HashSet};

use crate::index::{Place, Rosters};
use crate::table::{Entry, ToolTable};

/// Exact texts, each held once.
pub type Names = HashSet<Box<str>>;

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
}

impl Refusal {
    /// The negative number that stands for the reason where a slot would stand for a permit.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Unknown => -1,
            Self::Excluded => -2,
            Self::Toolset => -3,
            Self::McpServer => -4,
            Self::McpTool => -5,
            Self::Plugin => -6,
        }
    }
}

/// One policy, compiled once and held against any table.
///
/// For each field `None` is no gate and an empty set admits none. `allowed_tools` and
/// `allowed_groups` are two halves of one gate, which binds built-in tools and is there as soon as
/// one half is. Tools of MCP servers and plugins skip it; a tool that belongs to both a server and
/// a plugin passes both of theirs.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// Names of built-in tools.
    pub allowed_tools: Option<Names>,
    /// Toolset groups of built-in tools.
    pub allowed_groups: Option<Names>,
    /// Names of tools of any kind.
    pub exclude_tools: Names,
    /// MCP servers.
    pub allowed_mcp_servers: Option<Names>,
    /// Bare names by MCP server; every tool of a server that is absent here passes.
    pub allowed_mcp_tools: HashMap<Box<str>, Names>,
    /// Plugins.
    pub allowed_plugins: Option<Names>,
}

/// Entries of a gate's lists that match nothing in a table, each list sorted by code point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// Names that no built-in tool has.
    pub allowed_tools: Vec<String>,
    /// Groups without a built-in tool.
    pub allowed_groups: Vec<String>,
    /// Names that no tool has.
    pub exclude_tools: Vec<String>,
    /// Servers without a tool.
    pub allowed_mcp_servers: Vec<String>,
    /// `server/tool` where there is no such tool; `server/` for an unknown server without tools.
    pub allowed_mcp_tools: Vec<String>,
    /// Plugins without a tool.
    pub allowed_plugins: Vec<String>,
}

impl Gate {
    /// Whether `entry` may be seen and run. Hidden entries are judged like others.
    ///
    /// # Errors
    /// The first [`Refusal`] that holds; never [`Refusal::Unknown`].
    pub fn judge(&self, entry: &Entry) -> Result<(), Refusal> {
        if self.exclude_tools.contains(&*entry.name) {
            return Err(Refusal::Excluded);
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

    /// Entries of the lists that match nothing in `table`.
    #[must_use]
    pub fn unmatched(&self, table: &ToolTable) -> Unmatched {
        let index = table.index();
        let built_in = |name: &str| table.find(name).is_some_and(Entry::is_built_in);
        let in_rosters = |rosters: &Rosters, key: &str| rosters.contains_key(key);
        Unmatched {
            allowed_tools: missing(self.allowed_tools.as_ref(), built_in),
            allowed_groups: missing(self.allowed_groups.as_ref(), |group| {
                in_rosters(&index.built_in_groups, group)
            }),
            exclude_tools: missing(Some(&self.exclude_tools), |name| table.find(name).is_some()),
            allowed_mcp_servers: missing(self.allowed_mcp_servers.as_ref(), |server| {
                in_rosters(&index.servers, server)
            }),
            allowed_mcp_tools: self.missing_mcp_tools(table),
            allowed_plugins: missing(self.allowed_plugins.as_ref(), |plugin| {
                in_rosters(&index.plugins, plugin)
            }),
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

    fn missing_mcp_tools(&self, table: &ToolTable) -> Vec<String> {
        let mut missing = Vec::new();
        for (server, tools) in &self.allowed_mcp_tools {
            if tools.is_empty() && !table.index().servers.contains_key(&**server) {
                missing.push(format!("{server}/"));
            }
            for tool in tools {
                if mcp_tool(table, server, tool).next().is_none() {
                    missing.push(format!("{server}/{tool}"));
                }
            }
        }
        missing.sort_unstable();
        missing
    }

    fn is_open(&self) -> bool {
        self.allowed_tools.is_none()
            && self.allowed_groups.is_none()
            && self.allowed_mcp_servers.is_none()
            && self.allowed_mcp_tools.is_empty()
            && self.allowed_plugins.is_none()
    }

    /// A superset of what the gate permits, in any order: what its lists lead to.
    fn candidates(&self, table: &ToolTable) -> Vec<Place> {
        let index = table.index();
        if self.is_open() {
            return index.all.iter().copied().collect();
        }
        let mut places = Vec::new();
        if self.allowed_tools.is_none() && self.allowed_groups.is_none() {
            places.extend(&index.built_in);
        } else {
            let named = self.allowed_tools.iter().flatten();
            places.extend(
                named
                    .filter_map(|name| table.find(name))
                    .map(|entry| entry.place),
            );
            let groups = self.allowed_groups.iter().flatten();
            places.extend(
                groups
                    .filter_map(|group| index.built_in_groups.get(&**group))
                    .flatten(),
            );
            places.extend(&index.always_included);
        }
        match &self.allowed_mcp_servers {
            Some(servers) => {
                servers
                    .iter()
                    .for_each(|server| self.add_server(table, server, &mut places));
            }
            None => index
                .servers
                .keys()
                .for_each(|server| self.add_server(table, server, &mut places)),
        }
        match &self.allowed_plugins {
            Some(plugins) => {
                let rosters = plugins
                    .iter()
                    .filter_map(|plugin| index.plugins.get(&**plugin));
                places.extend(rosters.flatten());
            }
            None => places.extend(index.plugins.values().flatten()),
        }
        places
    }

    fn add_server(&self, table: &ToolTable, server: &str, places: &mut Vec<Place>) {
        match self.allowed_mcp_tools.get(server) {
            Some(tools) => {
                places.extend(tools.iter().flat_map(|tool| mcp_tool(table, server, tool)));
            }
            None => places.extend(table.index().servers.get(server).into_iter().flatten()),
        }
    }
}

/// The slot that a call of `name` reaches; hidden tools may be called.
///
/// # Errors
/// [`Refusal::Unknown`], or what [`Gate::judge`] answers.
pub fn admit(table: &ToolTable, gate: Option<&Gate>, name: &str) -> Result<u32, Refusal> {
    let entry = table.find(name).ok_or(Refusal::Unknown)?;
    gate.map_or(Ok(()), |gate| gate.judge(entry))?;
    Ok(entry.place.slot)
}

/// The slots of all tools that are permitted and not hidden, in order of registration.
///
/// The cost follows what is returned and what the gate's lists name (tools, members of its groups,
/// servers and plugins), never how many tools are registered.
#[must_use]
pub fn select(table: &ToolTable, gate: Option<&Gate>) -> Vec<u32> {
    let shown = |place: &Place| table.entry(place.slot).filter(|entry| !entry.hidden);
    let Some(gate) = gate else {
        return table
            .index()
            .all
            .iter()
            .filter_map(shown)
            .map(|entry| entry.place.slot)
            .collect();
    };
    let mut places = gate.candidates(table);
    // A stable sort is linear on the ordered runs that rosters bring.
    places.sort();
    places.dedup();
    let permitted = places
        .iter()
        .filter_map(shown)
        .filter(|entry| gate.judge(entry).is_ok());
    permitted.map(|entry| entry.place.slot).collect()
}

fn admits(gate: Option<&Names>, name: &str) -> bool {
    gate.is_none_or(|names| names.contains(name))
}

fn missing(names: Option<&Names>, is_present: impl Fn(&str) -> bool) -> Vec<String> {
    let absent = names.into_iter().flatten().filter(|name| !is_present(name));
    let mut absent: Vec<String> = absent.map(ToString::to_string).collect();
    absent.sort_unstable();
    absent
}

fn mcp_tool(table: &ToolTable, server: &str, tool: &str) -> impl Iterator<Item = Place> {
    table.index().mcp_tool(server, tool).filter(move |place| {
        let mcp = table.entry(place.slot).and_then(|entry| entry.mcp.as_ref());
        mcp.is_some_and(|mcp| &*mcp.server == server && &*mcp.tool == tool)
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::table::GateData;

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
    fn hidden_tools_are_admitted_and_not_selected() {
        let mut table = table();
        table.set_hidden("read", true);
        assert_eq!(admit(&table, None, "read"), Ok(0));
        assert_eq!(select(&table, Some(&Gate::default())), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn entries_without_a_match_are_named() {
        let gate = Gate {
            allowed_tools: Some(names(&["read", "draw", "nope"])),
            allowed_groups: Some(names(&["files", "web"])),
            exclude_tools: names(&["draw", "gone"]),
            allowed_mcp_servers: Some(names(&["git", "svn"])),
            allowed_mcp_tools: [
                ("git".into(), names(&["log", "x"])),
                ("svn".into(), names(&[])),
            ]
            .into_iter()
            .collect(),
            allowed_plugins: Some(names(&["", "p", "q"])),
        };
        let unmatched = gate.unmatched(&table());
        assert_eq!(unmatched.allowed_tools, ["draw", "nope"]);
        assert_eq!(unmatched.allowed_groups, ["web"]);
        assert_eq!(unmatched.exclude_tools, ["gone"]);
        assert_eq!(unmatched.allowed_mcp_servers, ["svn"]);
        assert_eq!(unmatched.allowed_mcp_tools, ["git/x", "svn/"]);
        assert_eq!(unmatched.allowed_plugins, ["q"]);
    }
}
