//! Which tools a gate shows, at a cost that follows the answer.

use crate::gate::{Gate, Names};
use crate::index::Place;
use crate::table::ToolTable;

/// A walk over the whole table is cheaper than looking up a list this many times shorter.
const TABLE_PER_LIST: usize = 4;

/// The slots of all tools that are permitted and not hidden, in order of registration.
///
/// The cost follows what is returned and what the gate's lists name (tools, members of its groups,
/// servers and plugins), never how many tools are registered.
#[must_use]
pub fn select(table: &ToolTable, gate: Option<&Gate>) -> Vec<u32> {
    let Some(gate) = gate else {
        let shown = table.places().filter(|place| !table.hides(*place));
        return shown.map(|place| place.slot).collect();
    };
    let permitted = |place: &Place| {
        let entry = table.entry(place.slot);
        entry.is_some_and(|entry| gate.verdict(entry).is_ok() && !table.hides(*place))
    };
    if gate.covers(table) {
        return table
            .places()
            .filter(permitted)
            .map(|place| place.slot)
            .collect();
    }
    let mut places = gate.candidates(table);
    // A stable sort is linear on the ordered runs that rosters bring.
    places.sort();
    places.dedup();
    places
        .into_iter()
        .filter(permitted)
        .map(|place| place.slot)
        .collect()
}

impl Gate {
    /// Whether the gate's own lists are about as long as the table, or it narrows no kind of tool.
    fn covers(&self, table: &ToolTable) -> bool {
        if let Some(granted) = &self.granted_tools {
            return granted.len().saturating_mul(TABLE_PER_LIST) >= table.len();
        }
        let listed = self.allowed_tools.as_ref().map_or(0, Names::len);
        let is_open = self.allowed_tools.is_none()
            && self.allowed_groups.is_none()
            && self.allowed_mcp_servers.is_none()
            && self.allowed_mcp_tools.is_empty()
            && self.allowed_plugins.is_none();
        is_open || listed.saturating_mul(TABLE_PER_LIST) >= table.len()
    }

    /// A superset of what the gate permits, in any order: what its lists lead to.
    fn candidates(&self, table: &ToolTable) -> Vec<Place> {
        if let Some(granted) = &self.granted_tools {
            let named = granted.iter().filter_map(|name| table.find(name));
            return named.map(|entry| entry.place).collect();
        }
        let mut places = Vec::new();
        if self.allowed_tools.is_none() && self.allowed_groups.is_none() {
            places.extend(table.members(|index| Some(&index.built_in)));
        } else {
            let named = self.allowed_tools.iter().flatten();
            places.extend(
                named
                    .filter_map(|name| table.find(name))
                    .map(|entry| entry.place),
            );
            let groups = self.allowed_groups.iter().flatten();
            places.extend(
                groups.flat_map(|group| table.members(|index| index.built_in_groups.get(&**group))),
            );
            places.extend(table.members(|index| Some(&index.always_included)));
        }
        match &self.allowed_mcp_servers {
            Some(servers) => {
                servers
                    .iter()
                    .for_each(|server| self.add_server(table, server, &mut places));
            }
            None => table
                .keys(|index| &index.servers)
                .for_each(|server| self.add_server(table, server, &mut places)),
        }
        let mut add_plugin =
            |plugin: &str| places.extend(table.members(|index| index.plugins.get(plugin)));
        match &self.allowed_plugins {
            Some(plugins) => plugins.iter().for_each(|plugin| add_plugin(plugin)),
            None => table
                .keys(|index| &index.plugins)
                .for_each(|plugin| add_plugin(plugin)),
        }
        places
    }

    fn add_server(&self, table: &ToolTable, server: &str, places: &mut Vec<Place>) {
        match self.allowed_mcp_tools.get(server) {
            Some(tools) => {
                places.extend(
                    tools
                        .iter()
                        .flat_map(|tool| table.mcp_tool(server, tool))
                        .map(|entry| entry.place),
                );
            }
            None => places.extend(table.members(|index| index.servers.get(server))),
        }
    }
}
