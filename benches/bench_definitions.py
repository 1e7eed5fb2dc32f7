"""`to_definitions`, compared with the unfiltered call and with a filter in plain Python."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from beside import beside
from ethos_registry import Personality, Tool, ToolFilterOpts, ToolRegistry, ok
from ethos_registry.mcp._definitions import RemoteDefinition
from inputs import definition, fresh, mixed, public_schemas

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
    existing = registry.to_definitions()
    beside(
        benchmark,
        lambda: registry.to_definitions,
        {
            "copy of each": lambda: lambda: [copy.deepcopy(shown) for _, shown in entries],
            "list(existing)": lambda: lambda: list(existing),
        },
        group="to_definitions, unfiltered",
        rounds=min(100_000 // count, 200),
        unit="list",
    )


def first_call(count: int, look: Callable[[ToolRegistry], object]) -> Callable[[], object]:
    """A registry of its own, for the price of the very first answer."""
    registry = registry_of(mixed(count)[0])
    return lambda: look(registry)


@pytest.mark.parametrize("freeze", [False, True], ids=["mutable", "frozen"])
def test_repeated_1_000_of_10_000(benchmark: Any, freeze: bool) -> None:
    tools, allowed = mixed(10_000)
    registry: Any = registry_of(tools)
    registry = registry.freeze() if freeze else registry
    opts = ToolFilterOpts(allowed_mcp_servers=[], allowed_plugins=[])
    existing = registry.to_definitions(allowed, opts)
    assert len(existing) == 1_000
    beside(
        benchmark,
        lambda: lambda: registry.to_definitions(allowed, opts),
        {"list(existing)": lambda: lambda: list(existing)},
        group="to_definitions again, 1,000 of 10,000",
        rounds=400,
        unit="list",
    )


@pytest.mark.parametrize("count", [1_000, 10_000])
def test_first_definitions(benchmark: Any, count: int) -> None:
    shown = [definition(name) for name, _ in mixed(count)[0]]
    beside(
        benchmark,
        lambda: first_call(count, lambda registry: registry.to_definitions()),
        {"copy of each": lambda: lambda: copy.deepcopy(shown)},
        group="to_definitions, first call",
        rounds=max(7, 20_000 // count),
        unit="list",
    )


EVERYTHING = Personality(
    "everything",
    mcp_servers=[f"srv{number}" for number in range(10)],
    plugins=[f"plug{number}" for number in range(10)],
)


def test_view_definitions(benchmark: Any) -> None:
    view = registry_of(mixed(200)[0]).view(EVERYTHING)
    existing = view.definitions("anthropic")
    assert len(existing) == 200
    beside(
        benchmark,
        lambda: lambda: [view.definitions("anthropic") for _ in range(100)],
        {"list(existing)": lambda: lambda: [list(existing) for _ in range(100)]},
        group="view.definitions again, 200 tools",
        rounds=1_000,
        per_round=100,
        unit="list",
    )


def test_bytes(benchmark: Any) -> None:
    view = registry_of(mixed(1_000)[0]).view(EVERYTHING)
    existing = view.definitions_bytes("anthropic")
    values = view.definitions("anthropic")
    assert json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() == existing
    beside(
        benchmark,
        lambda: lambda: view.definitions_bytes("anthropic"),
        {
            "bytes(existing)": lambda: lambda: bytes(existing),
            "json.dumps": lambda: (
                lambda: json.dumps(values, ensure_ascii=False, separators=(",", ":"))
            ),
        },
        group="definitions_bytes again, 1,000 tools",
        rounds=400,
    )


@pytest.mark.parametrize("count", [200, 1_000])
def test_first_bytes(benchmark: Any, count: int) -> None:
    values = registry_of(mixed(count)[0]).view(EVERYTHING).definitions("anthropic")
    beside(
        benchmark,
        lambda: first_call(
            count, lambda registry: registry.view(EVERYTHING).definitions_bytes("anthropic")
        ),
        {
            "json.dumps": lambda: (
                lambda: json.dumps(values, ensure_ascii=False, separators=(",", ":"))
            )
        },
        group="definitions_bytes, first call",
        rounds=max(7, 20_000 // count),
    )


@pytest.mark.parametrize("name", ["anthropic", "openai", "gemini_parameters", "ollama"])
def test_first_provider_list(benchmark: Any, name: str) -> None:
    """Each of 1,000 public schemas is compiled for the provider; at most 80 ms are meant."""
    schemas = {
        f"tool_{number}": RemoteDefinition({"name": "remote", "inputSchema": schema}).schema
        for number, schema in enumerate(public_schemas(1_000))
    }

    def view() -> Any:
        registry = ToolRegistry(
            [
                Tool(tool, "What it does.", schema, lambda args, context: ok(""))
                for tool, schema in schemas.items()
            ]
        )
        return registry.view(Personality("all", toolset=list(schemas)))

    def first() -> Callable[[], object]:
        fresh_view = view()
        return lambda: fresh_view.definitions(name)

    values = view().definitions("openai")
    beside(
        benchmark,
        first,
        {"copy of each": lambda: lambda: copy.deepcopy(values)},
        group=f"definitions({name!r}), first call",
        rounds=7,
    )


def test_probes(benchmark: Any) -> None:
    def made(name: str) -> Tool:
        shown = definition(name)
        return Tool(
            name,
            shown["description"],
            shown["parameters"],
            lambda args, context: ok(""),
            is_available=lambda: True,
        )

    tools = [made(f"tool_{number}") for number in range(1_000)]
    registry = ToolRegistry(tools)
    probes = [tool.is_available for tool in tools]
    assert len(registry.to_definitions()) == 1_000
    beside(
        benchmark,
        lambda: registry.to_definitions,
        {"the bare probes": lambda: lambda: [probe() for probe in probes if probe is not None]},
        group="to_definitions, 1,000 probes",
        rounds=400,
        unit="list",
    )
