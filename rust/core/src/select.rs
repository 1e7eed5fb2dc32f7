//! Which tools a gate shows, at a cost that follows the answer.

use crate::gate::Gate;
use crate::index::Place;
use crate::table::ToolTable;

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

impl Gate {
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
                places.extend(
                    tools
                        .iter()
                        .flat_map(|tool| table.mcp_tool(server, tool))
                        .map(|entry| entry.place),
                );
            }
            None => places.extend(table.index().servers.get(server).into_iter().flatten()),
        }
    }
}
