"""`to_definitions`, compared with the unfiltered call and with a filter in plain Python."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from beside import beside
from ethos_registry import Tool, ToolFilterOpts, ToolRegistry, ok
from inputs import definition, fresh, mixed

EXPECTED = {
    100: (20, "3fc54de9011e"),
    1_000: (200, "751864310c7f"),
    10_000: (2_000, "74aca43b1276"),
}
"""By tools: how many definitions the filters return, and the SHA-256 of their compact JSON."""

SERVERS = [f"srv{number}" for number in range(5)]
PLUGINS = [f"plug{number}" for number in range(5)]


def registry_of(tools: list[tuple[str, str | None]]) -> ToolRegistry:
    registry = ToolRegistry()
    for name, plugin_id in tools:
        shown = definition(name)
        tool = Tool(name, shown["description"], shown["parameters"], lambda args, context: ok(""))
        registry.register(tool, plugin_id=plugin_id)
    return registry


@pytest.mark.parametrize("count", EXPECTED, ids="{} tools".format)
def test_filtered(benchmark: Any, count: int) -> None:
    tools, allowed = mixed(count)
    registry = registry_of(tools)
    entries = [
        (name, name.split("__")[1] if name.startswith("mcp__") else None, plugin, definition(name))
        for name, plugin in tools
    ]

    def policy() -> tuple[list[str], list[str], list[str]]:
        return tuple([fresh(name) for name in names] for names in (allowed, SERVERS, PLUGINS))

    def filtered() -> Callable[[], list[Any]]:
        names, servers, plugins = policy()
        return lambda: registry.to_definitions(
            names, ToolFilterOpts(allowed_mcp_servers=servers, allowed_plugins=plugins)
        )

    def unfiltered() -> Callable[[], list[Any]]:
        return registry.to_definitions

    def plain() -> Callable[[], list[Any]]:
        policy_names, policy_servers, policy_plugins = policy()

        def run() -> list[Any]:
            names, servers, plugins = set(policy_names), set(policy_servers), set(policy_plugins)
            return [
                shown
                for name, server, plugin, shown in entries
                if (
                    server in servers
                    if server is not None
                    else plugin in plugins
                    if plugin is not None
                    else name in names
                )
            ]

        return run

    shown = filtered()()
    compact = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    assert (len(shown), hashlib.sha256(compact.encode()).hexdigest()[:12]) == EXPECTED[count]
    assert plain()() == shown
    beside(
        benchmark,
        filtered,
        {"plain Python filter": plain, "all tools, unfiltered": unfiltered},
        group="to_definitions, filtered",
        rounds=min(100_000 // count, 200),
        unit="list",
    )


@pytest.mark.parametrize("count", EXPECTED, ids="{} tools".format)
def test_unfiltered(benchmark: Any, count: int) -> None:
    tools, _ = mixed(count)
    registry = registry_of(tools)
    entries = [(name, definition(name)) for name, _ in tools]
    assert registry.to_definitions() == [shown for _, shown in entries]
    beside(
        benchmark,
        lambda: registry.to_definitions,
        {
            "copy of each": lambda: lambda: [copy.deepcopy(shown) for _, shown in entries],
            "the same dicts for all": lambda: lambda: [shown for _, shown in entries],
        },
        group="to_definitions, unfiltered",
        rounds=min(100_000 // count, 200),
        unit="list",
    )
